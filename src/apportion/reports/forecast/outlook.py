"""From the days that are known to the end of a month: a method, an amount, and how sure it is.

At every origin before (the ends of days 7, 14, 21 and of the month) each method had forecast the sum of as many days as are left now, with what was known then.
The one with the smallest errors goes on; how far it was off says how wide the interval is. Late errors count more than early ones, and one that is
assumed counts as seen, so that a short history has an interval too. Errors count relative to what the group spent at the time; their distribution is
Student's t with three degrees of freedom, whose wide tails real spending has. `tests/forecast` holds the intervals to what came on traces of real clusters.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from math import atan, hypot, pi, sqrt

import numpy as np

from apportion.model.money import to_decimal, to_grains
from apportion.model.times import Period
from apportion.reports.forecast.methods import MIDDLE, paths
from apportion.reports.forecast.series import Floats, Series
from apportion.reports.sums import ZERO, less, total
from apportion.reports.words import add_up, rounded

LEVELS = (50, 80, 95)
CHECKS = (7, 14, 21)  # days of a month at whose end forecasts are tried
MOST, FEWEST = 28, 4  # origins that are looked back at; that a choice needs
SOME, SHORTEST = 3, 7  # errors that are enough to go by; the days that an error is of, at least
APART = 7.6  # days between origins on average: longer stretches overlap and say less together
CLEARLY = 0.85  # of the error of the middle: what is hardly better was lucky
RECENT, BEGINNING = 28, 7
WILD = 0.75  # of what is usually spent: an error beyond it happened once, and counts as that
OLDER = 0.75  # what an error counts beside the one after it
ASSUMED = 0.10  # an error relative to what is spent meanwhile, which counts as one that was seen
DIGITS = 4  # that a forecast can stand for


@dataclass(frozen=True, slots=True)
class Range:
    """`level` of a hundred months would end between these."""

    level: int
    low: Decimal
    high: Decimal


@dataclass(frozen=True, slots=True)
class Outlook:
    """Where a month ends for one group. `spent` is what its known days came to, as they are; `committed` what bills hold for later days already;
    `remaining` what else the days to come will cost. `spread` is how far such sums are usually off.
    """

    name: str
    currency: str
    spent: Decimal
    remaining: Decimal
    spread: float
    method: str
    never_negative: bool = True
    committed: Decimal = ZERO

    @property
    def certain(self) -> Decimal:
        return total([self.spent, self.committed])

    @property
    def amount(self) -> Decimal:
        return total([self.spent, self.committed, self.remaining])

    @property
    def ranges(self) -> tuple[Range, ...]:
        return tuple(self.range(level) for level in LEVELS)

    def range(self, level: int) -> Range:
        return Range(level, *(self.quantile(0.5 + side * level / 200) for side in (-1, 1)))

    def quantile(self, part: float) -> Decimal:
        if not self.spread:
            return self.amount
        ahead = float(self.remaining) + self.spread * t_quantile(part)
        return total([self.certain, money(max(ahead, 0.0) if self.never_negative else ahead, self.currency)])

    def chance_over(self, limit: Decimal) -> Decimal:
        """How likely it is that the month ends above `limit`, between 0 and 1."""
        if not self.spread or (self.never_negative and limit < self.certain):
            return Decimal(int(self.amount > limit))
        away = (float(limit) - float(self.amount)) / self.spread
        return Decimal(f"{1 - t_share(away):.2f}")


def t_share(away: float) -> float:
    """Student's t with three degrees of freedom: the share below."""
    one = away / sqrt(3)
    return 0.5 + (one / (1 + one * one) + atan(one)) / pi


def t_quantile(part: float) -> float:
    low, high = -1e3, 1e3
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if t_share(middle) < part else (low, middle)
    return round(high, 6)


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

    def stretch(self, known: int, days: int) -> int:
        """As many days as are left, or fewer, so that some errors are known of them."""
        return next((n for n in range(days, SHORTEST, -1) if len(self.before(known, n)) >= SOME), SHORTEST)


def outlook(ahead: Ahead, through: date, month: Period) -> Outlook:
    """Of a month whose days are known through `through`, which lies in it or is the day before."""
    series, days = ahead.series, (month.last_day - through).days
    known = series.known(through)
    spent = series.between(month.first_day, through)
    lowest = bool((series.values[:known] >= 0).all())
    if days <= 0:
        return Outlook(series.name, series.currency, spent, ZERO, 0.0, "", lowest)
    method = ahead.chosen(known, days)
    stretch = ahead.stretch(known, days)
    remaining = money(ahead.said(known, method, days), series.currency)
    spread = spread_of(ahead.relative(method, known, stretch), stretch) * ahead.usual(known, days)
    return Outlook(series.name, series.currency, spent, remaining, max(spread, 0.0), method, lowest)


def spread_of(relative: Floats, days: int) -> float:
    """How far forecasts are off."""
    weights = OLDER ** np.arange(len(relative))[::-1] * min(1.0, APART / days)
    off = float(weights @ np.minimum(np.abs(relative), WILD)) if len(relative) else 0.0
    return (off + ASSUMED) / (float(weights.sum()) + 1)


def adding_up(parts: Sequence[Outlook], whole: Outlook) -> list[Outlook]:
    """Parts share what is foreseen for all of them. What is missing goes to those that are unsure, and makes them less sure by as much; where that
    would take more than they have, by size; where nothing is foreseen for any, to the one that spent most.
    """
    missing = less(whole.amount, total(one.amount for one in parts))
    if not parts or not missing:
        return list(parts)
    sizes = [abs(to_grains(one.remaining)) for one in parts]
    unsure = [min(size, to_grains(Decimal(one.spread))) for size, one in zip(sizes, parts, strict=True)]
    weights = unsure if sum(unsure) >= abs(to_grains(missing)) else sizes
    if not sum(weights):
        most = max(parts, key=lambda one: (one.spent, one.name))
        return [replace(one, remaining=total([one.remaining, missing])) if one is most else one for one in parts]
    more = [to_decimal(to_grains(missing) * weight // sum(weights)) for weight in weights]
    shares = add_up([total([one.remaining, part]) for one, part in zip(parts, more, strict=True)], whole.currency)
    return [
        replace(one, remaining=amount, spread=hypot(one.spread, float(part)))
        for one, amount, part in zip(parts, shares, more, strict=True)
    ]


def path(ahead: Ahead, end: Outlook, through: date, month: Period) -> list[tuple[date, Outlook]]:
    """Where a group stands after each day to come, without what is committed: in proportion to how the month ends, and surer the sooner it is."""
    days, known = (month.last_day - through).days, ahead.series.known(through)
    said = [ahead.said(known, end.method, n) for n in range(days + 1)]
    found = []
    for n in range(1, days):
        part = said[n] / said[days] if said[days] else n / days
        remaining = money(float(end.remaining) * part, end.currency)
        found.append(
            (through + timedelta(days=n), replace(end, remaining=remaining, spread=end.spread * sqrt(n / days)))
        )
    return [*found, (month.last_day, end)] if days > 0 else []
