"""Books that an earlier version made: what it did not know is added when they are opened, by numbered migrations.

Rows that were written before stay as they are, byte for byte; a column that they lack is empty, and their digests do not count it.
All that is due is done in one transaction, under the lock of those who make books: two who open at once migrate once, and whoever dies
midway leaves the schema before.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from sqlalchemy import Connection, Engine, delete, insert, select, update

from apportion import __version__
from apportion.books import migrations, record
from apportion.books.audit import note
from apportion.books.catalog import Commit, Evidence
from apportion.books.database import reading, writing
from apportion.books.locks import Locks
from apportion.books.publish import publish
from apportion.books.steps import Step
from apportion.books.tables import EVIDENCE
from apportion.errors import BooksError, require_equal

SHAPE = "shape"
SCHEMA = "schema"
FIRST = frozenset({"cost_lines", "usage", "capacity", "reservations", "workloads", "charges"})  # what all books have
NAMED = re.compile(r"to_(\d{4})_\w+")


@dataclass(frozen=True, slots=True)
class Migration:
    number: int
    file: str

    @property
    def steps(self) -> Sequence[Step]:
        steps: Sequence[Step] = import_module(f"{migrations.__name__}.{self.file}").STEPS
        return steps


@cache
def known_migrations() -> tuple[Migration, ...]:
    """In their order. Schema 1 is what books began with."""
    names = sorted(module.name for module in iter_modules(migrations.__path__))
    found = [Migration(int(named[1]), name) for name in names if (named := NAMED.fullmatch(name))]
    require_equal("the numbers of migrations", list(range(2, len(found) + 2)), [one.number for one in found])
    return tuple(found)


def current_schema() -> int:
    """The schema that this version reads and writes."""
    return len(known_migrations()) + 1


def evolve_record(engine: Engine, locks: Locks) -> None:
    """The record's own tables, from whatever schema they have."""
    with reading(engine) as connection:
        if schema_of(connection) >= current_schema():
            return
    with locks.hold(["create"]), writing(engine) as connection:
        before = schema_of(connection)
        if before >= current_schema():  # another process was quicker
            return
        take_steps(connection, before)
        now = str(current_schema())
        connection.execute(update(record.meta).where(record.meta.c.key == SCHEMA).values(value=now))
        note(connection, "evolve", f"the record, from schema {before} to {now}")


def take_steps(connection: Connection, since: int = 1) -> None:
    for migration in known_migrations():
        if migration.number > since:
            for step in migration.steps:
                step.take(connection)


def schema_of(connection: Connection) -> int:
    return schema_number(connection.scalar(select(record.meta.c.value).where(record.meta.c.key == SCHEMA)))


def schema_number(said: str | None) -> int:
    if said is None or not said.isdecimal():
        raise BooksError(
            "books-version", f"these books do not say their schema ({said!r})", hint="restore them from a backup"
        )
    return int(said)


def refuse_newer(number: int, where: str) -> None:
    if number > current_schema():
        message = (
            f"these books have schema {number}, and Apportion {__version__} knows schemas up to {current_schema()}"
        )
        hint = "a newer version opened them: install that one, or restore a backup from before into new books"
        raise BooksError("books-version", message, where=where, hint=hint)


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
