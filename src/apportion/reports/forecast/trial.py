"""Forecasts tried on the months that are over: with what was known at the end of days 7, 14 and 21, beside 'same as last month' and the run-rate."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

from apportion.model.money import to_decimal, to_grains
from apportion.model.times import Period
from apportion.reports.forecast.outlook import CHECKS, LEVELS, Ahead, Outlook
from apportion.reports.forecast.series import months_of
from apportion.reports.forecast.shares import Bill, ends_of
from apportion.reports.sums import share_of, total


@dataclass(frozen=True, slots=True)
class Trial:
    """One month of one group, as it was forecast at the end of its day `day`, and as it came. `before` is the month before."""

    name: str
    currency: str
    month: str
    day: int
    came: Decimal
    forecast: Decimal
    before: Decimal
    run_rate: Decimal
    within: tuple[bool, ...]  # by level

    def off(self, said: Decimal) -> Decimal:
        return to_decimal(abs(to_grains(said) - to_grains(self.came)))


@dataclass(frozen=True, slots=True)
class Score:
    """Errors are the sum of what forecasts were off over the sum of what came; None where nothing came."""

    name: str
    currency: str
    day: int
    trials: int
    months: int
    error: Decimal | None
    same_as_last: Decimal | None
    run_rate: Decimal | None
    within: tuple[Decimal, ...]

    @property
    def is_better(self) -> bool | None:
        """Than 'same as last month'."""
        if self.error is None or self.same_as_last is None:
            return None
        return self.error < self.same_as_last


def trials(bill: Bill, days: Sequence[int] = CHECKS) -> list[Trial]:
    """Of every row of one currency, and of all together where there are several, for each month that has another one before it."""
    made = []
    for month in months_of(bill.sum.series)[1:]:
        for day in days:
            ends, whole = ends_of(bill, month.first_day + timedelta(days=day - 1), month)
            aheads = {one.series.name: one for one in bill.rows}
            made += [trial(aheads[one.name], one, month, day) for one in ends]
            if len(ends) > 1:
                made.append(trial(bill.own, whole, month, day))
    return made


def trial(ahead: Ahead, said: Outlook, month: Period, day: int) -> Trial:
    series, past = ahead.series, month.previous
    came = series.between(month.first_day, month.last_day)
    before = series.between(past.first_day, past.last_day)
    pace = Fraction(to_grains(said.spent)) * month.last_day.day / day if day else Fraction(to_grains(before))
    run_rate = to_decimal(round(pace))
    return Trial(said.name, said.currency, str(month), day, came, said.amount, before, run_rate, inside(said, came))


def inside(said: Outlook, came: Decimal) -> tuple[bool, ...]:
    """A figure that is foreseen to the coin lies inside every interval."""
    return tuple(one.low <= came <= one.high for one in said.ranges)


def score(found: Iterable[Trial], name: str, day: int) -> Score:
    """Of trials of one currency at the end of one day of the month."""
    some = list(found)
    whole = to_decimal(sum(abs(to_grains(one.came)) for one in some))
    error, same, pace = (
        share_of(total(one.off(getattr(one, said)) for one in some), whole)
        for said in ("forecast", "before", "run_rate")
    )
    count = Decimal(len(some))
    within = (share_of(Decimal(sum(one.within[n] for one in some)), count) or Decimal(0) for n in range(len(LEVELS)))
    months = len({one.month for one in some})
    return Score(name, some[0].currency, day, len(some), months, error, same, pace, tuple(within))


def scores(found: Sequence[Trial], day: int) -> list[Score]:
    """Of each group, in the order of the trials."""
    names = dict.fromkeys(one.name for one in found)
    own = ([one for one in found if (one.name, one.day) == (name, day)] for name in names)
    return [score(some, some[0].name, day) for some in own if some]
