"""Which invoice months a window calls for.

The export only ever grows: corrections and late usage come as new rows, days later, and name the invoice month that they change. So a month is always read
whole, and a delivery of it replaces the one before:

    each month that the window touches, by more than a time zone can shift it
    each earlier month that got rows since the window's start

A window that begins with a month was stated (`since`, or a period asked for), and earlier months are not wanted then. One that follows what the books have
never does: it begins ten days and half a minute before what they reach, and they reach whole minutes.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

from apportion.model.times import DAY_S, Interval, Period

FINAL_S = 5 * DAY_S
OVERLAP_S = 10 * DAY_S + 30
SHIFT_S = 14 * 3600  # the time zone farthest ahead
ZONE = ZoneInfo("UTC")


def months_due(window: Interval, changed: Mapping[str, int]) -> list[Interval]:
    """`changed` are the invoice months with rows since the window's start, such as 202610."""
    touched = touched_by(window)
    earlier = [] if month_at(window.start_s).start_s == window.start_s else [month_named(text) for text in changed]
    return sorted({*touched, *(month for month in earlier if month.start_s < touched[0].start_s)})


def touched_by(window: Interval) -> list[Interval]:
    middle = month_at((window.start_s + window.end_s) // 2)
    found, month = [], month_at(window.start_s)
    while month.start_s < window.end_s:
        shared = min(month.end_s, window.end_s) - max(month.start_s, window.start_s)
        if shared > SHIFT_S or month == middle:
            found.append(month)
        month = month_at(month.end_s)
    return found


def month_at(second: int) -> Interval:
    at = datetime.fromtimestamp(second, tz=UTC)
    return Period(at.year, at.month).interval(ZONE)


def month_named(text: str) -> Interval:
    return Period(int(text[:4]), int(text[4:])).interval(ZONE)


def month_text(month: Interval) -> str:
    return datetime.fromtimestamp(month.start_s, tz=UTC).strftime("%Y-%m")
