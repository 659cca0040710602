"""What a report says: levels of a volume at one moment, whoever printed it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from apportion.errors import InputError, Problem

KINDS = ("user", "group", "project", "fileset", "pool", "image", "dataset", "directory", "prefix")


@dataclass(frozen=True, slots=True)
class Level:
    """What one name holds: bytes, and bytes that it may hold (None: without limit)."""

    name: str
    used: int
    quota: int | None = None
    tier: str = ""  # a part of the volume that has a price of its own, such as a storage class


@dataclass(frozen=True, slots=True)
class Part:
    """One volume seen by one kind of owner. A report that is not `whole` speaks of the names that it lists alone."""

    volume: str
    kind: str
    levels: tuple[Level, ...]
    whole: bool = True


@dataclass(frozen=True, slots=True)
class Size:
    """How large a volume is, as `df` tells."""

    volume: str
    amount: int


@dataclass
class Said:
    """The text of one report with what the stanza adds to it; faults are collected with their line."""

    name: str
    text: str
    volume: str = ""
    kind: str = ""
    unit: int = 1024
    problems: list[Problem] = field(default_factory=list)

    def lines(self) -> Iterator[tuple[int, str]]:
        """Numbered from 1, without blank ones."""
        for number, line in enumerate(self.text.splitlines(), 1):
            if line.strip():
                yield number, line

    def fault(self, line: int, message: str, code: str = "malformed-row") -> None:
        self.problems.append(Problem(f"{self.name}:{line}", code, message))

    def misread(self, line: int, text: str) -> None:
        self.fault(line, f"the line is no row of the report and is left out: {text.strip()[:60]!r}")

    def own_volume(self) -> str:
        """Of reports that do not name theirs."""
        if not self.volume:
            raise InputError(
                "unnamed-volume",
                f"{self.name} does not say of which volume it speaks",
                where=self.name,
                hint='add volume = "..." to the source',
            )
        return self.volume

    def named(self, volume: str) -> str:
        """The stanza's name goes before the report's own."""
        return self.volume or volume.strip("/") or "root"


def gathered(volume: str, kind: str, levels: Iterable[Level], *, whole: bool = True) -> Part:
    """One level a name: quotas that hold in each fileset by itself, and snapshots of an image, add up."""
    found: dict[tuple[str, str], Level] = {}
    for level in levels:
        key = (level.name, level.tier)
        before = found.get(key)
        found[key] = level if before is None else added(before, level)
    return Part(volume, kind, tuple(found[key] for key in sorted(found)), whole)


def added(one: Level, other: Level) -> Level:
    quotas = [level.quota for level in (one, other) if level.quota is not None]
    return Level(one.name, one.used + other.used, sum(quotas) if quotas else None, one.tier)


SIZE = re.compile(r"\[?(\d+)(?:\.(\d+))?\s?(?:([kKMGTPE])(?:i?B)?|B)?\*?\]?", re.ASCII)
POWERS = {letter: 1024**power for power, letter in enumerate("KMGTPE", 1)}
UNLIMITED = frozenset({"", "-", "none", "0", "unlimited", "N/A"})


def size(text: str, unit: int = 1) -> int | None:
    """`1048576`, `1.5T`, `[1041408]` (some targets did not answer), `7000*` (over quota): bytes, or None where it is no size.

    `unit` is what a number without a suffix counts in. Suffixes are powers of 1024, as these tools mean them.
    """
    found = SIZE.fullmatch(text)
    if not found:
        return None
    digits, fraction, letter = found.groups()
    scale = POWERS[letter.upper()] if letter else 1 if text.rstrip("*]").endswith("B") else unit
    return round(Fraction(f"{digits}.{fraction}") * scale) if fraction else int(digits) * scale


def limit(*texts: str, unit: int = 1) -> int | None:
    """The first of the texts that sets a limit: the hard one before the soft one."""
    for text in texts:
        bare = text.rstrip("*")
        if bare not in UNLIMITED and (found := size(bare, unit)):
            return found
    return None


def is_rounded(text: str) -> bool:
    """A size in K or more was rounded by the tool that printed it."""
    found = SIZE.fullmatch(text)
    return bool(found and found[3] and (int(found[1]) or int(found[2] or 0)))


ROUNDED = re.compile(r"(?<![\w./-])\d+(?:\.\d+)?\s?[kKMGTPE](?:i?B)?\*?(?![\w/-])", re.ASCII)


def rounded(said: Said) -> Iterator[Problem]:
    """Once a report: its sizes are known to as many digits as it prints."""
    if any(is_rounded(match[0]) for match in ROUNDED.finditer(said.text)):
        yield Problem(
            said.name,
            "rounded-sizes",
            "the report prints rounded sizes; have it print bytes or KiB (without -h or -s, with -p or --format json)",
        )
