"""Small tables that Slurm's commands print: parsable (`|`) with a header, or columns set apart by spaces. Times of either form."""

import re
from collections.abc import Iterator
from zoneinfo import ZoneInfo

from apportion.errors import InputError
from apportion.model.times import is_ambiguous, is_skipped, parse_instant
from apportion.sources.cells.clock_changes import AMBIGUOUS, SKIPPED

SPACES = re.compile(r"\s+")
LOCAL = re.compile(r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\b(?![+-]|Z)", re.ASCII)
NEVER = frozenset({"", "unknown", "none", "n/a", "0"})


def rows_of(text: str, free: str = "") -> Iterator[dict[str, str]]:
    """One dictionary a line, by the header's names in small letters without spaces. The column `free` may hold the delimiter itself."""
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        return
    parsable = "|" in lines[0]
    names = [name.casefold().replace(" ", "") for name in cut(lines[0], len(lines[0]), parsable=parsable)]
    place = names.index(free) if free in names else len(names) - 1
    for line in lines[1:]:
        cells = cut(line, len(names), parsable=parsable)
        extra = len(cells) - len(names)
        if extra > 0:
            cells = [*cells[:place], "|".join(cells[place : place + extra + 1]), *cells[place + extra + 1 :]]
        if len(cells) == len(names):
            yield dict(zip(names, cells, strict=True))


def cut(line: str, most: int, *, parsable: bool) -> list[str]:
    return line.rstrip("\r").split("|") if parsable else SPACES.split(line.strip(), maxsplit=most - 1)


def clock_changes(text: str, zone: ZoneInfo) -> dict[str, list[str]]:
    """Local times of a table that name two moments, or none, by their code."""
    times = LOCAL.findall(text)
    return {
        AMBIGUOUS: [time for time in times if is_ambiguous(time, zone)],
        SKIPPED: [time for time in times if is_skipped(time, zone)],
    }


def instant(text: str, zone: ZoneInfo) -> int | None:
    """Seconds since 1970, or local time; None for what has not come or cannot be read."""
    word = text.strip()
    if word.casefold() in NEVER:
        return None
    if word.isdecimal() and len(word) <= 12:
        return int(word)
    try:
        return parse_instant(word, zone)
    except InputError:
        return None
