"""The evidence again: every recorded file byte for byte, and every published snapshot down to its files."""

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow.compute as pc
from sqlalchemy import Connection, Row, select

from apportion.books import record
from apportion.books.catalog import Evidence, Snapshot, kind_of
from apportion.books.content import files_digest
from apportion.books.digest import content_sum, table_digest
from apportion.books.shapes import Damage
from apportion.books.tables import EVIDENCE, control_total, span
from apportion.books.verify_erased import Earlier, ages

CHUNK = 1 << 20
Files = dict[str, "Row[Any]"]
Snapshots = dict[int, Snapshot]
Published = dict[int, dict[str, Any]]
Rows = Sequence["Row[Any]"]


def check_files(connection: Connection, evidence: Evidence) -> Iterator[Damage]:
    for row in connection.execute(select(record.files).order_by(record.files.c.path)).all():
        try:
            size, sha256 = hashed(evidence, row.path)
        except (OSError, ValueError) as error:
            yield Damage("file-missing", row.path, f"it cannot be read: {error}")
            continue
        if (size, sha256) != (row.bytes, row.sha256):
            yield Damage("file-changed", row.path, f"this {row.kind} file is not the one that was written")
        elif (row.table, row.kind) != (row.path.split("/")[0], kind_of(row.path)):
            yield Damage("file-record-changed", row.path, "the recorded table or kind is not that of the file")
        elif row.kind == "data":
            yield from check_rows(evidence, row)
        elif has_rows(row):
            yield Damage("file-record-changed", row.path, "rows are recorded of a file that has none")


def has_rows(row: "Row[Any]") -> bool:
    """Whether anything is recorded of a file that only a data file has."""
    return (row.rows, row.control, row.content, row.part, row.start_s, row.end_s, row.live) != (
        0,
        "0",
        "",
        "",
        0,
        0,
        False,
    )


def hashed(evidence: Evidence, path: str) -> tuple[int, str]:
    size, whole = 0, hashlib.sha256()
    with evidence.io.new_input(f"{evidence.logical}/{path}").open() as file:
        while chunk := file.read(CHUNK):
            size += len(chunk)
            whole.update(chunk)
    return size, whole.hexdigest()


def check_rows(evidence: Evidence, row: "Row[Any]") -> Iterator[Damage]:
    """The bytes are those that were written: now whether the record still says of them what it said."""
    rows = evidence.read_file(row.table, row.path)
    found = (rows.num_rows, control_total(row.table, rows), *span(row.table, rows))
    if found != (row.rows, row.control, row.start_s, row.end_s):
        yield Damage(
            "file-record-changed", row.path, "the recorded rows, control total or span are not those of the file"
        )
    content = "" if row.table == "charges" else f"{content_sum(rows):032x}"
    part = pc.unique(rows["period" if row.table == "charges" else "source"]).to_pylist()
    if content != row.content or part != [row.part]:
        yield Damage("file-record-changed", row.path, "the recorded content or source is not that of the file")


def check_evidence(connection: Connection, evidence: Evidence) -> Iterator[Damage]:
    known: Files = {row.path: row for row in connection.execute(select(record.files))}
    published = {row.table: row for row in connection.execute(select(record.published))}
    history = connection.execute(select(record.snapshots)).all()
    runs = connection.execute(select(record.runs)).all()
    earlier = Earlier(connection)
    for name in sorted(set(EVIDENCE) ^ set(published)):
        yield Damage("snapshot-missing", name, "no state of this table is published, or there is no such table")
    for name in sorted(set(EVIDENCE) & set(published)):
        if published[name].metadata not in known:
            yield Damage("snapshot-missing", published[name].metadata, "the published metadata file was never recorded")
            continue
        try:
            snapshots = evidence.snapshots(evidence.read(published[name].metadata))
        except Exception as error:  # noqa: BLE001 - a damaged manifest can make its reader fail in any way
            yield Damage("snapshot-missing", name, f"its snapshots cannot be read: {type(error).__name__}: {error}")
            continue
        live = {path for path, file in known.items() if file.live and file.table == name}
        if published[name].snapshot_id not in snapshots or snapshots[published[name].snapshot_id].data != live:
            yield Damage("snapshot-changed", name, "the files of the published snapshot are not those recorded")
        mine = [row for row in history if row.table == name]
        files = as_published(earlier, known, snapshots, mine)
        yield from check_snapshots(name, files, snapshots, mine)
        yield from check_inputs(name, files, snapshots, runs)


def as_published(earlier: Earlier, known: Files, snapshots: Snapshots, history: Rows) -> Published:
    """All files of each snapshot as they were when it was published: erasures since have rewritten some."""
    since = ages(list(snapshots), history)
    return {
        at: {path: earlier.file(known[path], since[at]) for path in (*one.manifests, *one.data) if path in known}
        for at, one in snapshots.items()
    }


def check_snapshots(name: str, files: Published, snapshots: Snapshots, history: Rows) -> Iterator[Damage]:
    """Every snapshot that was ever published is still there, whole, and says what it said; and there is no other."""
    for snapshot_id in sorted(set(snapshots) ^ {row.snapshot_id for row in history}):
        yield Damage(
            "snapshot-missing",
            f"{name}, snapshot {snapshot_id}",
            "it is not both published and in the table's metadata",
        )
    for row in history:
        where = f"{name}, snapshot {row.snapshot_id}"
        snapshot = snapshots.get(row.snapshot_id, Snapshot(frozenset(), frozenset()))
        known = files.get(row.snapshot_id, {})
        strange = sorted((snapshot.manifests | snapshot.data) - set(known))
        if strange:
            yield Damage(
                "snapshot-changed", where, f"it names files that were never recorded: {', '.join(strange[:3])}"
            )
            continue
        rows = sum(known[path].rows for path in snapshot.data)
        digest = table_digest(name, rows, (int(known[path].content or "0", 16) for path in snapshot.data))
        if (row.rows, row.digest) != (rows, digest):
            yield Damage("snapshot-changed", where, "its rows are not those recorded")


def check_inputs(name: str, published: Published, snapshots: Snapshots, runs: Rows) -> Iterator[Damage]:
    """A run's link in the chain holds a digest of the files it was computed from."""
    for run in runs:
        inputs, digests = json.loads(run.inputs), json.loads(run.evidence)
        if name not in inputs:
            continue
        snapshot = snapshots.get(inputs[name])
        known = published.get(inputs[name], {})
        files = [known[path] for path in snapshot.data if path in known] if snapshot else []
        if snapshot is None or files_digest(files) != digests.get(name):
            message = "the files are not those that it was computed from"
            yield Damage("inputs-changed", f"run {run.run_id}, {name}", message)
