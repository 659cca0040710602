"""Opening the books, and making them where there are none."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from pyiceberg.catalog.sql import SqlCatalogBaseTable
from sqlalchemy import Engine, insert, inspect, select

from apportion.books import record
from apportion.books.audit import note
from apportion.books.backup import backup
from apportion.books.books import Books
from apportion.books.catalog import Evidence
from apportion.books.database import BUSY_S, connect, reading, sqlite_file, writing
from apportion.books.drafts import make_folder, sync_folder
from apportion.books.evolve import (
    FIRST,
    SCHEMA,
    current_schema,
    evolve,
    evolve_record,
    mark_current,
    refuse_newer,
    schema_number,
    take_steps,
)
from apportion.books.failures import spoken
from apportion.books.locks import Locks
from apportion.books.names import Names
from apportion.books.publish import publish
from apportion.books.restore import opened, restore_files, restore_record, restored_meta
from apportion.books.shapes import Damage, Posted, Receipt, Run, StoredPlan, StoredPolicy, StoredRun, TableVersion
from apportion.books.tables import EVIDENCE
from apportion.errors import BooksError

__all__ = [
    "Books", "Damage", "Posted", "Receipt", "Run", "StoredPlan", "StoredPolicy", "StoredRun", "TableVersion", "copy_books", "open_books", "restore",
]  # fmt: skip


def open_books(url: str, warehouse: str, *, create: bool = False, key: bytes = b"") -> Books:
    """`warehouse` is a folder or an object store's URI. With `create`, books that are missing or half made are made. `key` is that of names."""
    with spoken(), reaching(url) as engine:
        place = absolute(warehouse)
        locks = Locks(engine, lock_folder(engine, place))
        if create and not is_whole(engine):
            make(engine, locks, place)
        if is_whole(engine):
            evolve_record(engine, locks)
        evidence = Evidence(engine, written_under(engine, url), place)
        evolve(evidence, locks)
        return Books(evidence, locks, Names(key))


def copy_books(url: str, warehouse: str, path: Path) -> str:
    """Write the books into one file, in the schema that they have, and change nothing in them. Returns their head."""
    with spoken(), reaching(url) as engine:
        place = absolute(warehouse)
        evidence = Evidence(engine, written_under(engine, url), place)
        head = backup(evidence, Locks(engine, lock_folder(engine, place)), path)
        engine.dispose()
        return head


def restore(path: str | Path, url: str, warehouse: str, *, key: bytes = b"") -> Books:
    """Books as they were when `path` was written, under a new name: nothing that exists is overwritten."""
    with spoken(), reaching(url) as engine:
        place = absolute(warehouse)
        locks = Locks(engine, lock_folder(engine, place))
        with opened(Path(path)) as (archive, contents):
            said = restored_meta(archive, contents)
            refuse_newer(schema_number(said.get(SCHEMA)), str(path))
            with prepared(engine, locks):
                take_empty(engine, url)
                evidence = Evidence(engine, said["warehouse"], place)
                restore_files(archive, contents, evidence)
                restore_record(archive, contents, evidence)
        evolve_record(engine, locks)
        evidence = Evidence(engine, written_under(engine, url), place)
        evolve(evidence, locks)
        return Books(evidence, locks, Names(key))


@contextmanager
def reaching(url: str) -> Iterator[Engine]:
    """The database, let go again if the books cannot be opened."""
    engine = connect(url)
    try:
        yield engine
    except BaseException:
        engine.dispose()
        raise


def absolute(warehouse: str) -> str:
    return warehouse if "://" in warehouse else os.path.abspath(warehouse)  # noqa: PTH100 - keeps symbolic links as they are


def lock_folder(engine: Engine, place: str) -> Path | None:
    file = sqlite_file(engine)
    if file is None:
        return None
    return file.with_name(file.name + ".locks") if "://" in place else Path(place) / ".locks"


@contextmanager
def prepared(engine: Engine, locks: Locks) -> Iterator[None]:
    """The empty tables of the record and the catalog, with nobody else making books at the same time."""
    file = sqlite_file(engine)
    if file is not None:
        make_folder(file.parent)
    with locks.hold(["create"]):
        if file is not None:
            with closing(sqlite3.connect(file, timeout=BUSY_S)) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
            sync_folder(file.parent)
        record.record.create_all(engine)
        SqlCatalogBaseTable.metadata.create_all(engine)
        yield


def make(engine: Engine, locks: Locks, place: str) -> None:
    with prepared(engine, locks):
        with writing(engine) as connection:
            known = connection.scalar(select(record.meta.c.value).where(record.meta.c.key == "warehouse"))
            if known is None:
                rows = [{"key": "warehouse", "value": place}, {"key": SCHEMA, "value": str(current_schema())}]
                connection.execute(insert(record.meta), rows)
                take_steps(connection)
        evidence = Evidence(engine, known or place, place)
        with reading(engine) as connection:
            missing = set(EVIDENCE) - set(connection.scalars(select(record.published.c.table)))
        if not missing:
            return  # another process was quicker
        commits = [evidence.create(name) for name in sorted(missing)]
        with writing(engine) as connection:
            publish(connection, commits, "create")
            mark_current(connection)
            note(connection, "create", place)


def written_under(engine: Engine, url: str) -> str:
    """The place the warehouse's files were named after; it may have moved since."""
    if not is_whole(engine):
        hint = "make them with: apportion init"
        raise BooksError("no-books", "there are no books here, or they were never finished", where=url, hint=hint)
    with reading(engine) as connection:
        wanted = select(record.meta).where(record.meta.c.key.in_(("warehouse", SCHEMA)))
        known = {row.key: row.value for row in connection.execute(wanted)}
    refuse_newer(schema_number(known.get(SCHEMA)), url)
    return str(known["warehouse"])


def take_empty(engine: Engine, url: str) -> None:
    """For what is restored: tables without a row, and what migrations add beside them."""
    with writing(engine) as connection:
        if any(
            connection.execute(select(table).limit(1)).first() for table in (record.meta, record.published, record.runs)
        ):
            message, hint = "there are books here already", "restore into a new database and a new folder"
            raise BooksError("books-exist", message, where=url, hint=hint)
        take_steps(connection)


def is_whole(engine: Engine) -> bool:
    file = sqlite_file(engine)
    if (file is not None and not file.is_file()) or not inspect(engine).has_table(record.published.name):
        return False
    with reading(engine) as connection:
        return set(connection.scalars(select(record.published.c.table))) >= FIRST
