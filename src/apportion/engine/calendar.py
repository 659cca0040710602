"""The grid of time: equal cells that never straddle a local midnight, and the slots over which one price is formed.

A slot is a half-open range of cells. Hour and day slots divide the window; the period slot of a cost line is its billing period,
or its own charge period where the vendor bills late, so period slots may overlap.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from math import gcd
from zoneinfo import ZoneInfo

from apportion.model.times import Interval, day_start, local_day

HOUR_S = 3600
QUARTER_S = 900

Slot = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Calendar:
    """Whole local days from `start_s`, cut into `cell_s` seconds; `day_cells[i]` is the first cell of `days[i]`."""

    start_s: int
    cell_s: int
    days: tuple[date, ...]
    day_cells: tuple[int, ...]
    day_of: tuple[int, ...]

    @property
    def cells(self) -> int:
        return len(self.day_of)

    @property
    def window(self) -> Interval:
        return self.interval((0, self.cells))

    def interval(self, slot: Slot) -> Interval:
        """A range of cells in seconds."""
        first, last = slot
        return Interval(self.start_s + first * self.cell_s, self.start_s + last * self.cell_s)

    def cell(self, second: int) -> int:
        return (second - self.start_s) // self.cell_s

    def widen(self, interval: Interval) -> Slot:
        """The whole cells that an interval touches; at least one."""
        first = self.cell(interval.start_s)
        return first, max(first + 1, -((self.start_s - interval.end_s) // self.cell_s))

    def slot_of(self, cell: int, kind: str) -> Slot:
        """The hour or day slot that holds a cell. Hours are counted from each local midnight."""
        day = self.day_of[cell]
        first, last = self.day_cells[day], self.day_cells[day + 1]
        if kind == "day":
            return first, last
        per_hour = HOUR_S // self.cell_s
        start = cell - (cell - first) % per_hour
        return start, min(start + per_hour, last)

    def spread(self, interval: Interval) -> list[tuple[int, int]]:
        """(cell, seconds) of an interval, clipped to the window; a zero-length one counts as its first whole cell."""
        if interval.seconds <= 0:
            return [(self.cell(interval.start_s), self.cell_s)]
        first, last = self.widen(interval)
        start = self.start_s + first * self.cell_s
        if last - first == 1:
            return [(first, interval.seconds)]
        middle = [(cell, self.cell_s) for cell in range(first + 1, last - 1)]
        head = (first, start + self.cell_s - interval.start_s)
        tail = (last - 1, interval.end_s - (self.start_s + (last - 1) * self.cell_s))
        return [head, *middle, tail]


def make_calendar(interval: Interval, zone: ZoneInfo, bounds: Iterable[int] = ()) -> Calendar:
    """The local days that an interval touches, in cells fine enough for `bounds` (of billing periods) to fall between cells.

    Bounds that are not on a quarter of an hour are not worth a finer grid: slots are widened to whole cells.
    """
    first = local_day(interval.start_s, zone)
    last = local_day(max(interval.start_s, interval.end_s - 1), zone)
    days = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    starts = [day_start(day, zone) for day in [*days, last + timedelta(days=1)]]
    cell_s = HOUR_S
    for start in [*starts, *(bound for bound in bounds if bound % QUARTER_S == 0)]:
        cell_s = gcd(cell_s, start - starts[0])
    edges = [(start - starts[0]) // cell_s for start in starts]
    day_of = [n for n in range(len(days)) for _ in range(edges[n + 1] - edges[n])]
    return Calendar(starts[0], cell_s, tuple(days), tuple(edges), tuple(day_of))
