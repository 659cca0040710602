"""Whatever is changed in the ledger, a policy, a stored file or its manifests, `verify` finds it."""

import random
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Table, Text, cast, select, text

from apportion.books import record
from apportion.books.database import writing
from apportion.books.open import Books
from apportion.books.verify import findings
from tests.books.conftest import Place

LEDGER = (record.entries, record.runs, record.bill_days)
PROVEN = (
    *LEDGER, record.audit, record.policies, record.plans, record.files, record.published, record.snapshots,
)  # fmt: skip
FREE = {
    "saved_s",
    "made_by",
    "published_s",
    ("policies", "seq"),
    ("plans", "seq"),
    ("audit", "id"),  # no two notes can have one; a gap is found
}  # when and by whom: no figure rests on it


@pytest.fixture
def full(full_place: Place) -> Books:
    """Without the triggers, as someone with the database's own tools would have it."""
    books = full_place.open(create=False)
    with writing(books.engine) as connection:
        for table in record.APPEND_ONLY:
            for action in ("update", "delete"):
                on = f" ON {table.name}" if connection.dialect.name == "postgresql" else ""
                connection.execute(text(f"DROP TRIGGER {table.name}_no_{action}{on}"))
    return books


def found(books: Books, head: str | None = None) -> set[str]:
    return {finding.code for finding in books.verify(head)}


def is_found(books: Books) -> bool:
    """By the first finding; `verify` would go on and read every file."""
    with closing(findings(books.evidence, books.names, None)) as each:
        return next(each, None) is not None


def rows_of(books: Books, table: Table) -> list[dict[str, Any]]:
    """With amounts as the database spells them."""
    columns = [
        cast(column, Text).label(column.name) if isinstance(column.type, record.Exact) else column
        for column in table.columns
    ]
    with books.engine.connect() as connection:
        return [dict(row) for row in connection.execute(select(*columns)).mappings()]


def put(books: Books, table: Table, row: dict[str, Any], column: str, value: Any) -> None:
    keys = [key.name for key in table.primary_key.columns]
    where = " AND ".join(f'"{key}" = :key{i}' for i, key in enumerate(keys))
    values = {"value": value, **{f"key{i}": row[key] for i, key in enumerate(keys)}}
    with writing(books.engine) as connection:
        connection.execute(text(f'UPDATE "{table.name}" SET "{column}" = :value WHERE {where}'), values)


def changed(value: Any, chance: random.Random) -> Any:
    """One digit, letter or byte of it."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    place = chance.randrange(len(value) + isinstance(value, str))
    if isinstance(value, bytes):
        return value[:place] + bytes([value[place] ^ 1]) + value[place + 1 :]
    if set(value) <= set("0123456789.-"):
        return value.rstrip("0") + "1"
    return value[:place] + ("x" if value[place : place + 1] != "x" else "y") + value[place + 1 :]


def test_sound_books_have_no_findings(full: Books) -> None:
    assert full.verify() == []
    for head in [full.head(), full.runs()[0].head_after, *full.entries()["hash"].to_pylist()]:
        assert full.verify(head) == []


def test_every_column_of_the_record_is_proven(full: Books, long_run: bool) -> None:
    chance, missed = random.Random(7), []
    columns = [(table, column.name) for table in PROVEN for column in table.columns]
    columns = [(table, name) for table, name in columns if not FREE & {name, (table.name, name)}]
    for table, column in columns * (20 if long_run else 1):
        row = chance.choice(rows_of(full, table))
        value = changed(row[column], chance)
        put(full, table, row, column, value)
        if not is_found(full):
            missed.append((table.name, column, row[column], value))
        put(full, table, {**row, column: value}, column, row[column])
    assert not missed
    assert full.verify() == []


def test_every_byte_of_every_file_is_proven(full: Books, full_place: Place, long_run: bool) -> None:
    """All files are changed at once, and each must be named."""
    chance = random.Random(11)
    rows = rows_of(full, record.files)
    bodies = {row["path"]: Path(full_place.warehouse, row["path"]).read_bytes() for row in rows}
    assert {row["kind"] for row in rows} == {"data", "manifest", "manifest list", "metadata"}
    for _ in range(100 if long_run else 5):
        for path, body in bodies.items():
            place = chance.randrange(len(body))
            flipped = body[:place] + bytes([body[place] ^ (1 << chance.randrange(8))]) + body[place + 1 :]
            Path(full_place.warehouse, path).write_bytes(chance.choice([flipped, flipped, body[:place], body + b"\0"]))
        named = {finding.where for finding in full.verify() if finding.code == "file-changed"}
        assert named == set(bodies)
    for path, body in bodies.items():
        Path(full_place.warehouse, path).write_bytes(body)
    assert full.verify() == []


@pytest.mark.parametrize("kind_of_file", ["data", "manifest", "manifest list", "metadata"])
def test_one_changed_or_missing_file_is_enough(full: Books, full_place: Place, kind_of_file: str) -> None:
    path = next(row["path"] for row in rows_of(full, record.files) if row["kind"] == kind_of_file)
    file = Path(full_place.warehouse, path)
    body = file.read_bytes()
    file.write_bytes(body[:-1] + bytes([body[-1] ^ 1]))
    assert "file-changed" in found(full)
    file.unlink()
    assert "file-missing" in found(full)
    file.write_bytes(body)
    assert full.verify() == []


def test_digits_that_mean_the_same_are_still_a_change(full: Books) -> None:
    if full.engine.dialect.name != "sqlite":
        return  # PostgreSQL keeps the number, not its digits
    for table in (record.entries, record.bill_days):
        row = rows_of(full, table)[0]
        put(full, table, row, "amount", row["amount"] + ("0" if "." in row["amount"] else ".0"))
        assert found(full), table.name
        put(full, table, row, "amount", row["amount"])
    put(full, record.entries, rows_of(full, record.entries)[0], "amount", "a lot")
    assert found(full)


def remove(books: Books, run_id: str, tables: tuple[Table, ...] = LEDGER) -> None:
    with writing(books.engine) as connection:
        for table in tables:
            connection.execute(table.delete().where(table.c.run_id == run_id))


def test_a_cut_off_tail_is_found_by_the_head_that_a_report_carried(full: Books) -> None:
    head = full.head()
    remove(full, "run-2")
    assert found(full) == {"audit-broken"}
    noted = next(row["id"] for row in rows_of(full, record.audit) if row["detail"].startswith("run-2 "))
    with writing(full.engine) as connection:
        connection.execute(record.audit.delete().where(record.audit.c.id >= noted))
    assert full.verify() == []
    assert found(full, head) == {"head-missing"}
    assert found(full, full.head()) == set()


def test_a_run_taken_from_the_middle_is_found(full: Books) -> None:
    remove(full, "run-1")
    assert "chain-broken" in found(full)


def test_a_note_taken_from_the_middle_is_found(full: Books) -> None:
    notes = rows_of(full, record.audit)
    with writing(full.engine) as connection:
        connection.execute(record.audit.delete().where(record.audit.c.id == notes[len(notes) // 2]["id"]))
    assert found(full) == {"audit-broken"}


@pytest.mark.parametrize("table", LEDGER, ids=lambda table: table.name)
def test_half_a_run_is_found(full: Books, table: Table) -> None:
    remove(full, "run-2", (table,))
    assert found(full)


def test_an_added_entry_is_found(full: Books) -> None:
    last = rows_of(full, record.entries)[-1]
    names = ", ".join(f'"{name}"' for name in last)
    values = ", ".join(f":{name}" for name in last)
    with writing(full.engine) as connection:
        added = {**last, "seq": last["seq"] + 1, "amount": "0"}
        connection.execute(text(f"INSERT INTO entries ({names}) VALUES ({values})"), added)
    assert "chain-broken" in found(full)


def test_a_forged_file_with_its_record_is_found_once_a_run_rests_on_it(full: Books) -> None:
    """Someone changes a data file and its recorded digest alike: the run's link still knows the old one."""
    path = next(
        row for row in rows_of(full, record.files) if row["kind"] == "data" and row["live"] and row["table"] == "usage"
    )["path"]
    with writing(full.engine) as connection:
        connection.execute(text("UPDATE files SET sha256 = 'forged' WHERE path = :path"), {"path": path})
    assert "inputs-changed" in found(full)


def test_a_changed_byte_in_the_database_file_is_found(full: Books, full_place: Place) -> None:
    if full_place.kind != "sqlite":
        return
    full.close()
    file = Path(full_place.url.removeprefix("sqlite:///"))
    for needle in (b"vision", b"policy: test", full_hash(file)):
        body = file.read_bytes()
        place = body.index(needle)
        file.write_bytes(body[:place] + b"X" + body[place + 1 :])
        books = full_place.open(create=False)
        assert found(books), needle
        books.close()
        file.write_bytes(body)
    assert full_place.open(create=False).verify() == []


def full_hash(file: Path) -> bytes:
    """Some link's hash as it lies in the file."""
    body = file.read_bytes()
    place = body.index(b"vision")
    return body[place + 8 : place + 20]
