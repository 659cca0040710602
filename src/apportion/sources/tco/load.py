"""From a path to an inventory, or to the first mistake in it with its place."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from apportion.errors import InputError
from apportion.model.delivery import FileDigest
from apportion.sources.files.paths import InputFile, input_files
from apportion.sources.files.stream import Stream
from apportion.sources.tco.clauses import shown
from apportion.sources.tco.document import Inventory
from apportion.sources.tco.items import number_text
from apportion.sources.tco.lists import rows_of
from apportion.sources.tco.written import Written, from_toml, from_yaml

DOCUMENTS, LISTS = ("yaml", "toml"), ("csv", "xlsx")
NAME = "inventory"
LARGEST = 2**25


@dataclass(frozen=True, slots=True)
class Read:
    """A file as it was read, and which of the assets stand in it."""

    name: str
    sha256: str
    assets: slice

    def digest(self, inventory: Inventory) -> FileDigest:
        own = inventory.assets[self.assets]
        return FileDigest(
            self.name, self.sha256, len(own), number_text(sum((one.price * one.count for one in own), Fraction(0)))
        )


@dataclass(frozen=True, slots=True)
class Loaded:
    inventory: Inventory
    written: Written
    files: tuple[FileDigest, ...]


def load(path: str, base: Path, where: str) -> Loaded:
    """A document, a list of assets, or a folder: its document named inventory, else all its lists."""
    found = input_files(path, base, (*DOCUMENTS, *LISTS), where)
    folder = len(found) > 1 or (base / path).is_dir()
    documents = [file for file in found if file.format in DOCUMENTS]
    if folder:
        documents = [file for file in documents if PurePosixPath(file.name).stem == NAME]
    if len(documents) > 1:
        names = " and ".join(file.name for file in documents[:2])
        raise InputError("inventory-text", f"{names}: which is the inventory?", where=where, hint="name one by path")
    if documents:
        written, sha256 = document_of(documents[0])
        read = gather(written, sha256, base)
    else:
        lists = [file for file in found if file.format in LISTS]
        if not lists:
            hint = "name the document by path, or call it inventory.yaml"
            raise InputError(
                "no-such-file", f"{path} has no inventory.yaml and no list of assets", where=where, hint=hint
            )
        written = Written(lists[0].name, {"assets": []})
        read = add_lists(written, lists)
    inventory = checked(written)
    return Loaded(inventory, written, tuple(file.digest(inventory) for file in read))


def document_of(file: InputFile) -> tuple[Written, str]:
    with Stream(file) as stream:
        data = stream.read(LARGEST)
        if stream.read(1):
            raise InputError(
                "too-large", f"{file.name} is over 32 MiB", where=file.name, hint="put long lists into CSV files"
            )
        digest = stream.sha256
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            "wrong-encoding", f"{file.name} is not UTF-8 text", where=file.name, hint="save it as UTF-8"
        ) from error
    written = from_toml(text, file.name) if file.format == "toml" else from_yaml(text, file.name)
    if not isinstance(written.value, dict):
        hint = "begin with inventory: NAME"
        raise InputError(
            "inventory-value", f"expected keys and values, found {shown(written.value)}", where=file.name, hint=hint
        )
    return written, digest


def gather(written: Written, sha256: str, base: Path) -> list[Read]:
    """`lists` names files beside the document; their rows come after the document's own assets."""
    own = written.value.get("assets") or []
    read = [Read(written.file, sha256, slice(0, len(own)))]
    listed = written.value.get("lists") or []
    names = [listed] if isinstance(listed, str) else listed
    if not isinstance(own, list) or not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return read  # refused as it is checked
    beside = PurePosixPath(written.file).parent
    lists = [file for name in names for file in input_files(str(beside / name), base, LISTS, written.where(("lists",)))]
    return [*read, *add_lists(written, lists)]


def add_lists(written: Written, lists: list[InputFile]) -> list[Read]:
    read = []
    assets = list(written.value.get("assets") or [])
    for file in lists:
        rows, sha256 = rows_of(file)
        first = len(assets)
        written.places |= {("assets", first + number): place for number, (place, _) in enumerate(rows)}
        assets += [asset for _, asset in rows]
        read.append(Read(file.name, sha256, slice(first, len(assets))))
    written.value["assets"] = assets
    return read


def checked(written: Written) -> Inventory:
    given = {
        key: () if value is None and key in Inventory.may_be_empty else value for key, value in written.value.items()
    }
    try:
        return Inventory.model_validate(given)
    except ValidationError as error:
        raise told(error.errors(include_url=False)[0], written) from None


def told(mistake: Any, written: Written) -> InputError:
    """A mistake as pydantic tells it, in our words."""
    path, context = tuple(mistake["loc"]), mistake.get("ctx", {})
    if mistake["type"] == "inventory":
        whole = (*path, *context["path"])
        where = written.where_key(whole) if context["key"] else written.where(whole)
        return InputError(context["code"], context["message"], where=where, hint=context["hint"])
    if mistake["type"] == "missing":
        message = f"the key {path[-1]!r} is missing"
        return InputError("inventory-key", message, where=written.where(path[:-1]), hint=f"add {path[-1]}: ...")
    return InputError("inventory-value", f"expected a list, found {shown(mistake['input'])}", where=written.where(path))
