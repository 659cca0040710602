"""Where the files of a source are: in the project folder.

A place is looked through by name before anything is read: a vendor's manifest may say which of the files count.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from apportion.errors import InputError
from apportion.sources.files.paths import FORMATS, InputFile, input_files
from apportion.sources.files.stream import Stream
from apportion.sources.settings import Stanza

LARGEST_NOTE = 2**26  # a manifest, not a bill


@dataclass(frozen=True, slots=True)
class Place:
    """`names` are all files there, in order; local ones by their path in the project."""

    path: str
    base: Path
    where: str

    @classmethod
    @contextmanager
    def of(cls, found: Stanza, base: Path) -> Iterator["Place"]:
        """What was fetched is gone afterwards."""
        yield cls(found.text("path"), base, found.where)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(file.name for file in self.files(set(FORMATS.values())))

    def files(self, formats: Collection[str]) -> list[InputFile]:
        """All files of these formats."""
        return input_files(self.path, self.base, formats, self.where)

    def file(self, name: str, formats: Collection[str]) -> InputFile:
        """One file by its name."""
        (found,) = input_files(name, self.base, formats, self.where)
        return found

    def read(self, name: str, limit: int = LARGEST_NOTE) -> bytes:
        """All of a small file, such as a manifest."""
        with Stream(self.file(name, set(FORMATS.values()))) as stream:
            data = bytearray()
            while part := stream.read():
                data += part
                if len(data) > limit:
                    raise InputError(
                        "too-large", f"{name} has more than {limit} bytes", where=name, hint="is it a manifest?"
                    )
        return bytes(data)
