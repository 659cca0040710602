"""What an hour or a team is worth, by the definitions: every order, every step."""

from datetime import datetime
from fractions import Fraction
from itertools import pairwise, permutations

from apportion.policy.pools import Pool

ZERO = Fraction(0)
DAY_MINUTES = 24 * 60
Series = dict[str, list[Fraction]]  # team -> units in each slot


def worth_of(pool: Pool, totals: list[Fraction], starts: list[datetime]) -> list[Fraction]:
    if pool.method == "temporal_shapley":
        values = [airport(total, totals) for total in totals]
        return [value * total for value, total in zip(values, totals, strict=True)] if pool.weighted else values
    if pool.method == "time_of_use":
        return [total * time_weight(pool, start) for total, start in zip(totals, starts, strict=True)]
    places = Fraction(min(pool.k, len(totals)))
    found = [ZERO] * len(totals)
    for level in sorted(set(totals), reverse=True):
        there = [n for n, total in enumerate(totals) if total == level]
        for n in there:
            found[n] = level * min(Fraction(1), places / len(there))
        places -= min(places, Fraction(len(there)))
    return found


def time_weight(pool: Pool, local: datetime) -> Fraction:
    for rule in pool.times:
        on = {"all": True, "weekdays": local.isoweekday() < 6, "weekends": local.isoweekday() > 5}[rule.days]
        first, last = (at.hour * 60 + at.minute if at else DAY_MINUTES for at in (rule.from_, rule.until))
        if on and first <= local.hour * 60 + local.minute < last:
            return rule.weight
    return Fraction(1)


def shapley(series: Series) -> dict[str, Fraction]:
    """What each adds to the peak, over every order."""
    found = dict.fromkeys(series, ZERO)
    orders = list(permutations(series))
    for order in orders:
        before: list[Fraction] = [ZERO] * len(next(iter(series.values()), []))
        for team in order:
            after = [a + b for a, b in zip(before, series[team], strict=True)]
            found[team] += (max(after) - max(before)) / len(orders)
            before = after
    return found


def airport(mine: Fraction, totals: list[Fraction]) -> Fraction:
    """What one slot pays of the steps up to the highest, each shared by all that need it."""
    steps = sorted({ZERO, *totals})
    return sum(
        ((high - low) / sum(total >= high for total in totals) for low, high in pairwise(steps) if high <= mine), ZERO
    )
