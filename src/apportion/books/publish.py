"""Which snapshot of each table counts: the one row that readers go by, and the history of what it said."""

import time
from collections.abc import Iterable
from dataclasses import asdict

from sqlalchemy import Connection, Row, insert, select, update

from apportion.books import record
from apportion.books.catalog import Commit
from apportion.books.digest import table_digest
from apportion.books.shapes import TableVersion
from apportion.errors import BooksError, require_equal
from apportion.model.rows import TABLES


def published(connection: Connection, name: str) -> "Row[tuple[str, int, str]]":
    table = record.published
    row = connection.execute(select(table).where(table.c.table == name)).one_or_none()
    if row is None:
        raise BooksError(
            "unknown-table", f"the books have no table {name!r}", hint="tables: " + ", ".join(TABLES) + ", charges"
        )
    return row


def versions(connection: Connection) -> dict[str, TableVersion]:
    """The published state of every table that an engine reads."""
    now, then = record.published, record.snapshots
    both = (now.c.table == then.c.table) & (now.c.snapshot_id == then.c.snapshot_id)
    rows = connection.execute(select(then).join(now, both).where(then.c.table.in_(list(TABLES))))
    found = {row.table: TableVersion(row.table, row.snapshot_id, row.rows, row.digest) for row in rows}
    return {name: found[name] for name in TABLES}


def publish(connection: Connection, commits: Iterable[Commit], made_by: str) -> None:
    """Part of the caller's transaction: the moment it commits, these snapshots are what everybody reads."""
    for commit in commits:
        record_files(connection, commit, made_by)
        now = record.published
        values = {"snapshot_id": commit.snapshot_id, "metadata": commit.metadata}
        if commit.base:
            moved = connection.execute(
                update(now).where(now.c.table == commit.table, now.c.metadata == commit.base).values(values)
            )
            require_equal(f"the published state of {commit.table} that this was built on", 1, moved.rowcount)
        else:
            connection.execute(insert(now).values(table=commit.table, **values))
        record_snapshot(connection, commit, made_by)


def record_files(connection: Connection, commit: Commit, made_by: str) -> None:
    files = record.files
    if commit.files:
        rows = [
            {**asdict(file), "made_by": made_by, "live": file.live and file.kind == "data"} for file in commit.files
        ]
        connection.execute(insert(files), rows)
    for path in commit.removed:
        gone = connection.execute(update(files).where(files.c.path == path, files.c.live).values(live=False))
        require_equal(f"the recorded file {path}", 1, gone.rowcount)


def record_snapshot(connection: Connection, commit: Commit, made_by: str) -> None:
    table, files = record.snapshots, record.files
    known = select(table.c.snapshot_id).where(table.c.table == commit.table, table.c.snapshot_id == commit.snapshot_id)
    if connection.execute(known).first():
        return  # a tag moves the metadata, not the snapshot
    live = connection.execute(
        select(files.c.rows, files.c.content).where(files.c.table == commit.table, files.c.live)
    ).all()
    rows = sum(row.rows for row in live)
    digest = table_digest(commit.table, rows, (int(row.content or "0", 16) for row in live))
    connection.execute(
        insert(table).values(
            table=commit.table,
            snapshot_id=commit.snapshot_id,
            rows=rows,
            digest=digest,
            made_by=made_by,
            published_s=int(time.time()),
        )
    )
