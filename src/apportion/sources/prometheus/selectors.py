"""Which series are asked for: a metric's name and what its labels must be, as PromQL writes it and as saved answers are searched."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

SPECIAL = re.compile(r"([\\.+*?()|\[\]{}^$])")


@dataclass(frozen=True, slots=True)
class Matcher:
    label: str
    operator: str  # =, !=, =~ or !~
    value: str

    def __str__(self) -> str:
        escaped = self.value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'{self.label}{self.operator}"{escaped}"'

    def holds(self, labels: Mapping[str, str]) -> bool:
        """A label that is not there is empty, as it is in Prometheus."""
        found = labels.get(self.label, "")
        same = found == self.value if "~" not in self.operator else bool(pattern(self.value).fullmatch(found))
        return same != self.operator.startswith("!")


@lru_cache(maxsize=1024)
def pattern(text: str) -> re.Pattern[str]:
    return re.compile(text)


@dataclass(frozen=True, slots=True)
class Selector:
    name: str
    matchers: tuple[Matcher, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}{{{','.join(map(str, self.matchers))}}}" if self.matchers else self.name

    def where(self, *more: Matcher) -> "Selector":
        return replace(self, matchers=(*self.matchers, *more))

    def holds(self, labels: Mapping[str, str]) -> bool:
        return labels.get("__name__", "") == self.name and all(matcher.holds(labels) for matcher in self.matchers)


def select(name: str, **equal: str) -> Selector:
    return Selector(name, tuple(Matcher(label, "=", value) for label, value in equal.items()))


def one_of(label: str, values: Iterable[str]) -> Matcher:
    """Values are matched as they are: their dots and brackets are quoted."""
    return Matcher(label, "=~", "|".join(SPECIAL.sub(r"\\\1", value) for value in values))


MATCHER = re.compile(r'\s*([A-Za-z_][A-Za-z0-9_]*)\s*(=~|!~|!=|=)\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)')


def parse_matchers(text: str) -> tuple[Matcher, ...] | None:
    """`cluster="a",job=~"kube.*"`; None where it is not that."""
    found, at = [], 0
    while at < len(text):
        one = MATCHER.match(text, at)
        if one is None:
            return None
        value = re.sub(r"\\(.)", lambda escape: {"n": "\n"}.get(escape[1], escape[1]), one[3])
        try:
            re.compile(value)
        except re.error:
            if "~" in one[2]:
                return None
        found.append(Matcher(one[1], one[2], value))
        at = one.end()
    return tuple(found)
