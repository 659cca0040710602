"""Dates of a log whose lines have a time of day alone: FlexLM writes the date every few hours (TIMESTAMP) and when a server starts.

The day moves on where the time of day jumps back. A step back of an hour or so is a clock that was set, as at the end of summer time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

SET_BACK_S = 5400
QUARTER_S = 900
START = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Stamp:
    """A line's time of day in seconds, and its date where it names one."""

    second: int
    day: date | None = None


@dataclass
class Clock:
    """Dates line after line, from the day of the first."""

    day: date
    zone: ZoneInfo
    second: int = 0
    at_s: int | None = None
    guesses: int = 0  # lines in an hour that comes twice, as long as no line after them shows which of the two it was

    def at(self, stamp: Stamp) -> int:
        """UTC seconds of the next line."""
        if stamp.day is not None:
            self.day = stamp.day  # days without a line, or a clock that was set
        elif stamp.second < self.second - SET_BACK_S:
            self.day += timedelta(days=1)
        self.second = stamp.second
        early, late = hours_of(self.day, stamp.second, self.zone)
        is_later = self.at_s is not None and early < self.at_s <= late
        self.guesses = 0 if is_later else self.guesses + (early < late)
        self.at_s = late if is_later else early
        return self.at_s


def first_day(stamps: Iterable[Stamp]) -> date | None:
    """The day of the first line: the first date less the midnights before it; None where no line names one."""
    midnights, before = 0, 0
    for stamp in stamps:
        midnights += stamp.second < before - SET_BACK_S
        before = stamp.second
        if stamp.day is not None:
            return stamp.day - timedelta(days=midnights)
    return None


def hours_of(day: date, second: int, zone: ZoneInfo) -> tuple[int, int]:
    """The two moments with one name when clocks go back; the same moment twice at other times."""
    early, late = shifts(day, second // QUARTER_S, zone)
    return second + early, second + max(early, late)


@lru_cache(maxsize=4096)
def shifts(day: date, quarter: int, zone: ZoneInfo) -> tuple[int, int]:
    """What to add to a second of the day for UTC: offsets change on quarters of an hour."""
    local = datetime(day.year, day.month, day.day) + timedelta(seconds=quarter * QUARTER_S)  # noqa: DTZ001 - local by intention
    early, late = (int((local.replace(tzinfo=zone, fold=fold) - START).total_seconds()) for fold in (0, 1))
    return early - quarter * QUARTER_S, late - quarter * QUARTER_S
