"""Books that an earlier version made: tables and columns that it did not know are added when they are opened.

Rows that were written before stay as they are, byte for byte; a column that they lack is empty, and their digests do not count it.
"""

import hashlib

from sqlalchemy import Connection, delete, insert, select

from apportion.books import record
from apportion.books.audit import note
from apportion.books.catalog import Commit, Evidence
from apportion.books.database import reading, writing
from apportion.books.locks import Locks
from apportion.books.publish import publish
from apportion.books.tables import EVIDENCE

SHAPE = "shape"
FIRST = frozenset({"cost_lines", "usage", "capacity", "reservations", "workloads", "charges"})  # what all books have


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
