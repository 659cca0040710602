"""The oracle's clock: days, hours and cells of a zone, and two ways of counting seconds."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

Span = tuple[int, int]
HOUR = 3600


@lru_cache(maxsize=100_000)
def day_of(second: int, zone: ZoneInfo) -> date:
    return datetime.fromtimestamp(second, tz=zone).date()


@lru_cache(maxsize=20_000)
def day_begins(day: date, zone: ZoneInfo) -> int:
    """First second of `day`: offsets are whole quarters of an hour, so stepping by them from well before finds it."""
    second = int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) - 2 * 86_400
    while day_of(second, zone) < day:
        second += 900
    return second


def day_span(day: date, zone: ZoneInfo) -> Span:
    return day_begins(day, zone), day_begins(day + timedelta(days=1), zone)


def days_touched(span: Span, zone: ZoneInfo) -> list[date]:
    first, last = day_of(span[0], zone), day_of(max(span[0], span[1] - 1), zone)
    return [first + timedelta(days=i) for i in range((last - first).days + 1)]


@lru_cache(maxsize=64)
def cell_seconds(zone: ZoneInfo) -> int:
    """3600, or what divides every offset of the zone around 2026."""
    moments = (datetime(year, month, 15, tzinfo=zone) for year in (2025, 2026, 2027) for month in range(1, 13))
    offsets = [int((moment.utcoffset() or timedelta()).total_seconds()) for moment in moments]
    return math.gcd(HOUR, *offsets)


def whole_cells(span: Span, zone: ZoneInfo) -> Span:
    """Widened to whole cells counted from local midnight; at least one."""
    cell = cell_seconds(zone)
    first = day_begins(day_of(span[0], zone), zone)
    start = first + (span[0] - first) // cell * cell
    last = day_begins(day_of(max(span[0], span[1] - 1), zone), zone)
    end = last - (last - span[1]) // cell * cell
    return start, max(end, start + cell)


def hours_touched(span: Span, zone: ZoneInfo) -> list[Span]:
    """Hours counted from each local midnight; the last of a day may be short."""
    found = []
    for day in days_touched(span, zone):
        begin, end = day_span(day, zone)
        found += [(at, min(at + HOUR, end)) for at in range(begin, end, HOUR)]
    return [hour for hour in found if hour[0] < span[1] and hour[1] > span[0]]


class Breakpoints:
    """Counts seconds by the ends of intervals."""

    def common(self, one: Span, other: Span) -> int:
        return max(0, min(one[1], other[1]) - max(one[0], other[0]))

    def union(self, spans: Iterable[Span]) -> int:
        total, reached = 0, -(10**18)
        for start, end in sorted(spans):
            total += max(0, end - max(start, reached))
            reached = max(reached, end)
        return total

    def by_day(self, span: Span, zone: ZoneInfo) -> list[tuple[date, Span]]:
        parts = [(day, cut(span, day_span(day, zone))) for day in days_touched(span, zone)]
        return [(day, part) for day, part in parts if part[1] > part[0]]


@dataclass(frozen=True)
class EverySecond:
    """The same by looking at each second in turn; for worlds of a few hours."""

    def common(self, one: Span, other: Span) -> int:
        short, long = sorted((one, other), key=lambda span: span[1] - span[0])
        return sum(1 for second in range(*short) if long[0] <= second < long[1])

    def union(self, spans: Iterable[Span]) -> int:
        seconds: set[int] = set()
        for span in spans:
            seconds.update(range(*span))
        return len(seconds)

    def by_day(self, span: Span, zone: ZoneInfo) -> list[tuple[date, Span]]:
        found: dict[date, list[int]] = {}
        for second in range(*span):
            found.setdefault(datetime.fromtimestamp(second, tz=zone).date(), []).append(second)
        return [(day, (seconds[0], seconds[-1] + 1)) for day, seconds in found.items()]


Clock = Breakpoints | EverySecond


def cut(span: Span, inside: Span) -> Span:
    start = max(span[0], inside[0])
    return start, max(start, min(span[1], inside[1]))
