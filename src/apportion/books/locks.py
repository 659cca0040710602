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

from sqlalchemy import Connection, Engine, text
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
        wanted = sorted(set(names))
        with ExitStack() as held:
            if self.folder is None:
                held.enter_context(advisory_locks(self.engine, wanted))
            else:
                for name in wanted:
                    held.enter_context(file_lock(self.folder / f"{name}.lock"))
            yield

    @contextmanager
    def attempt(self, name: str) -> Iterator[bool]:
        """For what need not be done twice at once: whether nobody else does it just now."""
        with ExitStack() as held:
            if self.folder is None:
                yield held.enter_context(advisory_attempt(self.engine, name))
            else:
                yield held.enter_context(file_attempt(self.folder / f"{name}.lock"))


@contextmanager
def file_attempt(path: Path) -> Iterator[bool]:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(handle)


@contextmanager
def advisory_attempt(engine: Engine, name: str) -> Iterator[bool]:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        got = bool(connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": lock_key(name)}))
        try:
            yield got
        finally:
            if got:
                connection.execute(text("SELECT pg_advisory_unlock(:key)"), {"key": lock_key(name)})


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
def advisory_locks(engine: Engine, names: list[str]) -> Iterator[None]:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text(f"SET lock_timeout = '{LONGEST_WAIT_S}s'"))
        try:
            for name in names:
                take_advisory_lock(connection, name)
            yield
        finally:
            connection.execute(text("SELECT pg_advisory_unlock_all()"))
            connection.execute(text("RESET lock_timeout"))


def take_advisory_lock(connection: Connection, name: str) -> None:
    try:
        connection.execute(text("SELECT pg_advisory_lock(:key)"), {"key": lock_key(name)})
    except OperationalError as error:
        raise busy(name) from error


def lock_key(name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"apportion:{name}".encode()).digest()[:8], "big", signed=True)


def busy(name: str) -> BooksError:
    message = f"another process has been writing {name} for {LONGEST_WAIT_S // 60} minutes"
    return BooksError("books-busy", message, hint="wait for it, or end it if it hangs, and try again")
