"""Names in the record's own texts: problems, rows that were set aside, and plans that were kept before there were tokens."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Engine, Table, select, update

from apportion.books import record
from apportion.books.agreed import packed, plan_sha256, unpacked
from apportion.books.audit import note
from apportion.books.pseudonyms import Pseudonyms
from apportion.books.whatifs import DEED, told
from apportion.errors import BooksError

COLUMNS = {record.problems: ("where", "message", "row"), record.quarantine: ("key", "content")}
KEPT = (record.names, record.problems, record.quarantine, record.plans, record.whatifs)


def found_texts(connection: Connection, words: Pseudonyms) -> dict[str, int]:
    """How many rows of each table would change."""
    found: dict[str, int] = {}
    for table, _, _ in changes(connection, words):
        found[table.name] = found.get(table.name, 0) + 1
    return found


def erase_texts(connection: Connection, words: Pseudonyms) -> None:
    for table, number, values in list(changes(connection, words)):
        (key,) = table.primary_key.columns
        connection.execute(update(table).where(key == number).values(values))
        if table is record.whatifs:  # sealed anew: the log has what is there
            note(connection, DEED, told({**connection.execute(select(table).where(key == number)).mappings().one()}))


def changes(connection: Connection, words: Pseudonyms) -> Iterator[tuple[Table, int | str, dict[str, Any]]]:
    """What becomes of which row. A bad row has no day of its own: it is as old as the beginning of its delivery."""
    deliveries = record.deliveries
    old = select(deliveries.c.delivery_id).where(deliveries.c.start_s < words.asked.before_s)
    for table, names in COLUMNS.items():
        for row in connection.execute(select(table).where(table.c.delivery_id.in_(old))).mappings():
            new = {name: text for name in names if (text := words.text(row[name])) != row[name]}
            if new:
                yield table, row["id"], new
    for row in connection.execute(select(record.plans).where(record.plans.c.period < words.asked.before)).mappings():
        plan = plan_without(row, words)
        if plan:
            yield record.plans, row["seq"], plan
    yield from whatifs(connection, words)


def whatifs(connection: Connection, words: Pseudonyms) -> Iterator[tuple[Table, str, dict[str, Any]]]:
    """Of those that were asked about months before; what rules tell users apart by is replaced, too: nothing is computed from it again."""
    for row in connection.execute(select(record.whatifs)).mappings():
        new = {name: text for name in ("name", "asked", "result") if (text := words.text(row[name])) != row[name]}
        if new and row["months"][: len(words.asked.before)] < words.asked.before:
            yield record.whatifs, row["id"], new


def plan_without(row: Any, words: Pseudonyms) -> dict[str, Any]:
    postings, summary = unpacked(row["postings"]), words.text(row["summary"])
    users, count = words.column("user", postings["user"])
    if not count and summary == row["summary"]:
        return {}
    place = postings.schema.get_field_index("user")
    body = postings.set_column(place, postings.schema.field(place), users)
    new = {"postings": packed(body), "summary": summary}
    return {**new, "sha256": plan_sha256({**row, **new})}


def vacuum(engine: Engine) -> None:
    """What was deleted is still in the database's own files until they are written anew."""
    connection = engine.raw_connection()
    try:
        cursor = connection.cursor()
        if engine.dialect.name == "postgresql":
            connection.rollback()
            connection.driver_connection.autocommit = True  # type: ignore[union-attr]  # the pool gives a live one
            for table in KEPT:
                cursor.execute(f"VACUUM FULL {table.name}")
            connection.driver_connection.autocommit = False  # type: ignore[union-attr]
            return
        cursor.execute("VACUUM")
        busy = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if busy:
            raise BooksError(
                "books-busy",
                "the names are erased, but somebody reads the books: their old pages are still in the database's log",
                hint="erase again when nobody reads them",
            )
    finally:
        connection.close()
