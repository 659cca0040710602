"""Durations as people and schedulers write them: `5400`, `01:30:00`, `2-00:15:00`, `1h30m`, `90 min`, `PT1H30M`."""

import re
from collections.abc import Mapping
from fractions import Fraction

import pyarrow as pa

from apportion.errors import InputError
from apportion.model.numbers import parse_fraction
from apportion.model.rows import SECOND
from apportion.sources.cells.parsed import Parsed
from apportion.sources.cells.text import text

UNITS: Mapping[str, Fraction] = {
    "nanoseconds": Fraction(1, 10**9),
    "microseconds": Fraction(1, 10**6),
    "milliseconds": Fraction(1, 1000),
    "seconds": Fraction(1),
    "minutes": Fraction(60),
    "hours": Fraction(3600),
    "days": Fraction(86_400),
    "weeks": Fraction(604_800),
}
WORDS = {
    **UNITS,
    **{name.removesuffix("s"): unit for name, unit in UNITS.items()},
    "ns": UNITS["nanoseconds"], "us": UNITS["microseconds"], "µs": UNITS["microseconds"], "ms": UNITS["milliseconds"],
    "s": UNITS["seconds"], "sec": UNITS["seconds"], "secs": UNITS["seconds"], "m": UNITS["minutes"], "min": UNITS["minutes"],
    "mins": UNITS["minutes"], "h": UNITS["hours"], "hr": UNITS["hours"], "hrs": UNITS["hours"], "d": UNITS["days"], "w": UNITS["weeks"],
}  # fmt: skip
CLOCK = re.compile(r"(?:([0-9]{1,6})-)?([0-9]{1,6}):([0-5]?[0-9])(?::([0-5]?[0-9](?:\.[0-9]{1,9})?))?", re.ASCII)
PARTS = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)\s*([a-zµ]+)\s*", re.ASCII | re.IGNORECASE)
ISO = re.compile(
    r"P(?:([0-9.]{1,12})W)?(?:([0-9.]{1,12})D)?(?:T(?:([0-9.]{1,12})H)?(?:([0-9.]{1,12})M)?(?:([0-9.]{1,12})S)?)?",
    re.ASCII,
)
LONGEST_S = 10**11
ISO_UNITS = ("weeks", "days", "hours", "minutes", "seconds")


def durations(column: pa.Array, unit: Fraction) -> Parsed:
    """Whole seconds, parts of one cut off. Codes of bad rows: `invalid-number`, `negative-amount`, `too-many-digits`."""
    cells = text(column).to_pylist()
    known = {cell: whole_seconds(cell, unit) for cell in set(cells) if cell is not None}
    found = [None if cell is None else known[cell] for cell in cells]
    bad = {row: one for row, one in enumerate(found) if isinstance(one, str)}
    return Parsed(pa.array([None if isinstance(one, str) else one for one in found], SECOND), bad)


def whole_seconds(cell: str, unit: Fraction) -> int | str:
    found = seconds_of(cell, unit)
    if found is None:
        return "invalid-number"
    if found < 0:
        return "negative-amount"
    return int(found) if found < LONGEST_S else "too-many-digits"


def seconds_of(cell: str, unit: Fraction = UNITS["seconds"]) -> Fraction | None:
    """None where it is no duration. A plain number counts in `unit`; `01:30` is hours and minutes with days before it, else minutes and seconds."""
    cell = cell.strip()
    try:
        return parse_fraction(cell) * unit
    except InputError:
        found = (form(cell) for form in (clock, iso, parts))
        return next((seconds for seconds in found if seconds is not None), None)


def clock(cell: str) -> Fraction | None:
    found = CLOCK.fullmatch(cell)
    if not found:
        return None
    days, first, second, third = found.groups()
    if third is None:  # Slurm writes MM:SS, and D-HH:MM
        first, second, third = (first, second, "0") if days else ("0", first, second)
    return Fraction(days or 0) * 86_400 + Fraction(first) * 3600 + Fraction(second) * 60 + Fraction(third)


def iso(cell: str) -> Fraction | None:
    found = ISO.fullmatch(cell.upper())
    if not found or not any(found.groups()):
        return None
    try:
        return sum(
            (parse_fraction(part) * UNITS[unit] for part, unit in zip(found.groups(), ISO_UNITS, strict=True) if part),
            Fraction(0),
        )
    except InputError:
        return None


def parts(cell: str) -> Fraction | None:
    total, end = Fraction(0), 0
    while end < len(cell):
        found = PARTS.match(cell, end)
        word = found and (WORDS.get(found[2]) or WORDS.get(found[2].lower()))
        if not found or not word:
            return None
        total, end = total + Fraction(found[1]) * word, found.end()
    return total if end else None
