"""Bills of many lines are read in blocks: the same lines, ids, problems and books, whatever the size of a block."""

import gzip
import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from apportion.books.open import open_books
from apportion.errors import InputError
from apportion.model.delivery import Delivery, Rows
from apportion.sources.bills import deliveries, spool
from apportion.sources.files import delimited, flow
from apportion.sources.focus import read
from tests.sources import making

LINES = 900
MONTHS = ("2026-09", "2026-10", "2026-11", "2026-12")


def bill(seed: int) -> list[dict[str, str]]:
    """Some lines say the same as others, some have no readable period, some an unknown category."""
    dice = random.Random(seed)
    rows = []
    for _ in range(LINES):
        month = dice.randrange(3)
        row = making.LINE | {
            "BillingPeriodStart": f"{MONTHS[month]}-01T00:00:00Z",
            "BillingPeriodEnd": f"{MONTHS[month + 1]}-01T00:00:00Z",
            "ResourceId": f"node-{dice.randrange(40)}",
            "EffectiveCost": f"{dice.randrange(30)}.{dice.randrange(10)}",
            "ChargeDescription": dice.choice(["plain", 'with "quotes"', "two\nlines", "comma, here"]),
        }
        if dice.random() < 0.02:
            row["BillingPeriodStart"] = "some day"
        if dice.random() < 0.02:
            row["ChargeCategory"] = "Gift"
        rows.append(row)
    return rows


def write(folder: Path, name: str, rows: list[dict[str, str]]) -> None:
    table = pa.Table.from_pylist(rows)
    if name.endswith(".parquet"):
        pq.write_table(table, folder / name, row_group_size=400)
        return
    plain = pa.BufferOutputStream()
    pa.csv.write_csv(table, plain)
    data = plain.getvalue().to_pybytes()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "IN_MEMORY", 50)
    monkeypatch.setattr(deliveries, "IN_MEMORY", 50)
    monkeypatch.setattr(flow, "BLOCK_ROWS", 256)
    monkeypatch.setattr(delimited, "BLOCK", 2**16)


def said(found: list[Delivery]) -> list[Any]:
    return [
        (
            one.window,
            sorted(map(repr, (one.tables["cost_lines"].table() if isinstance(rows, Rows) else rows).to_pylist())),
            one.problems,
            one.files,
            one.scopes,
        )
        for one in found
        for rows in [one.tables["cost_lines"]]
    ]


@pytest.mark.parametrize("name", ["bill.csv", "bill.csv.gz", "bill.parquet"])
def test_in_blocks_or_at_once_it_is_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    write(tmp_path, name, bill(random.SystemRandom().randrange(2**32)))
    settings = {"name": "it", "kind": "focus", "path": name}
    at_once = said(list(read(settings, tmp_path)))
    request.getfixturevalue("small_blocks")
    books = open_books(f"sqlite:///{tmp_path / 'books.db'}", str(tmp_path / "warehouse"), create=True)
    in_blocks = []
    for delivery in read(settings, tmp_path):
        assert isinstance(delivery.tables["cost_lines"], Rows)
        in_blocks += said([delivery])
        assert books.ingest(delivery).changed
    assert in_blocks == at_once
    assert sum(len(one[1]) for one in at_once) == LINES
    monkeypatch.undo()
    assert not any(books.ingest(delivery).changed for delivery in read(settings, tmp_path))
    assert books.scan("cost_lines").num_rows == LINES
    assert books.verify() == []
    books.close()


@pytest.mark.usefixtures("small_blocks")
def test_a_fault_in_the_last_block_leaves_nothing(tmp_path: Path) -> None:
    rows = bill(1)
    rows[-1]["EffectiveCost"] = "12,50"
    write(tmp_path, "bill.csv", rows)
    with pytest.raises(InputError, match="12,50") as caught:
        list(read({"name": "it", "kind": "focus", "path": "bill.csv"}, tmp_path))
    text = (tmp_path / "bill.csv").read_text(encoding="utf-8")
    line = text[: text.rindex("12,50")].count("\n") + 1
    first = line - rows[-1]["ChargeDescription"].count("\n")
    assert caught.value.where in {f"bill.csv:{line}", f"bill.csv:{first}"}


@pytest.mark.parametrize("cut", [0.3, 0.999])
@pytest.mark.parametrize("name", ["bill.csv.gz", "bill.parquet"])
@pytest.mark.usefixtures("small_blocks")
def test_a_file_that_was_cut_off_is_refused_whole(name: str, cut: float, tmp_path: Path) -> None:
    write(tmp_path, name, bill(2))
    data = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(data[: int(len(data) * cut)])
    with pytest.raises(InputError, match="corrupt-file"):
        list(read({"name": "it", "kind": "focus", "path": name}, tmp_path))


@pytest.mark.usefixtures("small_blocks")
def test_a_large_bill_without_a_fault(tmp_path: Path) -> None:
    """Nothing asks for the id of a line before the lines are read back."""
    making.put(tmp_path / "bill.csv", making.bill_text(*({"ChargeDescription": str(number)} for number in range(200))))
    (found,) = read({"name": "it", "kind": "focus", "path": "bill.csv"}, tmp_path)
    lines = found.tables["cost_lines"]
    assert isinstance(lines, Rows)
    assert len(found.scopes) == 1
