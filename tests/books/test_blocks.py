"""Deliveries that are read in blocks, and the content of rows: the same as of the whole, by the plain rule."""

import hashlib
import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from apportion.books.digest import MODULUS, content_sum, query, row_text
from apportion.books.open import Books
from apportion.model.delivery import Delivery, Rows
from apportion.model.kinds import kinds
from apportion.model.rows import LABELS, MONEY, SECOND, TABLES
from tests.books.rows import MONTH, cost_line, cost_lines, scope

WORDS = ("", "a", "bb" * 20, "ü'", ";", "-")


def in_blocks(*blocks: list[dict[str, Any]]) -> Delivery:
    tables = [cost_lines(block) for block in blocks]
    rows = Rows(sum(map(len, tables)), lambda: iter(tables))
    return Delivery("aws", MONTH, {"cost_lines": rows}, scopes=(scope(),))


def test_rows_that_are_known_already_leave_no_file(books: Books) -> None:
    first, second = [cost_line(f"l{n}", "1.5") for n in range(30)], [cost_line(f"m{n}", "2") for n in range(20)]
    assert books.ingest(in_blocks(first, second)).changed
    before = books.files("cost_lines")
    again = books.ingest(in_blocks(second, first))
    assert not again.changed
    assert again.rows == {"cost_lines": 50}
    assert books.files("cost_lines") == before
    assert not any(path.endswith(".parquet") for path in books.gc(older_than_s=0))
    changed = books.ingest(in_blocks(first, second[1:]))
    assert changed.changed
    assert changed.replaced == {"cost_lines": 50}
    assert books.scan("cost_lines").num_rows == 49
    assert books.verify() == []


def test_one_key_in_two_blocks_is_seen(books: Books) -> None:
    same, other = cost_line("l1", "1"), cost_line("l2", "2")
    receipt = books.ingest(in_blocks([same, other], [same, cost_line("l2", "3"), cost_line("l3", "4")]))
    assert receipt.rows == {"cost_lines": 2}
    assert receipt.quarantined == 2
    assert sorted(books.scan("cost_lines")["line_id"].to_pylist()) == ["l1", "l3"]
    assert books.verify() == []


def cells(field: pa.Field, rows: int, dice: random.Random) -> pa.Array:
    """Empty, one value throughout, or several."""
    if field.type == LABELS:
        maps = [[(key, dice.choice((*WORDS, None))) for key in dice.sample("xyz", dice.randrange(4))] for _ in range(3)]
        return pa.array([dice.choice(maps) for _ in range(rows)], LABELS)
    draws: dict[pa.DataType, Callable[[], object]] = {
        SECOND: lambda: dice.randrange(10),
        MONEY: lambda: Decimal(dice.randrange(-500, 500)).scaleb(-dice.choice((0, 2, 7, 18))),
        pa.string(): lambda: dice.choice(WORDS),
    }
    draw = draws.get(field.type, lambda: dice.randrange(9))
    values = [draw() for _ in range(dice.choice((1, 1, 2, 5)))]
    if field.nullable and dice.random() < 0.4:
        values.append(None)
    if field.nullable and dice.random() < 0.2:
        values = [None]
    found = [dice.choice(values) for _ in range(rows)]
    return pa.array(found, pa.int32()).cast(field.type) if field.type == pa.date32() else pa.array(found, field.type)


def tables() -> Iterator[tuple[str, pa.Table]]:
    dice = random.Random(random.SystemRandom().randrange(2**32))
    for name, schema in TABLES.items():
        for rows in (1, 40, 300):
            table = pa.table([cells(field, rows, dice) for field in schema], schema=schema)
            yield name, table
            yield name, pa.concat_tables([table, table.slice(rows // 2)])


def test_content_is_what_the_plain_rule_says() -> None:
    """Whatever is worked out once for many rows, the sum is that of each row's text."""
    for name, table in tables():
        texts = query(f"SELECT {row_text(table.schema)} AS text FROM rows", table)["text"].to_pylist()
        plain = sum(int.from_bytes(hashlib.md5(text.encode()).digest(), "little") for text in texts) % MODULUS
        assert content_sum(table) == plain, name


@pytest.mark.parametrize("rows", [0, 1, 300])
def test_rows_of_one_kind_say_the_same(rows: int) -> None:
    dice = random.Random(random.SystemRandom().randrange(2**32))
    schema = TABLES["cost_lines"]
    table = pa.table([cells(field, rows, dice) for field in schema], schema=schema).select(
        ["component", "BilledCost", "Tags", "SkuId", "InvoiceId", "billing_start_s"]
    )
    found = kinds(table.columns, rows)
    whole = [str(row) for row in table.to_pylist()]
    assert [whole[found.first[kind]] for kind in found.of] == whole
    assert len(found.first) == len(set(whole))
