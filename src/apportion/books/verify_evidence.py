"""The evidence again: every recorded file byte for byte, and every published snapshot down to its files."""

import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pyarrow.compute as pc
from pyiceberg.table import StaticTable
from sqlalchemy import Connection, Row, select

from apportion.books import record
from apportion.books.catalog import Evidence
from apportion.books.content import files_digest
from apportion.books.digest import content_sum, table_digest
from apportion.books.shapes import Finding
from apportion.books.tables import EVIDENCE, control_total, span

CHUNK = 1 << 20
Files = dict[str, "Row[Any]"]


def check_files(connection: Connection, evidence: Evidence) -> Iterator[Finding]:
    for row in connection.execute(select(record.files).order_by(record.files.c.path)).all():
        try:
            size, sha256 = hashed(evidence, row.path)
        except (OSError, ValueError) as error:
            yield Finding("file-missing", row.path, f"it cannot be read: {error}")
            continue
        if (size, sha256) != (row.bytes, row.sha256):
            yield Finding("file-changed", row.path, f"this {row.kind} file is not the one that was written")
        elif row.kind == "data":
            yield from check_rows(evidence, row)


def hashed(evidence: Evidence, path: str) -> tuple[int, str]:
    size, whole = 0, hashlib.sha256()
    with evidence.io.new_input(f"{evidence.logical}/{path}").open() as file:
        while chunk := file.read(CHUNK):
            size += len(chunk)
            whole.update(chunk)
    return size, whole.hexdigest()


def check_rows(evidence: Evidence, row: "Row[Any]") -> Iterator[Finding]:
    """The bytes are those that were written: now whether the record still says of them what it said."""
    rows = evidence.read_file(row.table, row.path)
    found = (rows.num_rows, control_total(row.table, rows), *span(row.table, rows))
    if found != (row.rows, row.control, row.start_s, row.end_s):
        yield Finding(
            "file-record-changed", row.path, "the recorded rows, control total or span are not those of the file"
        )
    content = "" if row.table == "charges" else f"{content_sum(rows):032x}"
    part = pc.unique(rows["period" if row.table == "charges" else "source"]).to_pylist()
    if content != row.content or part != [row.part]:
        yield Finding("file-record-changed", row.path, "the recorded content or source is not that of the file")


def check_evidence(connection: Connection, evidence: Evidence) -> Iterator[Finding]:
    known: Files = {row.path: row for row in connection.execute(select(record.files))}
    published = {row.table: row for row in connection.execute(select(record.published))}
    for missing in sorted(set(EVIDENCE) - set(published)):
        yield Finding("snapshot-missing", missing, "no state of this table is published")
    for name, row in sorted(published.items()):
        if row.metadata not in known:
            yield Finding("snapshot-missing", row.metadata, "the published metadata file was never recorded")
            continue
        try:
            yield from check_table(connection, evidence, known, evidence.read(row.metadata))
            live = {path for path, file in known.items() if file.live and file.table == name}
            if paths_at(evidence, evidence.read(row.metadata), row.snapshot_id) != live:
                yield Finding("snapshot-changed", name, "the files of the published snapshot are not those recorded")
        except Exception as error:  # noqa: BLE001 - a damaged manifest can make its reader fail in any way
            yield Finding("snapshot-missing", name, f"its snapshots cannot be read: {type(error).__name__}: {error}")


def check_table(connection: Connection, evidence: Evidence, known: Files, table: StaticTable) -> Iterator[Finding]:
    """Every snapshot that was ever published is still there, whole, and says what it said."""
    name = evidence.relative(table.location())
    snapshots = record.snapshots
    for row in connection.execute(select(snapshots).where(snapshots.c.table == name)).all():
        snapshot = table.snapshot_by_id(row.snapshot_id)
        where = f"{name}, snapshot {row.snapshot_id}"
        if snapshot is None:
            yield Finding("snapshot-missing", where, "this published snapshot is no longer in the table's metadata")
            continue
        manifests = [snapshot.manifest_list, *(manifest.manifest_path for manifest in snapshot.manifests(table.io))]
        paths = paths_at(evidence, table, row.snapshot_id)
        strange = sorted({*map(evidence.relative, manifests), *paths} - set(known))
        if strange:
            yield Finding(
                "snapshot-changed", where, f"it names files that were never recorded: {', '.join(strange[:3])}"
            )
            continue
        rows = sum(known[path].rows for path in paths)
        if (row.rows, row.digest) != (
            rows,
            table_digest(name, rows, (int(known[path].content or "0", 16) for path in paths)),
        ):
            yield Finding("snapshot-changed", where, "its rows are not those recorded")
    runs = connection.execute(select(record.runs)).all()
    for run in runs:
        yield from check_inputs(evidence, known, table, run)


def check_inputs(evidence: Evidence, known: Files, table: StaticTable, run: "Row[Any]") -> Iterator[Finding]:
    """The run's link in the chain holds a digest of the files it was computed from."""
    name = evidence.relative(table.location())
    inputs, digests = json.loads(run.inputs), json.loads(run.evidence)
    if name not in inputs:
        return
    paths = paths_at(evidence, table, inputs[name])
    if files_digest(known[path] for path in paths if path in known) != digests.get(name):
        yield Finding(
            "inputs-changed", f"run {run.run_id}, {name}", "the files are not those that it was computed from"
        )


def paths_at(evidence: Evidence, table: StaticTable, snapshot_id: int) -> set[str]:
    return {evidence.relative(file.file_path) for file in evidence.data_files(table, snapshot_id)}
