"""Where the files of a source are: in the project folder, or in an object store.

A place is looked through by name before anything is read: a vendor's manifest may say which of the files count. Objects of a store are fetched into a
temporary folder, each once, and are files like others from there on; the folder is gone when the place is left.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from apportion.errors import InputError
from apportion.sources.files.paths import FORMATS, InputFile, endings, format_of, input_files
from apportion.sources.files.stream import Stream
from apportion.sources.outside.stores.address import is_remote
from apportion.sources.outside.stores.objects import Object, Store
from apportion.sources.settings import Stanza

LARGEST_NOTE = 2**26  # a manifest, not a bill


class Place(ABC):
    """`names` are all files there, in order: those of the project by their path in it, those of a store by their address."""

    @staticmethod
    @contextmanager
    def of(found: Stanza, base: Path) -> Iterator["Place"]:
        """What was fetched is gone afterwards."""
        path = found.text("path")
        if not is_remote(path):
            yield Folder(path, base, found.where)
            return
        store = Store.of(found, base)
        with TemporaryDirectory(prefix="apportion-") as folder:
            yield Remote(store, {each.name: each for each in store.listed()}, Path(folder))

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]: ...

    @abstractmethod
    def files(self, formats: Collection[str]) -> list[InputFile]:
        """All files of these formats."""

    @abstractmethod
    def file(self, name: str, formats: Collection[str]) -> InputFile:
        """One file by its name."""

    def picked(self, names: Sequence[str], formats: Collection[str]) -> list[InputFile]:
        """Several by name; those of a store are fetched some at once."""
        return [self.file(name, formats) for name in names]

    def read(self, name: str, limit: int = LARGEST_NOTE) -> bytes:
        """All of a small file, such as a manifest."""
        with Stream(self.small(name, limit)) as stream:
            data = bytearray()
            while part := stream.read():
                data += part
                if len(data) > limit:
                    raise too_long(name, limit)
        return bytes(data)

    def small(self, name: str, limit: int) -> InputFile:
        del limit  # what lies here costs nothing until it is read
        return self.file(name, set(FORMATS.values()))


@dataclass(frozen=True, slots=True)
class Folder(Place):
    path: str
    base: Path
    where: str

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(file.name for file in self.files(set(FORMATS.values())))

    def files(self, formats: Collection[str]) -> list[InputFile]:
        return input_files(self.path, self.base, formats, self.where)

    def file(self, name: str, formats: Collection[str]) -> InputFile:
        (found,) = input_files(name, self.base, formats, self.where)
        return found


@dataclass(frozen=True, slots=True)
class Remote(Place):
    """`kept` has what was fetched so far."""

    store: Store
    objects: Mapping[str, Object]
    folder: Path
    kept: dict[str, InputFile] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self.objects if format_of(name))

    def files(self, formats: Collection[str]) -> list[InputFile]:
        wanted = [each for each in self.objects.values() if format_of(each.name) in formats]
        if not wanted:
            raise InputError(
                "no-such-file",
                f"nothing to read at {self.store.address.name(self.store.address.key)}",
                where=self.store.where,
                hint=f"{len(self.objects)} objects lie there, none of which ends in {', '.join(endings(formats))}, or those with .gz",
            )
        return self.fetched(wanted)

    def file(self, name: str, formats: Collection[str]) -> InputFile:
        return self.picked([name], formats)[0]

    def picked(self, names: Sequence[str], formats: Collection[str]) -> list[InputFile]:
        wanted = [self.object(name) for name in names]
        for name in names:
            if format_of(name) not in formats:
                raise InputError(
                    "unknown-format",
                    f"{name} is of no format that this source reads",
                    where=self.store.where,
                    hint=f"it reads {', '.join(endings(formats))}, or those with .gz",
                )
        return self.fetched(wanted)

    def small(self, name: str, limit: int) -> InputFile:
        if self.object(name).size > limit:
            raise too_long(name, limit)
        return self.file(name, set(FORMATS.values()))

    def object(self, name: str) -> Object:
        """Of those listed, else any in the same bucket: a manifest may lie elsewhere than its parts."""
        if name in self.objects:
            return self.objects[name]
        if not name.startswith(self.store.address.root):
            raise InputError(
                "path-outside",
                f"{name} lies outside {self.store.address.root}",
                where=self.store.where,
                hint="a source reads one bucket or container: copy the object there",
            )
        found = self.store.head(name.removeprefix(self.store.address.root))
        if found is None:
            raise InputError(
                "no-such-file", f"there is no object {name}", where=self.store.where, hint="see path of the source"
            )
        return found

    def fetched(self, wanted: Sequence[Object]) -> list[InputFile]:
        missing = [each for each in wanted if each.name not in self.kept]
        paths = self.store.fetch(missing, self.folder) if missing else {}
        self.kept.update({name: InputFile(name, path, format_of(name)) for name, path in paths.items()})
        return [self.kept[each.name] for each in wanted]


def too_long(name: str, limit: int) -> InputError:
    return InputError("too-large", f"{name} has more than {limit} bytes", where=name, hint="is it a manifest?")
