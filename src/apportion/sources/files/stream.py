"""Bytes of a file: hashed, unpacked and bounded while they are read, so that the digest is of what was really read."""

import gzip
import hashlib
import io
import zlib
from typing import Any, BinaryIO, Self

from apportion.errors import InputError
from apportion.sources.files.paths import InputFile, open_file

CHUNK = 2**20
GZIP = b"\x1f\x8b"
FREE_BYTES = 2**24  # a small file may unpack to anything up to this
LARGEST_RATIO = 100  # beyond it, bytes out per byte in
LARGEST_FILE = 2**36


class Hashed(io.RawIOBase):
    """The file as it lies on disk; every byte handed out is hashed."""

    def __init__(self, raw: BinaryIO) -> None:
        self.raw = raw
        self.sha256 = hashlib.sha256()
        self.size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self.raw.readinto(buffer)  # type: ignore[attr-defined]  # a file opened for reading bytes has it
        self.sha256.update(memoryview(buffer)[:count])
        self.size += count
        return int(count)

    def close(self) -> None:
        self.raw.close()
        super().close()


class Stream:
    """The contents of a file, unpacked where it is gzip, with a limit on how much may come out of how little."""

    def __init__(self, file: InputFile) -> None:
        self.file = file
        self.hashed = Hashed(open_file(file))
        raw = io.BufferedReader(self.hashed, CHUNK)
        self.packed = raw.peek(2)[:2] == GZIP
        self.source: Any = gzip.GzipFile(fileobj=raw) if self.packed else raw
        self.raw = raw
        self.content = hashlib.sha256()
        self.size = 0
        self.last = b""  # byte
        self.closed = False

    def read(self, count: int = -1) -> bytes:
        """At most `count` bytes, unpacked; b"" at the end."""
        try:
            data: bytes = self.source.read(CHUNK if count is None or count < 0 else count)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise corrupt(self.file, f"its gzip data is damaged or cut off ({error})") from error
        except OSError as error:
            raise InputError(
                "unreadable-file", f"{self.file.name} cannot be read: {error}", where=self.file.name
            ) from error
        self.size += len(data)
        self.last = data[-1:] or self.last
        if self.packed:
            self.content.update(data)
        bound = max(FREE_BYTES, LARGEST_RATIO * self.hashed.size) if self.packed else LARGEST_FILE
        if self.size > min(bound, LARGEST_FILE):
            raise too_large(
                self.file,
                f"more than {LARGEST_RATIO} bytes come out of each of its bytes" if self.packed else "over 64 GiB",
            )
        return data

    def read_all(self) -> bytes:
        parts = []
        while part := self.read(2**24):
            parts.append(part)
        return b"".join(parts)

    @property
    def sha256(self) -> str:
        """Of the file as it lies on disk; complete once everything was read."""
        while self.raw.read(CHUNK):  # what follows the last gzip member
            pass
        return self.hashed.sha256.hexdigest()

    @property
    def content_sha256(self) -> str:
        """The same for a file and its gzip: so that a bill and its packed copy are not both counted."""
        return self.content.hexdigest() if self.packed else self.sha256

    def close(self) -> None:
        self.closed = True
        self.hashed.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def corrupt(file: InputFile, why: str) -> InputError:
    return InputError(
        "corrupt-file", f"{file.name} cannot be read: {why}", where=file.name, hint="fetch the file again"
    )


def too_large(file: InputFile, why: str) -> InputError:
    return InputError(
        "too-large",
        f"{file.name} is refused: {why}",
        where=file.name,
        hint="if you trust the file, unpack or split it yourself",
    )
