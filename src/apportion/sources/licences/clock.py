"""Dates of a log whose lines have a time of day alone: FlexLM writes the date every few hours (TIMESTAMP) and when a server starts.

The day moves on where the time of day jumps back. A step back of an hour or so is a clock that was set, as at the end of summer time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

SET_BACK_S = 5400
START = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Stamp:
    """A line's time of day in seconds, and its date where it names one."""

    second: int
    day: date | None = None


def dated(stamps: Sequence[Stamp], zone: ZoneInfo) -> list[int] | None:
    """UTC seconds of each line; None where no line names a date."""
    anchor = first_day(stamps)
    if anchor is None:
        return None
    day, before = anchor, stamps[0].second
    found: list[int] = []
    for stamp in stamps:
        if stamp.day is not None:
            day = stamp.day  # days without a line, or a clock that was set
        elif stamp.second < before - SET_BACK_S:
            day += timedelta(days=1)
        before = stamp.second
        found.append(utc(day, stamp.second, zone, found[-1] if found else None))
    return found


def first_day(stamps: Sequence[Stamp]) -> date | None:
    """The day of the first line: the first date less the midnights before it."""
    midnights, before = 0, stamps[0].second if stamps else 0
    for stamp in stamps:
        midnights += stamp.second < before - SET_BACK_S
        before = stamp.second
        if stamp.day is not None:
            return stamp.day - timedelta(days=midnights)
    return None


def utc(day: date, second: int, zone: ZoneInfo, before: int | None) -> int:
    """Of the two hours with one name when clocks go back, the first that is not before the line above."""
    local = datetime(day.year, day.month, day.day) + timedelta(seconds=second)  # noqa: DTZ001 - local by intention
    early, late = (int((local.replace(tzinfo=zone, fold=fold) - START).total_seconds()) for fold in (0, 1))
    return late if before is not None and early < before <= late else early
