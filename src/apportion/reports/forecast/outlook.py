"""From the days that are known to the end of a month: a method, an amount, and how sure it is.

At every origin before (the ends of days 7, 14, 21 and of the month) each method had forecast the sum of as many days as are left now, with what was known then.
The one with the smallest errors goes on; how far it was off says how wide the interval is. Student's t, with a few errors that are assumed before any is known,
keeps it honest where there were few; errors count relative to what the group spent at the time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Any

import numpy as np

from apportion.model.times import Period
from apportion.reports.forecast.methods import MIDDLE, library, paths
from apportion.reports.forecast.series import Floats, Series, summed
from apportion.reports.sums import ZERO, total
from apportion.reports.words import rounded

LEVELS = (50, 80, 95)
CHECKS = (7, 14, 21)  # days of a month at whose end forecasts are tried
APART = 7.6  # days between origins on average: longer stretches overlap and say less together
MOST, FEWEST = 28, 4  # origins that are looked back at; that a choice needs
CLEARLY = 0.85  # of the error of the middle: what is hardly better was lucky
RECENT, BEGINNING = 28, 7
WILD = 1.5  # times what is usually spent: an error beyond it happened once, and counts as that
ASSUMED, ASSUMED_COUNT = 0.35, 1.5  # an error relative to what is spent meanwhile, and how many such count as seen
DIGITS = 4  # that a forecast can stand for


@dataclass(frozen=True, slots=True)
class Range:
    """`level` of a hundred months would end between these."""

    level: int
    low: Decimal
    high: Decimal


@dataclass(frozen=True, slots=True)
class Outlook:
    """Where a month ends for one group. `spent` is what its known days came to, as they are; `remaining` the days to come. `spread` is how far such
    sums are usually off, and `freedom` on how many errors that rests.
    """

    name: str
    currency: str
    spent: Decimal
    remaining: Decimal
    spread: float
    freedom: float
    method: str
    never_negative: bool = True

    @property
    def amount(self) -> Decimal:
        return total([self.spent, self.remaining])

    @property
    def ranges(self) -> tuple[Range, ...]:
        return tuple(self.range(level) for level in LEVELS)

    def range(self, level: int) -> Range:
        return Range(level, *(self.quantile(0.5 + side * level / 200) for side in (-1, 1)))

    def quantile(self, part: float) -> Decimal:
        if not self.spread:
            return self.amount
        ahead = float(self.remaining) + self.spread * float(t_table().stdtrit(self.freedom, part))
        return total([self.spent, money(max(ahead, 0.0) if self.never_negative else ahead, self.currency)])

    def chance_over(self, limit: Decimal) -> Decimal:
        """How likely it is that the month ends above `limit`, between 0 and 1."""
        if not self.spread or (self.never_negative and limit < self.spent):
            return Decimal(int(self.amount > limit))
        away = (float(limit) - float(self.amount)) / self.spread
        return Decimal(f"{1 - float(t_table().stdtr(self.freedom, away)):.2f}")


def t_table() -> Any:
    return library("scipy.special")


def money(amount: float, currency: str) -> Decimal:
    """Digits that nobody can know are not shown."""
    return rounded(Decimal(f"{amount:.{DIGITS}g}"), currency)


@dataclass
class Ahead:
    """One series with what every method said at every origin; made when first asked for, and kept."""

    series: Series
    made: dict[int, dict[str, Floats]] = field(default_factory=dict)

    @cached_property
    def sums(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(self.series.values)])

    @cached_property
    def size(self) -> Floats:
        return np.concatenate([[0.0], np.cumsum(np.abs(self.series.values))])

    @cached_property
    def first(self) -> int:
        """The days before its first spending."""
        some = np.flatnonzero(self.series.values)
        return int(some[0]) if len(some) else len(self.series.amounts)

    @cached_property
    def origins(self) -> list[int]:
        """How many days were known at each."""
        days = ((n, self.series.first + timedelta(days=n)) for n in range(1, len(self.series.amounts) + 1))
        return [n for n, after in days if after.day == 1 or after.day - 1 in CHECKS]

    def said(self, known: int, method: str, days: int) -> float:
        """What `method` would have said of the next `days`; the middle speaks for one that had too few days then."""
        if known not in self.made:
            self.made[known] = {name: np.cumsum(path) for name, path in paths(self.series.values[:known]).items()}
        found = self.made[known]
        return float(found.get(method, found[MIDDLE])[days - 1]) if days else 0.0

    def came(self, known: int, days: int) -> float:
        return float(self.sums[known + days] - self.sums[known])

    def usual(self, known: int, days: int) -> float:
        """What as many days cost: lately or all the time, whichever is more."""
        first = min(self.first, known)
        lately = (self.size[known] - self.size[max(first, known - RECENT)]) / max(1, min(RECENT, known - first))
        return days * max(float(lately), float(self.size[known]) / max(1, known - first))

    def before(self, known: int, days: int) -> list[int]:
        """The origins whose next `days` were all over by then, but for the group's first days: how it began says little of how it goes on."""
        begun = self.first + BEGINNING
        return [origin for origin in self.origins if begun <= origin <= known - days][-MOST:]

    def errors(self, method: str, known: int, days: int) -> Floats:
        return np.array([self.came(o, days) - self.said(o, method, days) for o in self.before(known, days)])

    def relative(self, method: str, known: int, days: int) -> Floats:
        sizes = np.array([self.usual(origin, days) for origin in self.before(known, days)])
        return self.errors(method, known, days) / np.where(sizes > 0, sizes, 1.0)

    def chosen(self, known: int, days: int) -> str:
        """The method whose errors were smallest, if it is clearly better than the middle of all."""
        if len(self.before(known, days)) < FEWEST:
            return MIDDLE
        self.said(known, MIDDLE, days)
        off = {name: float(np.abs(self.errors(name, known, days)).sum()) for name in self.made[known]}
        best = min(off, key=lambda name: (off[name], name))
        return best if off[best] < CLEARLY * off[MIDDLE] else MIDDLE


def outlook(ahead: Ahead, through: date, month: Period) -> Outlook:
    """Of a month whose days are known through `through`, which lies in it or is the day before."""
    series, days = ahead.series, (month.last_day - through).days
    known = series.known(through)
    spent = series.between(month.first_day, through)
    lowest = bool((series.values[:known] >= 0).all())
    if days <= 0:
        return Outlook(series.name, series.currency, spent, ZERO, 0.0, 1.0, "", lowest)
    method = ahead.chosen(known, days)
    seen = ahead.relative(method, known, days)
    relative, freedom = spread_of(seen, days)
    remaining = money(ahead.said(known, method, days), series.currency)
    spread = relative * max(ahead.usual(known, days), 0.0)
    return Outlook(series.name, series.currency, spent, remaining, spread, freedom, method, lowest)


def spread_of(relative: Floats, days: int) -> tuple[float, float]:
    """How far forecasts are off, and the degrees of freedom of that."""
    counts = len(relative) * min(1.0, APART / days)
    squares = counts * float(np.mean(np.minimum(np.abs(relative), WILD) ** 2)) if len(relative) else 0.0
    whole = counts + ASSUMED_COUNT
    return float(np.sqrt((squares + ASSUMED_COUNT * ASSUMED**2) / whole)), whole


def together(parts: Sequence[tuple[Ahead, Outlook]], name: str, through: date, month: Period) -> Outlook:
    """All groups of a currency: the sum of their amounts. Their errors may cancel or add up, so the interval is by the errors of the sum."""
    own, days = [one for _, one in parts], (month.last_day - through).days
    spent, remaining = total(one.spent for one in own), total(one.remaining for one in own)
    lowest = all(one.never_negative for one in own)
    if days <= 0:
        return replace(own[0], name=name, spent=spent, remaining=remaining, never_negative=lowest)
    whole = Ahead(summed([ahead.series for ahead, _ in parts], name))
    spread, freedom = of_sum(parts, whole, through, days)
    return Outlook(name, own[0].currency, spent, remaining, spread, freedom, "sum", lowest)


def of_sum(parts: Sequence[tuple[Ahead, Outlook]], whole: Ahead, through: date, days: int) -> tuple[float, float]:
    """How far the sum of all was off at earlier origins."""
    known = whole.series.known(through)
    before = whole.before(known, days)
    off = [sum(ahead.came(o, days) - ahead.said(o, one.method, days) for ahead, one in parts) for o in before]
    sizes = [whole.usual(origin, days) or 1.0 for origin in before]
    relative, freedom = spread_of(np.array(off) / np.array(sizes), days)
    return relative * whole.usual(known, days), freedom


def path(
    parts: Sequence[tuple[Ahead, Outlook]], end: Outlook, through: date, month: Period
) -> list[tuple[date, Outlook]]:
    """Where one group or all together stand after each day to come, in proportion to how the month ends for them."""
    days, whole = (month.last_day - through).days, Ahead(summed([ahead.series for ahead, _ in parts], end.name))

    def said(n: int) -> float:
        return sum(ahead.said(ahead.series.known(through), one.method, n) for ahead, one in parts)

    part = float(end.remaining) / said(days) if days > 0 and said(days) else 1.0
    found = []
    for n in range(1, days):
        spread, freedom = of_sum(parts, whole, through, n)
        remaining = money(said(n) * part, end.currency)
        found.append(
            (through + timedelta(days=n), replace(end, remaining=remaining, spread=spread * part, freedom=freedom))
        )
    return [*found, (month.last_day, end)] if days > 0 else []
