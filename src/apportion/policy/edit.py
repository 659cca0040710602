"""Changes of a policy's text that touch nothing else: comments, blanks and quotes stay as they are, byte for byte."""

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.events import (
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from apportion.errors import PolicyError
from apportion.policy.load import load_policy
from apportion.policy.match import labels_in
from apportion.policy.rules import OwnerRule
from apportion.policy.tree import NOTHING, Path

WORD = re.compile(r"[A-Za-z_][\w./-]*")
DASH = re.compile(r"\s*-(\s|$)")
INDENT = "  "


@dataclass(frozen=True, slots=True)
class NewOwner:
    """An owner rule that is still to be written: `pattern` is a glob over the label's value; the others are templates."""

    label: str
    pattern: str
    team: str
    project: str = ""
    user: str = ""

    @property
    def text(self) -> str:
        """As it stands in a policy, without the dash."""
        given = {"team": self.team, "project": self.project, "user": self.user}
        owner = ", ".join(f"{name}: {worded(value)}" for name, value in given.items() if value)
        return f"{{when: {{{worded(self.label)}: {quoted(self.pattern)}}}, {owner}}}"


@dataclass(frozen=True, slots=True)
class Edited:
    """The whole new text, and the line on which it differs first."""

    text: str
    line: int


def with_owner(text: str, file: str, rule: NewOwner, place: int | None = None) -> Edited:
    """The rule before the one that has number `place` now; at the end of the specific ones unless given, since the first that matches wins."""
    policy = load_policy(text, file)
    at = usual_place(policy.owners) if place is None else max(0, min(place, len(policy.owners)))
    owners = spans_of(text).values.get("owners")
    edited = first_owner(text, owners, rule) if owners is None or not owners.items else None
    if edited is None and owners is not None:
        edited = (among_flow if owners.flow else among_lines)(text, owners, rule, at)
    return checked(edited or Edited(text, 1), file)


def usual_place(owners: tuple[OwnerRule, ...]) -> int:
    """After the last rule that is about some values of a label rather than all of them."""
    for place in range(len(owners), 0, -1):
        if not is_general(owners[place - 1]):
            return place
    return 0


def is_general(rule: OwnerRule) -> bool:
    """It takes whatever has a label, or reads the team from it."""
    globs = [glob.text for condition in rule.when.conditions for glob in condition.globs]
    return bool(labels_in(rule.team)) or all(text == "*" for text in globs)


def with_setting(text: str, file: str, path: Path, value: str) -> Edited:
    """The value at a path such as ("pools", "h100", "idle"), written as YAML; the mapping around it must be there."""
    around = spans_of(text)
    for step in path[:-1]:
        found = (
            around.items[step] if isinstance(step, int) and step < len(around.items) else around.values.get(str(step))
        )
        if found is None:
            raise no_place(path, file)
        around = found
    key = str(path[-1])
    here = around.values.get(key)
    if here is not None and here.end > here.start:
        return checked(spliced(text, here.start, here.end, value), file)
    if here is not None or not around.values:
        raise no_place(path, file)
    if around.flow:
        last = max(around.values.values(), key=lambda span: span.end)
        return checked(spliced(text, last.end, last.end, f", {key}: {value}"), file)
    first = min(around.keys.values())
    column = first - line_start(text, first)
    end = line_end(text, max(span.end for span in around.values.values()))
    return checked(spliced(text, end, end, newline(text) + " " * column + f"{key}: {value}"), file)


def no_place(path: Path, file: str) -> PolicyError:
    name = ".".join(str(step) for step in path)
    return PolicyError("policy-edit", f"there is no place for {name} in {file}", hint="edit the text itself")


def checked(edited: Edited, file: str) -> Edited:
    """It must still be a policy: the mistake is told with its place in the new text."""
    load_policy(edited.text, file)
    return edited


def first_owner(text: str, owners: "Span | None", rule: NewOwner) -> Edited:
    ending = newline(text)
    if owners is not None and owners.flow:
        return spliced(text, owners.start + 1, owners.start + 1, rule.text)
    line = f"{INDENT}- {rule.text}"
    if owners is not None:
        if owners.end > owners.start:
            raise no_place(("owners",), "the policy")
        end = line_end(text, owners.start)
        return spliced(text, end, end, ending + line)
    before = spans_of(text).keys.get("pools")
    whole = f"owners:{ending}{line}{ending}"
    if before is None:
        return spliced(text, len(text), len(text), ("" if text.endswith("\n") else ending) + whole)
    start = above_remarks(text, line_start(text, before), 0)
    return spliced(text, start, start, whole + ending)


def among_flow(text: str, owners: "Span", rule: NewOwner, at: int) -> Edited:
    if at < len(owners.items):
        start = owners.items[at].start
        return spliced(text, start, start, rule.text + ", ")
    end = owners.items[-1].end
    return spliced(text, end, end, ", " + rule.text)


def among_lines(text: str, owners: "Span", rule: NewOwner, at: int) -> Edited:
    """Before a rule and the remarks right above it, or after the last one."""
    dash = dash_line(text, owners.items[0].start)
    indent = text[dash : dash + len(text[dash:]) - len(text[dash:].lstrip(" "))]
    if at == len(owners.items):
        end = line_end(text, owners.items[-1].end)
        return spliced(text, end, end, f"{newline(text)}{indent}- {rule.text}")
    floor = line_end(text, owners.items[at - 1].end) if at else line_end(text, owners.key)
    start = above_remarks(text, dash_line(text, owners.items[at].start), floor)
    return spliced(text, start, start, f"{indent}- {rule.text}{newline(text)}")


def dash_line(text: str, offset: int) -> int:
    """Where the line with an item's dash begins: its own, or one above."""
    start = line_start(text, offset)
    while start and not DASH.match(text[start : line_end(text, start)]):
        start = line_start(text, start - 1)
    return start


def above_remarks(text: str, start: int, floor: int) -> int:
    while start > floor + 1:
        above = line_start(text, start - 1)
        if above < floor or not text[above:start].lstrip().startswith("#"):
            break
        start = above
    return start


def spliced(text: str, start: int, end: int, new: str) -> Edited:
    shift = new.startswith(("\n", "\r"))
    return Edited(text[:start] + new + text[end:], text.count("\n", 0, start) + 1 + shift)


def line_start(text: str, offset: int) -> int:
    return text.rfind("\n", 0, offset) + 1


def line_end(text: str, offset: int) -> int:
    """Where the line ends, before its newline."""
    found = text.find("\n", offset)
    end = len(text) if found < 0 else found
    return end - 1 if text[:end].endswith("\r") else end


def newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def worded(value: str) -> str:
    """A plain word as it is; anything else in quotes."""
    return value if WORD.fullmatch(value) and value not in NOTHING else quoted(value)


def quoted(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Span:
    """Where a value is written: offsets into the text, without what only follows it. `key` is where its key begins."""

    start: int
    end: int
    flow: bool = False  # in brackets
    keys: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, "Span"] = field(default_factory=dict)
    items: tuple["Span", ...] = ()
    key: int = 0


def spans_of(text: str) -> Span:
    """Of the root; the text has been read as a policy before."""
    events = YAML(typ="safe", pure=True).parse(text)
    for event in events:
        if isinstance(event, DocumentStartEvent):
            return span_at(next(events), events, text)
    return Span(0, 0)


def span_at(event: Any, events: Iterator[Any], text: str) -> Span:
    start = event.start_mark.index
    if isinstance(event, SequenceStartEvent):
        return listed(event, events, text)
    if isinstance(event, MappingStartEvent):
        return mapped(event, events, text)
    end = event.end_mark.index
    blank = isinstance(event, ScalarEvent) and event.style in ("|", ">")
    return Span(start, start + len(text[start:end].rstrip()) if blank else end)


def listed(event: Any, events: Iterator[Any], text: str) -> Span:
    items: list[Span] = []
    while not isinstance(inner := next(events), SequenceEndEvent):
        items.append(span_at(inner, events, text))
    flow = bool(event.flow_style)
    end = inner.end_mark.index if flow else max((item.end for item in items), default=event.end_mark.index)
    return Span(event.start_mark.index, end, flow, items=tuple(items))


def mapped(event: Any, events: Iterator[Any], text: str) -> Span:
    keys: dict[str, int] = {}
    values: dict[str, Span] = {}
    while not isinstance(inner := next(events), MappingEndEvent):
        name = unicodedata.normalize("NFC", str(inner.value))
        keys[name] = inner.start_mark.index
        value = span_at(next(events), events, text)
        if value.start == value.end:  # an empty value's own place is that of whatever comes next
            value = Span(inner.end_mark.index, inner.end_mark.index)
        values[name] = Span(value.start, value.end, value.flow, value.keys, value.values, value.items, keys[name])
    flow = bool(event.flow_style)
    last = max((span.end for span in values.values()), default=event.end_mark.index)
    return Span(event.start_mark.index, inner.end_mark.index if flow else last, flow, keys, values)
