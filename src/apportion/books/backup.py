"""A copy of the books in one file, the same whichever database they are in, and books from such a copy.

The record goes in as one line of JSON per row, read in one transaction; the warehouse as the files that this record names. So a
copy from SQLite can be restored into PostgreSQL and the other way round, and both have the same head.

Books of an earlier schema are copied with the tables and columns that they have, so that a new version can copy them before it changes them.
"""

import base64
import hashlib
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from pyiceberg.catalog.sql import IcebergTables, SqlCatalogBaseTable
from sqlalchemy import Column, Connection, Table, inspect, select

from apportion.books import record
from apportion.books.catalog import Evidence
from apportion.books.database import reading
from apportion.books.drafts import sync_folder
from apportion.books.ledger import read_head
from apportion.books.locks import Locks
from apportion.errors import BooksError
from apportion.model.money import plain

FORMAT = "apportion backup 1"
PASSING = (record.sessions, record.tickets)  # who is in just now: a copy must not let anybody in
LEFT_OUT = {record.hooks.name: {"secret": ""}}  # what must not lie about in copies
CONTENTS, ROWS, FILES = "contents.json", "record/", "warehouse/"


def all_tables() -> list[Table]:
    """All that a copy holds."""
    lasting = [table for table in record.record.sorted_tables if table not in PASSING]
    return [*lasting, *SqlCatalogBaseTable.metadata.sorted_tables]


def backup(evidence: Evidence, locks: Locks, path: Path) -> str:
    """Whole or not at all: written beside its place, synced, then given its name. Returns the head of what was copied."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".part")
    scratch = Path(name)
    try:
        with os.fdopen(handle, "wb") as file, locks.hold(["gc"]), reading(evidence.engine) as connection:
            head = read_head(connection)
            write_archive(file, path.suffix in (".gz", ".tgz"), connection, evidence)
            file.flush()
            os.fsync(file.fileno())
        scratch.replace(path)
        sync_folder(path.parent.absolute())
        return head
    finally:
        scratch.unlink(missing_ok=True)


def write_archive(file: IO[bytes], packed: bool, connection: Connection, evidence: Evidence) -> None:
    with tarfile.open(fileobj=file, mode="w:gz" if packed else "w") as archive:
        contents = {"format": FORMAT, "head": read_head(connection)}
        hashes = dict(add_rows(archive, connection, evidence)) | dict(add_files(archive, connection, evidence))
        body = json.dumps({**contents, "files": hashes}, indent=1, sort_keys=True).encode()
        add(archive, CONTENTS, io.BytesIO(body), len(body))


def add_rows(archive: tarfile.TarFile, connection: Connection, evidence: Evidence) -> Iterator[tuple[str, str]]:
    for table, columns in stored_tables(connection):
        name, whole = f"{ROWS}{table.name}.jsonl", hashlib.sha256()
        with tempfile.TemporaryFile() as file:
            for line in dump(connection, table, columns, evidence):
                file.write(line)
                whole.update(line)
            add(archive, name, file, file.tell())
        yield name, whole.hexdigest()


def stored_tables(connection: Connection) -> Iterator[tuple[Table, list[Column[Any]]]]:
    """The tables and columns that are there; books of an earlier schema lack some."""
    look = inspect(connection)
    there = set(look.get_table_names())
    for table in all_tables():
        if table.name in there:
            names = {column["name"] for column in look.get_columns(table.name)}
            yield table, [column for column in table.columns if column.name in names]


def add_files(archive: tarfile.TarFile, connection: Connection, evidence: Evidence) -> Iterator[tuple[str, str]]:
    for row in connection.execute(select(record.files).order_by(record.files.c.path)).all():
        with evidence.io.new_input(f"{evidence.logical}/{row.path}").open() as source:
            body = source.read()
        if hashlib.sha256(body).hexdigest() != row.sha256:
            message = f"{row.path} is not the file that was written; no backup was made"
            hint = "run verify to see what else is damaged, and restore the file from an earlier backup"
            raise BooksError("damaged-file", message, hint=hint)
        add(archive, FILES + row.path, io.BytesIO(body), row.bytes)
        yield FILES + row.path, row.sha256


def add(archive: tarfile.TarFile, name: str, file: Any, size: int) -> None:
    member = tarfile.TarInfo(name)
    member.size = size
    file.seek(0)
    archive.addfile(member, file)


def dump(connection: Connection, table: Table, columns: list[Column[Any]], evidence: Evidence) -> Iterator[bytes]:
    """A table's rows in the order of their keys. Iceberg's pointer goes out as published, whatever a writer is doing just now."""
    names = {row.table: f"{evidence.logical}/{row.metadata}" for row in connection.execute(select(record.published))}
    query = select(*columns).order_by(*table.primary_key.columns).execution_options(yield_per=10_000)
    with connection.execute(query) as rows:
        for row in rows.mappings():
            values = {name: plainly(value) for name, value in row.items()} | LEFT_OUT.get(table.name, {})
            if table.name == IcebergTables.__tablename__:
                values |= {"metadata_location": names[values["table_name"]], "previous_metadata_location": None}
            yield json.dumps(values, sort_keys=True).encode() + b"\n"


def plainly(value: object) -> object:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value if value is None or isinstance(value, str | int | bool) else plain(value)  # type: ignore[arg-type]
