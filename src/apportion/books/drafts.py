"""Files that are under their name whole, or as they were before: written and synced beside their place, then given the name.

A draft is `.NAME.part`, and one writer at a time holds it. Whoever is killed leaves at most that, and the next writer takes it over.
"""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

WITHOUT_LOCKS = (
    errno.ENOLCK,
    errno.ENOTSUP,
    errno.ENOSYS,
)  # of some network mounts: two writers at once are on their own there


@dataclass(slots=True)
class Draft:
    path: Path
    place: Path
    file: IO[bytes]
    is_named: bool = False

    def sync(self) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())

    def name(self) -> None:
        """The folder is still to be synced."""
        self.place.replace(self.path)
        self.is_named = True


@contextmanager
def draft(path: Path) -> Iterator[Draft]:
    """Held until the end, where what was not named is removed."""
    place = path.with_name(f".{path.name}.part")
    made = Draft(path, place, held(place))
    try:
        yield made
    finally:
        if not made.is_named:
            place.unlink(missing_ok=True)
        made.file.close()


def held(place: Path) -> IO[bytes]:
    """Emptied only once it is ours: while we waited, another may have given it its name, and then it is a draft no more."""
    while True:
        handle = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            wait_for(handle)
            if is_at(handle, place):
                os.ftruncate(handle, 0)
                return os.fdopen(handle, "wb")
        except BaseException:
            os.close(handle)
            raise
        os.close(handle)


def wait_for(handle: int) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
    except OSError as error:
        if error.errno not in WITHOUT_LOCKS:
            raise


def is_at(handle: int, place: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), place.stat())
    except FileNotFoundError:
        return False


def sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_folder(folder: Path) -> None:
    if folder.is_dir():
        return
    make_folder(folder.parent)
    folder.mkdir(exist_ok=True)
    sync_folder(folder.parent)
