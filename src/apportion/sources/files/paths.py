"""Where a source's files are: one file, a folder or a glob, always inside the project folder.

A path that leaves the project (by `..`, by an absolute name or through a symbolic link) is refused, and so is anything that is
not a regular file: a device never ends and a FIFO never begins.
"""

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from apportion.errors import InputError

FORMATS = {
    ".csv": "csv", ".parquet": "parquet", ".jsonl": "jsonl", ".ndjson": "jsonl",
    ".txt": "text", ".psv": "text", ".usv": "text", ".out": "text", ".log": "text", ".json": "json",
}  # fmt: skip
GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Stated:
    """What a manifest says about a file: bytes as it lies, rows without the header; None where it does not say."""

    size: int | None = None
    rows: int | None = None
    sha256: str | None = None


@dataclass(frozen=True, slots=True)
class InputFile:
    """`name` is relative to the project, so that messages and digests are the same on every machine."""

    name: str
    path: Path
    format: str
    stated: Stated | None = None


def input_files(path: str, base: Path, formats: Collection[str], where: str = "") -> list[InputFile]:
    """The files that `path` names, in order of name, each once."""
    root = base.resolve()
    try:
        found = list(candidates(path, root, formats))
    except (OSError, ValueError) as error:
        raise InputError("unreadable-file", f"{path!r} cannot be looked up: {error}", where=where) from error
    files: dict[Path, InputFile] = {}
    for candidate in sorted(found):
        file = inside(candidate, root, formats, where)
        files.setdefault(file.path, file)
    if not files:
        raise InputError(
            "no-such-file",
            f"nothing to read at {path!r}",
            where=where,
            hint=f"the path is relative to the project folder; files end in {', '.join(endings(formats))}, or those with .gz",
        )
    return list(files.values())


def candidates(path: str, root: Path, formats: Collection[str]) -> Iterator[Path]:
    whole = root / path  # an absolute `path` stands for itself
    if whole.is_dir():
        for folder, folders, names in os.walk(whole):
            folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
            yield from (
                Path(folder) / name for name in names if not name.startswith((".", "_")) and format_of(name) in formats
            )
    elif os.path.lexists(whole) or not GLOB & set(path):
        yield whole
    else:
        relative = os.path.relpath(whole, root) if Path(path).is_absolute() else path
        if ".." in Path(relative).parts:
            raise outside(path, "")
        yield from (match for match in root.glob(relative) if not match.is_dir())


def inside(path: Path, root: Path, formats: Collection[str], where: str) -> InputFile:
    shown = os.path.relpath(path, root)
    try:
        real = path.resolve(strict=True)
        mode = real.stat().st_mode
    except FileNotFoundError as error:
        raise InputError(
            "no-such-file", f"there is no file {shown}", where=where, hint="the path is relative to the project folder"
        ) from error
    except (OSError, RuntimeError, ValueError) as error:
        raise InputError("unreadable-file", f"{shown} cannot be read: {error}", where=where) from error
    if not real.is_relative_to(root):
        raise outside(shown, where)
    if not stat.S_ISREG(mode):
        raise not_a_file(shown, where)
    kind = format_of(path.name)
    if kind not in formats:
        raise InputError(
            "unknown-format",
            f"{shown} is of no format that this source reads",
            where=where,
            hint=f"it reads {', '.join(endings(formats))}, or those with .gz",
        )
    name = real.relative_to(root).as_posix()
    if not name.isprintable() or name != name.encode(errors="replace").decode():
        raise InputError("unreadable-file", f"the name {name!a} is not plain text", where=where, hint="rename the file")
    return InputFile(name, real, kind)


def open_file(file: InputFile) -> BinaryIO:
    """Opened without following a link that was put there since, and without waiting for a writer."""
    try:
        descriptor = os.open(file.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise InputError("unreadable-file", f"{file.name} cannot be read: {error.strerror}", where=file.name) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise not_a_file(file.name, file.name)
    return os.fdopen(descriptor, "rb")


def format_of(name: str) -> str:
    return FORMATS.get(Path(name.lower().removesuffix(".gz")).suffix, "")


def endings(formats: Collection[str]) -> list[str]:
    return sorted(ending for ending, kind in FORMATS.items() if kind in formats)


def outside(shown: str, where: str) -> InputError:
    return InputError(
        "path-outside",
        f"{shown} lies outside the project folder",
        where=where,
        hint="copy or mount the files inside the project folder",
    )


def not_a_file(shown: str, where: str) -> InputError:
    return InputError(
        "not-a-file", f"{shown} is not a regular file", where=where, hint="devices, pipes and sockets are not read"
    )
