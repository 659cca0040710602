"""YAML as text with places: every value stays the text that was written, and knows its line and column.

Numbers are not read here: `0.9` must become 9/10, which no YAML loader's binary float is. Nothing is executed or
constructed, aliases are shared rather than copied, and the size of what they stand for is bounded.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from apportion.errors import PolicyError

LONGEST_TEXT = 1_000_000
LONGEST_VALUE = 10_000
LONG_TAG = re.compile(r"!\S{1000}")  # the parser needs the square of a tag's length, and tags are refused anyway
DEEPEST = 24
MOST_VALUES = 200_000
NOTHING = frozenset({"", "~", "null", "Null", "NULL"})

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Mark:
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Leaf:
    """A scalar as it was written; None for an empty or null one."""

    mark: Mark
    text: str | None
    size: int = 1


@dataclass(frozen=True, slots=True)
class Items:
    mark: Mark
    items: tuple["Node", ...]
    size: int


@dataclass(frozen=True, slots=True)
class Fields:
    mark: Mark
    keys: Mapping[str, Mark]
    values: Mapping[str, "Node"]
    size: int


Node = Leaf | Items | Fields
Event = Any  # ruamel's events carry no types


def read_tree(text: str, file: str) -> Node:
    """The one document in `text`, or a PolicyError that says where and what is wrong."""
    if len(text) > LONGEST_TEXT:
        raise PolicyError(
            "policy-too-large",
            f"a policy has at most {LONGEST_TEXT:,} characters; this one has {len(text):,}",
            where=f"{file}:1:1",
            hint="map labels with globs and templates instead of listing every name",
        )
    if tag := LONG_TAG.search(text):
        mark = Mark(text.count("\n", 0, tag.start()) + 1, tag.start() - text.rfind("\n", 0, tag.start()))
        raise PolicyError("policy-too-large", "a word that begins with ! is far too long", where=f"{file}:{mark}")
    return _Reader(file, _events(text, file)).document()


def plain(node: Node) -> Any:
    """Only text, lists and dicts: what the models read."""
    match node:
        case Leaf():
            return node.text
        case Items():
            return [plain(item) for item in node.items]
        case Fields():
            return {key: plain(value) for key, value in node.values.items()}


def find(root: Node, path: Sequence[str | int], *, key: bool = False) -> Mark:
    """Where the value at `path` begins (its key with `key`); where there is none, the nearest value around it."""
    marks = [root.mark, *(key_mark if key else node.mark for key_mark, node in _walk(root, path))]
    return marks[-1]


def exists(root: Node, path: Sequence[str | int]) -> bool:
    return len(list(_walk(root, path))) == len(path)


def _walk(node: Node, path: Sequence[str | int]) -> Iterator[tuple[Mark, Node]]:
    """The nodes along `path`, each with the place of its key, as far as they are there."""
    for step in path:
        if isinstance(node, Fields) and isinstance(step, str) and step in node.values:
            key_mark, node = node.keys[step], node.values[step]
        elif isinstance(node, Items) and isinstance(step, int) and 0 <= step < len(node.items):
            node = node.items[step]
            key_mark = node.mark
        else:
            return
        yield key_mark, node


def _events(text: str, file: str) -> Iterator[Event]:
    try:
        yield from YAML(typ="safe", pure=True).parse(text)
    except PolicyError:
        raise
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = _mark(mark) if mark else Mark(1, 1)
        raise _unreadable(str(error.problem or error.context), f"{file}:{where}") from error
    except YAMLError as error:
        raise _unreadable(str(error).partition("\n")[0], f"{file}:1:1") from error
    except Exception as error:  # the parser is not ours and some texts end in its own OverflowError or AttributeError
        raise _unreadable(f"the parser gave up ({type(error).__name__})", f"{file}:1:1") from error


def _mark(mark: Any) -> Mark:
    return Mark(mark.line + 1, mark.column + 1)


def _unreadable(what: str, where: str) -> PolicyError:
    hint = "check indentation, quotes and brackets; quote text that holds ': ', ' #' or begins with one of * & ! % @ {"
    return PolicyError("policy-yaml", f"this is not readable YAML: {what}", where=where, hint=hint)


class _Reader:
    def __init__(self, file: str, events: Iterator[Event]) -> None:
        self.file = file
        self.events = (event for event in events if not isinstance(event, DocumentStartEvent) or self.begins(event))
        self.anchors: dict[str, Node] = {}
        self.documents = 0
        self.size = 0

    def refuse(self, code: str, message: str, mark: Mark, hint: str = "") -> PolicyError:
        return PolicyError(code, message, where=f"{self.file}:{mark}", hint=hint)

    def begins(self, event: Event) -> bool:
        self.documents += 1
        if self.documents > 1:
            raise self.refuse(
                "policy-yaml", "a policy is one YAML document", _mark(event.start_mark), "remove the second `---`"
            )
        return False

    def document(self) -> Node:
        next(self.events)  # the stream's start
        event = next(self.events)
        if not isinstance(event, ScalarEvent | SequenceStartEvent | MappingStartEvent | AliasEvent):
            raise self.refuse("policy-type", "the policy is empty", Mark(1, 1), "begin with `policy: NAME`")
        node = self.node(event, 0)
        for _ in self.events:  # a second document is refused as it begins
            pass
        return node

    def node(self, event: Event, depth: int) -> Node:
        mark = _mark(event.start_mark)
        if isinstance(event, AliasEvent):
            return self.alias(event.anchor, mark)
        if getattr(event, "tag", None) is not None:
            raise self.refuse(
                "policy-yaml", f"YAML tags such as {str(event.tag)[:40]!r} are not used here", mark, "remove the tag"
            )
        if depth > DEEPEST:
            raise self.refuse("policy-too-large", f"values are nested more than {DEEPEST} deep", mark)
        node: Node
        if isinstance(event, ScalarEvent):
            node = Leaf(mark, None if event.implicit[0] and event.value in NOTHING else self.text(event.value, mark))
        elif isinstance(event, SequenceStartEvent):
            node = self.items(mark, depth)
        else:
            node = self.fields(mark, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        return self.count(node, mark, 1)

    def alias(self, name: str, mark: Mark) -> Node:
        if name not in self.anchors:
            raise self.refuse("policy-yaml", f"no finished value is marked &{name[:60]} above this", mark)
        node = replace(self.anchors[name], mark=mark)
        return self.count(node, mark, node.size)

    def count(self, node: Node, mark: Mark, size: int) -> Node:
        self.size += size
        if self.size > MOST_VALUES:
            raise self.refuse(
                "policy-too-large", f"a policy has at most {MOST_VALUES:,} values, aliases counted in full", mark
            )
        return node

    def items(self, mark: Mark, depth: int) -> Items:
        found = []
        while not isinstance(event := next(self.events), SequenceEndEvent):
            found.append(self.node(event, depth + 1))
        return Items(mark, tuple(found), 1 + sum(node.size for node in found))

    def fields(self, mark: Mark, depth: int) -> Fields:
        keys: dict[str, Mark] = {}
        values: dict[str, Node] = {}
        while not isinstance(event := next(self.events), MappingEndEvent):
            key_mark = _mark(event.start_mark)
            key = self.key(event, key_mark)
            if key in keys:
                raise self.refuse(
                    "policy-duplicate-key",
                    f"{key!r} is given twice, first at {self.file}:{keys[key]}",
                    key_mark,
                    "keep one of them",
                )
            value = self.node(next(self.events), depth + 1)
            keys[key] = key_mark
            # an empty value's own place is that of whatever comes next, perhaps lines below
            values[key] = replace(value, mark=key_mark) if isinstance(value, Leaf) and value.text is None else value
        return Fields(mark, keys, values, 1 + sum(node.size for node in values.values()))

    def key(self, event: Event, mark: Mark) -> str:
        if not isinstance(event, ScalarEvent) or event.tag is not None:
            raise self.refuse(
                "policy-type", "a key is a word or a text", mark, "quote it if it begins with one of [ { * & !"
            )
        if event.value == "<<" and event.implicit[0]:
            raise self.refuse(
                "policy-yaml", "merge keys (<<) are not used here", mark, "write the keys out, or alias the whole value"
            )
        if event.anchor is not None:
            self.anchors[event.anchor] = Leaf(mark, event.value)
        return self.text(event.value, mark)

    def text(self, value: str, mark: Mark) -> str:
        if len(value) > LONGEST_VALUE:
            raise self.refuse("policy-too-large", f"a value has at most {LONGEST_VALUE:,} characters", mark)
        for character in value:
            if unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t":
                raise self.refuse(
                    "policy-yaml", f"the character U+{ord(character):04X} cannot be used", mark, "remove it"
                )
        return unicodedata.normalize("NFC", value)
