"""An inventory's text with the place of each value: YAML, TOML, and lists of assets as CSV or xlsx.

Every value stays the text that was written: `0.1` must become 1/10, which no loader's binary number is. Nothing is constructed or executed.
"""

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from apportion.errors import InputError

MOST_VALUES = 1_000_000
DEEPEST = 20
NULL = "tag:yaml.org,2002:null"
OURS = "tag:yaml.org,2002:"

KEY = "\0"  # before the last step of a path: the place of the key, not of its value

Path = tuple[str | int, ...]


@dataclass(slots=True)
class Written:
    """Text, lists and mappings; `places` says where the value at a path stands, as `file:line:column`."""

    file: str
    value: Any = None
    places: dict[Path, str] = field(default_factory=dict)

    def where_key(self, path: Path) -> str:
        return self.places.get((*path[:-1], KEY, path[-1])) or self.where(path)

    def where(self, path: Path) -> str:
        """The place of a value, or of the nearest around it that has one; in TOML, whose reader keeps no lines, its path."""
        for length in range(len(path), -1, -1):
            if place := self.places.get(path[:length]):
                return place if length == len(path) or not length else f"{place} ({dotted(path[length:])})"
        return f"{self.file}: {dotted(path)}" if path else self.file


def dotted(path: Path) -> str:
    text = "".join(f"[{step + 1}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def from_toml(text: str, file: str) -> Written:
    try:
        value = tomllib.loads(text, parse_float=str)
    except tomllib.TOMLDecodeError as error:
        raise InputError("inventory-text", f"this is not readable TOML: {error}", where=file) from error
    return Written(file, texts(value))


def texts(value: Any) -> Any:
    """What TOML and spreadsheets type, as it would be written."""
    if isinstance(value, dict):
        return {key: texts(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [texts(inner) for inner in value]
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, date) else str(value)


def from_yaml(text: str, file: str) -> Written:
    found = Written(file)
    try:
        root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{file}:{mark.line + 1}:{mark.column + 1}" if mark else file
        raise unreadable(str(error.problem or error.context), place) from error
    except (
        YAMLError,
        RecursionError,
        ValueError,
        OverflowError,
        AttributeError,
    ) as error:  # the parser's own, on odd texts
        raise unreadable(f"the parser gave up ({type(error).__name__})", file) from error
    found.value = Reader(found).read(root, ()) if root is not None else {}
    return found


def unreadable(what: str, where: str) -> InputError:
    hint = (
        "check indentation, quotes and brackets; quote text that holds ': ' or ' #' or begins with one of * & ! % @ {"
    )
    return InputError("inventory-text", f"this is not readable YAML: {what}", where=where, hint=hint)


class Reader:
    def __init__(self, found: Written) -> None:
        self.found = found
        self.size = 0

    def place(self, node: Any) -> str:
        return f"{self.found.file}:{node.start_mark.line + 1}:{node.start_mark.column + 1}"

    def read(self, node: Any, path: Path) -> Any:
        """Aliases are read once for each place they stand at, and count as often."""
        self.size += 1
        if self.size > MOST_VALUES or len(path) > DEEPEST:
            message = f"an inventory has at most {MOST_VALUES:,} values, nested at most {DEEPEST} deep"
            raise InputError("inventory-text", message, where=self.place(node), hint="put long lists into CSV files")
        if node.tag and not node.tag.startswith(OURS):
            raise unreadable(f"tags such as {node.tag[:40]!r} are not used here", self.place(node))
        self.found.places.setdefault(path, self.place(node))
        if isinstance(node, ScalarNode):
            return None if node.tag == NULL else str(node.value)
        if isinstance(node, SequenceNode):
            return [self.read(item, (*path, number)) for number, item in enumerate(node.value)]
        return dict(self.fields(node, path))

    def fields(self, node: MappingNode, path: Path) -> Iterator[tuple[str, Any]]:
        seen: dict[str, str] = {}
        for key, value in node.value:
            place = self.place(key)
            if not isinstance(key, ScalarNode) or key.value == "<<":
                raise unreadable("a key is one word; merge keys (<<) are not used here", place)
            if key.value in seen:
                message = f"the key {key.value!r} is given twice, first at {seen[key.value]}"
                raise InputError("inventory-twice", message, where=place, hint="keep one of them")
            seen[key.value] = self.found.places[*path, KEY, key.value] = place
            yield key.value, self.read(value, (*path, key.value))
