"""Files that nobody names: what dead writers left, and metadata that later metadata replaced."""

import time

from pyarrow.fs import FileSelector, FileType
from sqlalchemy import delete, select

from apportion.books import record
from apportion.books.audit import note
from apportion.books.catalog import Evidence
from apportion.books.database import reading, writing
from apportion.books.locks import Locks
from apportion.books.publish import published
from apportion.books.tables import EVIDENCE

AT_ONCE = 500


def collect(evidence: Evidence, locks: Locks, older_than_s: int) -> list[str]:
    """Removes what is older and returns it. Snapshots stay, however old: postings and explanations rest on them."""
    removed: list[str] = []
    with locks.hold(["gc"]):
        for name in EVIDENCE:
            with locks.hold([name]):
                removed += sweep(evidence, name, int(time.time()) - older_than_s)
    return removed


def sweep(evidence: Evidence, name: str, before_s: int) -> list[str]:
    with reading(evidence.engine) as connection:
        metadata = published(connection, name).metadata
    evidence.open(name, metadata)  # nothing of a dead writer's is named from here on
    ages = listing(evidence, name)
    snapshots = evidence.snapshots(evidence.read(metadata)).values()
    kept = {metadata}.union(*(snapshot.manifests | snapshot.data for snapshot in snapshots))
    if (
        ages.get(metadata, before_s) >= before_s
    ):  # published just now: a reader may still be on its way to the one before
        kept |= {path for path in ages if path.endswith(".metadata.json")} & recorded(evidence, name)
    orphans = sorted(path for path, written_s in ages.items() if path not in kept and written_s <= before_s)
    if orphans:
        forget(evidence, orphans)
    for path in orphans:
        evidence.io.delete(f"{evidence.logical}/{path}")
    return [evidence.place(path) for path in orphans]


def listing(evidence: Evidence, name: str) -> dict[str, int]:
    """Every file of the table's folder and when it was written."""
    filesystem, (folder,) = evidence.filesystem([evidence.place(name)])
    found = filesystem.get_file_info(FileSelector(folder, recursive=True, allow_not_found=True))
    start = len(folder) - len(name)
    return {file.path[start:]: (file.mtime_ns or 0) // 10**9 for file in found if file.type == FileType.File}


def recorded(evidence: Evidence, name: str) -> set[str]:
    with reading(evidence.engine) as connection:
        return set(connection.scalars(select(record.files.c.path).where(record.files.c.table == name)))


def forget(evidence: Evidence, paths: list[str]) -> None:
    """Before they go, so that a crash leaves an orphan and never a record of nothing."""
    with writing(evidence.engine) as connection:
        for start in range(0, len(paths), AT_ONCE):
            connection.execute(delete(record.files).where(record.files.c.path.in_(paths[start : start + AT_ONCE])))
        note(connection, "gc", f"{len(paths)} files of {paths[0].split('/')[0]}")
