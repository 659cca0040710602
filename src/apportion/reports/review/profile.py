"""When a pool is held: each hour of the month with what was held in it, and what stands out of that."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from itertools import groupby
from math import ceil

from apportion.reports.advice.overnight import is_night
from apportion.reports.capacity import TAKEN, WEEK, Measured
from apportion.reports.held import places
from apportion.reports.report import Cell, Column

SATURDAY, HOUR_S = 5, 3600
HIGH = Fraction(3, 2)  # of the mean: a burst is a stretch of hours above it
COLUMNS = (
    Column("pool", "pool"),
    Column("unit", "unit", quiet=True),
    Column("mean", "mean", "quantity"),
    Column("p95", "95 %", "quantity"),
    Column("peak", "peak", "quantity"),
    Column("peak_to_mean", "peak/mean", "quantity"),
    Column("night", "at night", "share"),
    Column("weekend", "at weekends", "share"),
    Column("bursts", "bursts", "count"),
    Column("longest", "longest h", "count", quiet=True),
)


@dataclass(frozen=True, slots=True)
class Hour:
    """From `start` in local time: units held, and units that there were."""

    start: datetime
    held: Fraction
    there: Fraction

    @property
    def is_night(self) -> bool:
        return is_night(self.start.hour)

    @property
    def is_weekend(self) -> bool:
        return self.start.weekday() >= SATURDAY


@dataclass(frozen=True, slots=True)
class Profile:
    """The hours between the first and the last of which anything is known."""

    pool: str
    unit: str
    hours: tuple[Hour, ...]

    @property
    def held(self) -> Fraction:
        return sum((hour.held for hour in self.hours), Fraction(0))

    @property
    def mean(self) -> Fraction:
        return self.held / len(self.hours) if self.hours else Fraction(0)

    @property
    def peak(self) -> Fraction:
        return max((hour.held for hour in self.hours), default=Fraction(0))

    @property
    def p95(self) -> Fraction:
        """What 95 of 100 hours do not exceed."""
        levels = sorted(hour.held for hour in self.hours)
        return levels[ceil(Fraction(95, 100) * len(levels)) - 1] if levels else Fraction(0)

    @property
    def peak_to_mean(self) -> Fraction:
        return self.peak / self.mean if self.mean else Fraction(0)

    @property
    def bursts(self) -> tuple[tuple[Hour, ...], ...]:
        """Stretches of hours above half as much again as the mean."""
        high_above = HIGH * self.mean
        grouped = groupby(self.hours, key=lambda hour: hour.held > high_above)
        return tuple(tuple(some) for high, some in grouped if high)

    def share(self, wanted: Callable[[Hour], bool]) -> Fraction:
        """Of what was held, what was held in some hours."""
        return (
            sum((hour.held for hour in self.hours if wanted(hour)), Fraction(0)) / self.held
            if self.held
            else Fraction(0)
        )

    def cells(self) -> tuple[Cell, ...]:
        bursts = self.bursts
        return (
            self.pool, self.unit, places(self.mean), places(self.p95), places(self.peak), places(self.peak_to_mean),
            places(self.share(lambda hour: hour.is_night)), places(self.share(lambda hour: hour.is_weekend)),
            len(bursts), max(map(len, bursts), default=0),
        )  # fmt: skip


def profile(measured: Measured) -> Profile:
    """Cells of less than an hour are added up to whole ones."""
    held: dict[int, Fraction] = defaultdict(Fraction)
    there: dict[int, Fraction] = defaultdict(Fraction)
    starts: dict[int, datetime] = {}
    for one in measured.stretches:
        number = int(one.start.timestamp()) // HOUR_S
        starts.setdefault(number, one.start)
        held[number] += sum((one.parts.get(name, Fraction(0)) for name in TAKEN), Fraction(0))
        there[number] += sum(one.parts.values(), Fraction(0))
    order = sorted(number for number in starts if there[number])
    known = [number for number in sorted(starts) if order and order[0] <= number <= order[-1]]
    hours = tuple(Hour(starts[number], held[number], there[number]) for number in known)
    return Profile(measured.pool, measured.unit, hours)


def mean(hours: Iterable[Hour]) -> Fraction | None:
    some = [hour.held for hour in hours]
    return sum(some, Fraction(0)) / len(some) if some else None


def by_week(hours: Sequence[Hour]) -> tuple[tuple[Fraction, ...], ...]:
    """The mean of each hour of the week: seven days of 24."""
    found: dict[tuple[int, int], list[Hour]] = defaultdict(list)
    for hour in hours:
        found[hour.start.weekday(), hour.start.hour].append(hour)
    return tuple(tuple(mean(found[day, hour]) or Fraction(0) for hour in range(24)) for day in range(len(WEEK)))


def by_day(hours: Sequence[Hour]) -> dict[str, list[Hour]]:
    found: dict[str, list[Hour]] = {}
    for hour in hours:
        found.setdefault(f"{hour.start:%Y-%m-%d}", []).append(hour)
    return found
