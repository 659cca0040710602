"""What a manifest says: the files, and their sizes, rows and hashes where it states them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apportion.errors import InputError
from apportion.sources.files.paths import InputFile, Stated
from apportion.sources.files.places import Place

HINT = "the delivery is incomplete or was mixed with another one: fetch all of it again"


@dataclass(frozen=True, slots=True)
class Listed:
    """`name` is one of the place's names; `stated` is what the manifest says about that file."""

    name: str
    stated: Stated


def document(place: Place, name: str) -> dict[str, Any]:
    """A manifest as it was written."""
    try:
        found = json.loads(place.read(name))
    except (ValueError, RecursionError) as error:
        raise InputError(
            "corrupt-file", f"{name} is no JSON document: {error}", where=name, hint="fetch the file again"
        ) from error
    if not isinstance(found, dict):
        raise unknown(name)
    return found


def meant(entry: str, names: Sequence[str], manifest: str) -> str:
    """The file of the place that an entry of a manifest names.

    Vendors write whole keys, which a copy keeps in part only: the longest tail of the key that one file alone ends with decides.
    """
    parts = [part for part in entry.split("/") if part not in ("", ".")]
    for first in range(len(parts)):
        tail = "/".join(parts[first:])
        matches = [name for name in names if name == tail or name.endswith("/" + tail)]
        beside = [name for name in matches if name == tail or name.startswith(folder(manifest))]
        for found in (matches, beside):
            if len(found) == 1:
                return found[0]
    raise InputError(
        "manifest-part-missing", f"{manifest} names {entry}, which is not there", where=manifest, hint=HINT
    )


def folder(name: str) -> str:
    """What the names of the files beside it and below begin with."""
    return name[: name.rfind("/") + 1]


def unknown(name: str) -> InputError:
    return InputError(
        "unknown-manifest",
        f"{name} lists no files in a form that is known",
        where=name,
        hint='if the files are to be read without it, name them in `path`, such as "bills/**/*.parquet"',
    )


def same_size(file: InputFile) -> None:
    """Before anything is read. Of packed text some vendors state the unpacked size, so that is left to the row count."""
    stated = file.stated.size if file.stated else None
    size = file.path.stat().st_size
    if stated is not None and stated != size and not file.path.name.endswith(".gz"):
        raise mismatch(file, f"{size} bytes, where its manifest says {stated}")


def as_stated(file: InputFile, rows: int, sha256: str) -> None:
    """After it was read."""
    if file.stated is None:
        return
    if file.stated.rows is not None and file.stated.rows != rows:
        raise mismatch(file, f"{rows} rows, where its manifest says {file.stated.rows}")
    if file.stated.sha256 is not None and file.stated.sha256.lower() != sha256:
        raise mismatch(file, f"the SHA-256 {sha256}, where its manifest says {file.stated.sha256}")


def mismatch(file: InputFile, what: str) -> InputError:
    return InputError("manifest-mismatch", f"{file.name} has {what}", where=file.name, hint=HINT)
