"""Which things a rule is about: globs over labels, and templates filled from labels. No code runs in a policy."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import translate
from functools import lru_cache
from typing import Any

LONGEST_GLOB = 500  # `translate` needs the square of the number of open brackets
PIECE = re.compile(r"(?P<brace>\{\{|\}\})|\{(?P<label>[^{}\s](?:[^{}]*[^{}\s])?)\}|(?P<text>[^{}]+)")


@dataclass(frozen=True, slots=True)
class Glob:
    """`*`, `?` and `[...]` over a whole value, case-sensitive."""

    text: str
    regex: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "regex", re.compile(translate(self.text)))

    def matches(self, value: str) -> bool:
        return self.regex.match(value) is not None


@dataclass(frozen=True, slots=True)
class Condition:
    """One label: any of `globs` matches its value, or any of `without` does not. A label that is missing only meets a `not`."""

    key: str
    globs: tuple[Glob, ...]
    without: tuple[tuple[Glob, ...], ...] = ()

    def holds(self, labels: Mapping[str, str]) -> bool:
        value = find_label(labels, self.key)
        if value is None:
            return bool(self.without)
        for glob in self.globs:
            if glob.regex.match(value) is not None:
                return True
        return any(not any(glob.matches(value) for glob in globs) for globs in self.without)


@dataclass(frozen=True, slots=True)
class Selector:
    """All `conditions` hold and no selector of `excluded` matches. An empty selector matches everything."""

    conditions: tuple[Condition, ...] = ()
    excluded: tuple["Selector", ...] = ()

    @property
    def keys(self) -> frozenset[str]:
        own = frozenset(condition.key for condition in self.conditions)
        return own.union(*(selector.keys for selector in self.excluded))

    def matches(self, labels: Mapping[str, str]) -> bool:
        for condition in self.conditions:
            if not condition.holds(labels):
                return False
        return not any(selector.matches(labels) for selector in self.excluded)


class SelectorMistake(Exception):  # noqa: N818 - the document turns it into a PolicyError that has a place
    """What is wrong with a selector, and the path to it inside the selector."""

    def __init__(self, message: str, *path: str | int) -> None:
        super().__init__(message)
        self.message = message
        self.path = path


def find_label(labels: Mapping[str, str], key: str) -> str | None:
    """The label of that very name, else the first in order whose name ends in `.key`: `qos` finds `slurm.qos`."""
    if key in labels:
        return labels[key]
    ending = "." + key
    found = min([name for name in labels if name.endswith(ending)], default=None)
    return None if found is None else labels[found]


def parse_selector(value: Any) -> Selector:
    """A mapping of text, lists and `not`, as the YAML has it."""
    if not isinstance(value, dict):
        raise SelectorMistake("expected labels and the globs that they must match, such as {partition: dgx}")
    conditions = tuple(_condition(key, given) for key, given in value.items() if key != "not")
    excluded: tuple[Selector, ...] = ()
    if "not" in value:
        try:
            given = value["not"]
            excluded = tuple(parse_selector(part) for part in (given if isinstance(given, list) else [given]))
        except SelectorMistake as mistake:
            raise SelectorMistake(mistake.message, "not", *mistake.path) from None
    return Selector(conditions, excluded)


def _condition(key: str, given: Any) -> Condition:
    if not key:
        raise SelectorMistake("a label has a name", key)
    globs: list[Glob] = []
    without: list[tuple[Glob, ...]] = []
    for step, part in enumerate(given) if isinstance(given, list) else [(-1, given)]:
        path = (key,) if step < 0 else (key, step)
        if isinstance(part, str):
            globs.append(_glob(part, *path))
        elif isinstance(part, dict) and list(part) == ["not"]:
            without.append(_negated(part["not"], *path))
        else:
            raise SelectorMistake('expected a glob, a list of globs, or {not: "x*"}', *path)
    if not globs and not without:
        raise SelectorMistake("an empty list matches nothing", key)
    return Condition(key, tuple(globs), tuple(without))


def _negated(given: Any, *path: str | int) -> tuple[Glob, ...]:
    parts = given if isinstance(given, list) else [given]
    if not parts or not all(isinstance(part, str) for part in parts):
        raise SelectorMistake("expected a glob or a list of globs after `not`", *path, "not")
    return tuple(_glob(part, *path, "not") for part in parts)


def _glob(text: str, *path: str | int) -> Glob:
    if len(text) > LONGEST_GLOB:
        raise SelectorMistake(f"a glob has at most {LONGEST_GLOB:,} characters", *path)
    return Glob(text)


@lru_cache(maxsize=4096)  # the engine fills the same few templates for every workload
def pieces(template: str) -> tuple[tuple[str, str], ...]:
    """`("text", literal)` and `("label", key)` in turn. Doubled braces stand for themselves; anything else unbalanced is a ValueError."""
    return tuple(_pieces(template))


def labels_in(template: str) -> list[str]:
    """The labels that a template asks for, in their order."""
    return [part for kind, part in pieces(template) if kind == "label"]


def _pieces(template: str) -> Iterator[tuple[str, str]]:
    end = 0
    while end < len(template):
        found = PIECE.match(template, end)
        if found is None:
            raise ValueError(f"{template[end:][:40]!r} is not a label in braces such as {{slurm.wckey}}")
        end = found.end()
        if found["brace"]:
            yield "text", found["brace"][0]
        elif found["label"]:
            yield "label", found["label"]
        else:
            yield "text", found["text"]


def literal(template: str) -> str | None:
    """The text of a template that names no label; None for one that does."""
    parts = pieces(template)
    return None if any(kind == "label" for kind, _ in parts) else "".join(part for _, part in parts)


def fill(template: str, labels: Mapping[str, str]) -> str | None:
    """The template with its labels' values; None when a label that it names is missing or empty."""
    filled = []
    for kind, part in pieces(template):
        value = part if kind == "text" else find_label(labels, part)
        if not value:
            return None
        filled.append(value)
    return "".join(filled)
