"""Files that appear together: written under other names, synced, then named in their order. What failed before that changes nothing."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from apportion.books.fileio import sync_folder

BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Together:
    """`files` by name, each where it is while it has none."""

    folder: Path
    files: dict[str, Path] = field(default_factory=dict)

    @contextmanager
    def file(self, name: str) -> Iterator[IO[bytes]]:
        handle, scratch = tempfile.mkstemp(dir=self.folder, prefix=f".{name}.", suffix=".part")
        self.files[name] = Path(scratch)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        self.files[name].chmod(0o666 & ~umask())

    def sha256(self, name: str) -> str:
        found = hashlib.sha256()
        with self.files[name].open("rb") as file:
            while block := file.read(BLOCK):
                found.update(block)
        return found.hexdigest()


def umask() -> int:
    """What a file of one's own would be allowed; it can only be asked by setting it."""
    now = os.umask(0o077)
    os.umask(now)
    return now


@contextmanager
def together(folder: Path) -> Iterator[Together]:
    folder.mkdir(parents=True, exist_ok=True)
    made = Together(folder)
    try:
        yield made
        for name, scratch in made.files.items():
            scratch.replace(folder / name)
        sync_folder(folder)
    finally:
        for scratch in made.files.values():
            scratch.unlink(missing_ok=True)
