"""Failure rates: a larger part of what a team's runs cost goes into attempts that failed, and by more than chance.

Money says what it means; whether it is chance is asked of runs, each counted once on a day that an attempt of it ended, so that one run that fails
again and again is one failure. Few runs have a wide interval (Wilson's): the whole of now's must lie above the whole of before's.
"""

from math import sqrt

from apportion.reports.anomaly.daily import WEEK, Daily
from apportion.reports.anomaly.levels import FEWEST, HISTORY, MILLION, SETTLED, Step, parting

Z = 3  # standard deviations: one in about 700 by chance, on each side
RISE = 100_000  # millionths of the money: ten points
GROWN = 3  # halves: half as much again
FAILED = ("failed", "out_of_memory", "timeout", "node_fail")


def failing(money: Daily, runs: Daily, first: int) -> list[Step]:
    """Both from the same first day on: what failed of all, in money and in runs."""
    found, place = list[Step](), max(first, FEWEST + WEEK - 1)
    while place < len(money):
        start = place + 1 - WEEK
        oldest = max(0, start - HISTORY)
        is_told = is_worse(money, runs, (oldest, start), (start, place + 1))
        if is_told:
            found.append(lasting(money, (oldest, start), place))
        place += SETTLED if is_told else 1
    return found


def is_worse(money: Daily, runs: Daily, before: tuple[int, int], now: tuple[int, int]) -> bool:
    was, is_ = (share(money, *days) for days in (before, now))
    if is_ < was + RISE or 2 * is_ < GROWN * was:
        return False
    (_, highest), (lowest, _) = (wilson(*sums(runs, *days)) for days in (before, now))
    return lowest > highest


def sums(daily: Daily, start: int, end: int) -> tuple[int, int]:
    return sum(daily.parts[start:end]), sum(daily.wholes[start:end])


def share(daily: Daily, start: int, end: int) -> int:
    """In millionths."""
    part, whole = sums(daily, start, end)
    return part * MILLION // whole if whole else 0


def wilson(part: int, whole: int) -> tuple[float, float]:
    """Where the true share of `part` in `whole` may lie; anywhere, where there is none."""
    if not whole:
        return 0.0, 1.0
    seen = part / whole
    middle = seen + Z * Z / (2 * whole)
    half = Z * sqrt(seen * (1 - seen) / whole + Z * Z / (4 * whole * whole))
    return (middle - half) / (1 + Z * Z / whole), (middle + half) / (1 + Z * Z / whole)


def lasting(money: Daily, before: tuple[int, int], seen: int) -> Step:
    """From the day that parts the last two weeks best, until the last week fell back by two thirds."""
    was, now = share(money, *before), share(money, seen + 1 - WEEK, seen + 1)
    oldest = seen + 1 - 2 * WEEK
    began = oldest + parting([share(money, place, place + 1) for place in range(oldest, seen + 1)])
    end = min(len(money) - 1, seen + SETTLED - 1)
    for place in range(seen + 1, end + 1):
        if 3 * (share(money, place + 1 - WEEK, place + 1) - was) < now - was:
            return Step(began, seen, place, is_over=True)
    return Step(began, seen, end, is_over=False)
