"""How files of the warehouse reach the disk: hashed while they are written, synced with their folder before anyone can name them.

pyiceberg syncs nothing by itself. This FileIO is given to it as `py-io-impl`. It also lets a warehouse move: Iceberg's metadata holds
absolute places, so files keep the name they were written under (`LOGICAL`) and are looked up where the warehouse is now (`PHYSICAL`).
"""

import hashlib
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Self

from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO
from pyiceberg.typedef import EMPTY_DICT, Properties

from apportion.books.drafts import make_folder, sync_folder

LOGICAL, PHYSICAL, WRITTEN = "apportion.logical", "apportion.physical", "apportion.written"
BUFFER = 1 << 20


@dataclass(frozen=True, slots=True)
class WrittenFile:
    location: str
    sha256: str
    bytes: int


@dataclass(slots=True)
class Written:
    """What this process has written and not yet recorded."""

    files: dict[str, WrittenFile] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def add(self, file: WrittenFile) -> None:
        with self.lock:
            self.files[file.location] = file

    def take(self, folder: str) -> list[WrittenFile]:
        with self.lock:
            taken = [location for location in self.files if location.startswith(folder + "/")]
            return [self.files.pop(location) for location in taken]


class SyncedFileIO(PyArrowFileIO):
    @staticmethod
    def parse_location(location: str, properties: Properties = EMPTY_DICT) -> tuple[str, str, str]:
        logical = properties.get(LOGICAL, "")
        if logical and location.startswith(logical + "/"):
            location = properties[PHYSICAL] + location[len(logical) :]
        return PyArrowFileIO.parse_location(location, properties)

    def new_output(self, location: str) -> PyArrowFile:
        scheme, host, path = self.parse_location(location, self.properties)
        file = SyncedFile(location=location, path=path, fs=self.fs_by_scheme(scheme, host))
        file.local = Path(path) if scheme == "file" else None
        file.written = self.properties.get(WRITTEN) or Written()
        return file


class SyncedFile(PyArrowFile):
    local: Path | None
    written: Written

    def create(self, overwrite: bool = False) -> "SyncedStream":
        """Names are never reused, so an existing file is always an error, `overwrite` or not."""
        if self.local is None:
            return SyncedStream(self.location, super().create(overwrite), None, self.written)
        make_folder(self.local.parent)
        handle = os.open(self.local, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        return SyncedStream(self.location, os.fdopen(handle, "wb", buffering=BUFFER), self.local, self.written)


class SyncedStream:
    """Not an `io` class: those close themselves when collected, and a torn file must not count as written."""

    def __init__(self, location: str, sink: Any, path: Path | None, written: Written) -> None:
        self.location = location
        self.sink = sink
        self.path = path
        self.written = written
        self.hash = hashlib.sha256()
        self.size = 0
        self.closed = False

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        self.sink.flush()

    def write(self, data: Any) -> int:
        self.hash.update(data)
        self.sink.write(data)
        self.size += len(data)
        return len(data)

    def close(self) -> None:
        if self.closed:
            return
        self.closed = True
        with self.sink:
            if self.path is not None:
                self.sink.flush()
                os.fsync(self.sink.fileno())
        if self.path is not None:
            sync_folder(self.path.parent)
        self.written.add(WrittenFile(self.location, self.hash.hexdigest(), self.size))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
            return
        self.closed = True  # torn: named by nobody, swept up by `gc`
        with suppress(OSError):
            self.sink.close()
