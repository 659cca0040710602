"""Books from a backup, in either kind of database and in any place."""

import base64
import hashlib
import json
import re
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, LargeBinary, Table, func, insert, select, text

from apportion.books.audit import note
from apportion.books.backup import CONTENTS, FILES, FORMAT, ROWS, all_tables
from apportion.books.catalog import Evidence
from apportion.books.database import writing
from apportion.books.drafts import make_folder
from apportion.books.ledger import read_head
from apportion.books.record import Exact, meta
from apportion.errors import BooksError, require_equal
from apportion.model.numbers import parse_decimal

AT_ONCE = 5000
SAFE = re.compile(r"[\w.-]+(/[\w.-]+)+", re.ASCII)


@contextmanager
def opened(path: Path) -> Iterator[tuple[tarfile.TarFile, dict[str, Any]]]:
    """The archive and its list of contents."""
    try:
        with tarfile.open(path) as archive:
            contents = json.loads(body_of(archive, CONTENTS))
            if contents.get("format") != FORMAT:
                raise damaged(path, "it is no backup of this version")
            yield archive, contents
    except (tarfile.TarError, OSError, EOFError, KeyError, ValueError) as error:
        raise damaged(path, str(error)) from error


def damaged(path: Path, why: str) -> BooksError:
    return BooksError(
        "damaged-backup", f"{path} cannot be restored: {why}", hint="use another copy; this one was changed or cut off"
    )


def body_of(archive: tarfile.TarFile, name: str) -> bytes:
    file = archive.extractfile(name)
    if file is None:
        raise ValueError(f"{name} is not a plain file")
    return file.read()


def checked(archive: tarfile.TarFile, contents: dict[str, Any], name: str) -> bytes:
    body = body_of(archive, name)
    if hashlib.sha256(body).hexdigest() != contents["files"][name]:
        raise ValueError(f"{name} is not what was copied")
    return body


def restored_meta(archive: tarfile.TarFile, contents: dict[str, Any]) -> dict[str, str]:
    """Among others the schema, and the place that the copied files were named after."""
    rows = map(json.loads, checked(archive, contents, f"{ROWS}{meta.name}.jsonl").splitlines())
    return {row["key"]: row["value"] for row in rows}


def restore_files(archive: tarfile.TarFile, contents: dict[str, Any], evidence: Evidence) -> None:
    """First the files, each synced; then, in one transaction, the record that names them."""
    for name in sorted(contents["files"]):
        if not name.startswith(FILES):
            continue
        if not SAFE.fullmatch(name) or ".." in name.split("/"):
            raise ValueError(f"{name} is no name of a warehouse file")
        write_file(evidence, name.removeprefix(FILES), checked(archive, contents, name))


def write_file(evidence: Evidence, path: str, body: bytes) -> None:
    location = f"{evidence.logical}/{path}"
    scheme, _, place = evidence.io.parse_location(location, evidence.io.properties)
    if scheme == "file":
        make_folder(Path(place).parent)
        Path(place).unlink(missing_ok=True)  # of an attempt that was cut short
    with evidence.io.new_output(location).create() as sink:
        sink.write(body)


def restore_record(archive: tarfile.TarFile, contents: dict[str, Any], evidence: Evidence) -> None:
    with writing(evidence.engine) as connection:
        for table in all_tables():
            name = f"{ROWS}{table.name}.jsonl"
            lines = checked(archive, contents, name).splitlines() if name in contents["files"] else []
            rows = [as_stored(table, json.loads(line)) for line in lines]
            for start in range(0, len(rows), AT_ONCE):
                connection.execute(insert(table), rows[start : start + AT_ONCE])
            advance(connection, table)
        note(connection, "restore", f"head {contents['head']}")
        require_equal("the head of the restored ledger", contents["head"], read_head(connection))


def as_stored(table: Table, row: dict[str, Any]) -> dict[str, Any]:
    for column in table.columns:
        value = row.setdefault(column.name, "")  # a copy of an earlier version lacks some
        if value is not None and isinstance(column.type, LargeBinary):
            row[column.name] = base64.b64decode(value)
        elif isinstance(column.type, Exact):
            row[column.name] = parse_decimal(value)
    return row


def advance(connection: Connection, table: Table) -> None:
    """PostgreSQL counts in sequences of its own, which do not see the numbers that were put in."""
    column = table.autoincrement_column
    if column is None or connection.dialect.name != "postgresql":
        return
    last = connection.scalar(select(func.max(column)))
    if last is not None:
        names = {"table": table.name, "column": column.name, "last": last}
        connection.execute(
            text(
                "SELECT setval(pg_get_serial_sequence(:table, :column), :last) WHERE pg_get_serial_sequence(:table, :column) IS NOT NULL"
            ),
            names,
        )
