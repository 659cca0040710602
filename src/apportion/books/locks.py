"""One writer per table of evidence at a time: Iceberg's own retries lose commits when eight writers meet on one table.

SQLite: a lock on a file beside the warehouse (or beside the database, where the warehouse is an object store).
PostgreSQL: an advisory lock on a connection of its own. Either is gone when its process is.
"""

import fcntl
import hashlib
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError

from apportion.errors import BooksError

LONGEST_WAIT_S = 900
SHORTEST_NAP_S, LONGEST_NAP_S = 0.005, 0.1


class Locks:
    def __init__(self, engine: Engine, folder: Path | None) -> None:
        self.engine = engine
        self.folder = folder

    @contextmanager
    def hold(self, names: Iterable[str]) -> Iterator[None]:
        """Always in the same order, so that two who want the same tables cannot wait for each other."""
        with ExitStack() as held:
            for name in sorted(set(names)):
                held.enter_context(
                    file_lock(self.folder / f"{name}.lock") if self.folder else advisory_lock(self.engine, name)
                )
            yield


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        wait_for(handle, path)
        yield
    finally:
        os.close(handle)


def wait_for(handle: int, path: Path) -> None:
    nap, patience = SHORTEST_NAP_S, time.monotonic() + LONGEST_WAIT_S
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > patience:
                raise busy(path.stem) from error
            time.sleep(nap)
            nap = min(nap * 2, LONGEST_NAP_S)
        else:
            return


@contextmanager
def advisory_lock(engine: Engine, name: str) -> Iterator[None]:
    key = int.from_bytes(hashlib.sha256(f"apportion:{name}".encode()).digest()[:8], "big", signed=True)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"SET lock_timeout = '{LONGEST_WAIT_S}s'"))
        try:
            connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": key})
        except OperationalError as error:
            raise busy(name) from error
        try:
            yield
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": key})
            connection.execute(text("RESET lock_timeout"))


def busy(name: str) -> BooksError:
    message = f"another process has been writing {name} for {LONGEST_WAIT_S // 60} minutes"
    return BooksError("books-busy", message, hint="wait for it, or end it if it hangs, and try again")
