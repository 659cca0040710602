"""Books that an earlier version made: tables and columns that it did not know are added when they are opened.

Rows that were written before stay as they are, byte for byte; a column that they lack is empty, and their digests do not count it.
"""

import hashlib
from collections.abc import Iterator, Mapping

from sqlalchemy import Connection, Engine, Table, delete, insert, inspect, select, text, update

from apportion.books import record
from apportion.books.audit import note
from apportion.books.catalog import Commit, Evidence
from apportion.books.database import reading, writing
from apportion.books.locks import Locks
from apportion.books.publish import publish
from apportion.books.tables import EVIDENCE

SHAPE = "shape"
SCHEMA = "schema"
EARLIER = ("1", "2", "3", "4")  # schemas of the record that this version can widen
FIRST = frozenset({"cost_lines", "usage", "capacity", "reservations", "workloads", "charges"})  # what all books have


def evolve_record(engine: Engine, locks: Locks) -> None:
    """The record's own tables. What earlier rows lack is empty; their links do not count it."""
    with reading(engine) as connection:
        if schema_of(connection) not in EARLIER:
            return
    with locks.hold(["create"]), writing(engine) as connection:
        if schema_of(connection) not in EARLIER:  # another process was quicker
            return
        known = {table: columns_of(connection, table) for table in present(connection)}
        record.record.create_all(connection)
        for statement in lacking(known, connection.dialect.name):
            connection.execute(text(statement))
        connection.execute(update(record.meta).where(record.meta.c.key == SCHEMA).values(value=record.SCHEMA_VERSION))
        note(connection, "evolve", f"the record, to schema {record.SCHEMA_VERSION}")


def lacking(known: Mapping[Table, set[str]], dialect: str) -> Iterator[str]:
    """What makes the tables what this version writes."""
    for table, names in known.items():
        new = [column.name for column in table.columns if column.name not in names]
        yield from (f"ALTER TABLE {table.name} ADD COLUMN {name} TEXT NOT NULL DEFAULT ''" for name in new)
    if "hash" not in known[record.audit]:
        yield from record.guards(record.audit, dialect)


def columns_of(connection: Connection, table: Table) -> set[str]:
    return {column["name"] for column in inspect(connection).get_columns(table.name)}


def schema_of(connection: Connection) -> str | None:
    return connection.scalar(select(record.meta.c.value).where(record.meta.c.key == SCHEMA))


def present(connection: Connection) -> list[Table]:
    there = set(inspect(connection).get_table_names())
    return [table for table in record.record.sorted_tables if table.name in there]


def shape() -> str:
    """Of all tables as this version writes them."""
    said = {name: str(schema) for name, schema in EVIDENCE.items()}
    return hashlib.sha256(repr(sorted(said.items())).encode()).hexdigest()


def is_current(connection: Connection) -> bool:
    return connection.scalar(select(record.meta.c.value).where(record.meta.c.key == SHAPE)) == shape()


def evolve(evidence: Evidence, locks: Locks) -> None:
    """Nothing to do in books that this version made."""
    with reading(evidence.engine) as connection:
        if is_current(connection):
            return
    with locks.hold({"create", *EVIDENCE}):
        with reading(evidence.engine) as connection:
            if is_current(connection):  # another process was quicker
                return
            known = {row.table: row.metadata for row in connection.execute(select(record.published))}
        commits = [evidence.create(name) for name in sorted(set(EVIDENCE) - set(known))]
        commits += [found for name in sorted(known) if (found := widen(evidence, name, known[name]))]
        with writing(evidence.engine) as connection:
            publish(connection, commits, "evolve")
            mark_current(connection)
            note(connection, "evolve", ", ".join(commit.table for commit in commits))


def widen(evidence: Evidence, name: str, metadata: str) -> Commit | None:
    table = evidence.open(name, metadata)
    lacking = set(EVIDENCE[name].names) - {field.name for field in table.schema().fields}
    if not lacking:
        return None
    base = evidence.relative(table.metadata_location)
    with table.update_schema() as change:
        change.union_by_name(EVIDENCE[name])
    return evidence.committed(table, base)


def mark_current(connection: Connection) -> None:
    connection.execute(delete(record.meta).where(record.meta.c.key == SHAPE))
    connection.execute(insert(record.meta).values(key=SHAPE, value=shape()))
