"""Before and now, made comparable: each day since it began stands against the average of the same weekdays of the four weeks before."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from fractions import Fraction

from apportion.reports.anomaly.daily import WEEK

BEFORE = 4 * WEEK
Weights = Mapping[date, Fraction]


def weights_of(days: Sequence[date], began: date, first: date) -> Weights:
    """How often each day before `began` counts against `days`. `first`: the first that is known, or that stands for what was before."""
    now = Counter(day.weekday() for day in days)
    before = days_between(max(first, began - timedelta(days=BEFORE)), began - timedelta(days=1))
    there = Counter(day.weekday() for day in before)
    return {day: Fraction(now[day.weekday()], there[day.weekday()]) for day in before if now[day.weekday()]}


def days_between(first: date, last: date) -> list[date]:
    return [first + timedelta(days=n) for n in range((last - first).days + 1)]


def weighed(weights: Weights, amount: Callable[[date], int]) -> Fraction:
    return sum((weight * amount(day) for day, weight in weights.items()), Fraction(0))
