"""Steps: since some day a figure is higher than it was, and stays so.

The last 7 days, else the last 14, are compared with the 8 weeks before them, each day with the median of its own weekday, so that weekends are no news.
A day counts for at most 1.4 times its usual, so that one wild day makes no step. The rise must be larger than every stretch of the same length came to in those
weeks, by half as much again and more, and than several times their median distance (MAD): whoever is restless is told of great steps alone.
A step is told once; for 28 days after it was seen another one is not looked for. Falls are no news: they end what was told.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median

from apportion.reports.anomaly.daily import WEEK, Daily

MILLION = 10**6
LENGTHS = (WEEK, 2 * WEEK)  # days that must be high
HISTORY, FEWEST = 8 * WEEK, 4 * WEEK  # days before them, and how many must be known
MOST = 14 * MILLION // 10  # what a day counts for, of its usual
HIGHEST = 16  # tenths of the highest stretch before
FAR = 45  # tenths of the median distance of stretches from their middle
SETTLED = 4 * WEEK  # days after which a new level is the usual one
SCALE = 10**12


@dataclass(frozen=True, slots=True)
class Bar:
    """Millionths: the least rise that is told, and the least median distance that anything is taken to have."""

    rise: int = 150_000
    floor: int = 30_000


@dataclass(frozen=True, slots=True)
class Step:
    """Places in the days: since when, first seen on, and the last of it; `is_over` where it fell back by two thirds or more."""

    began: int
    seen: int
    last: int
    is_over: bool


@dataclass(frozen=True, slots=True)
class Stretch:
    """The days from `start` on as running sums: what was, at most so many times the usual, and what was usual."""

    start: int
    was: Sequence[int]
    usual: Sequence[int]

    def above(self, start: int, end: int) -> int | None:
        """How far some days are above their usual, in millionths."""
        usual = self.usual[end - self.start] - self.usual[start - self.start]
        was = self.was[end - self.start] - self.was[start - self.start]
        return was * MILLION // usual - MILLION if usual > 0 else None


def steps(daily: Daily, first: int = 0, bar: Bar = Bar()) -> list[Step]:  # noqa: B008 - frozen
    """Those that are seen on the days from `first` on."""
    found, place = list[Step](), first
    while place < len(daily):
        step = step_at(daily, place, bar)
        if step is not None:
            found.append(step)
        place += SETTLED if step else 1
    return found


def step_at(daily: Daily, place: int, bar: Bar) -> Step | None:
    """Whether a step is seen on a day."""
    for length in LENGTHS:
        start = place + 1 - length
        if start < FEWEST:
            continue
        oldest = max(0, start - HISTORY)
        usual = usual_of(daily, oldest, start)
        stretch = stretch_of(daily, oldest, place + 1, usual)
        rise = stretch.above(start, place + 1)
        if (
            rise is not None
            and rise >= bar.rise
            and rise > needed(stretch, oldest, start, length, bar.floor)
            and are_high(daily, start, place + 1, usual, bar)
        ):
            return lasting(daily, begins(stretch, start, place + 1), place, usual, rise)
    return None


def usual_of(daily: Daily, start: int, end: int) -> list[int]:
    """The median of each weekday."""
    own: list[list[int]] = [[] for _ in range(WEEK)]
    for place in range(start, end):
        if daily.wholes[place]:
            own[place % WEEK].append(daily.parts[place] * SCALE // daily.wholes[place])
    return [int(median(values)) if values else 0 for values in own]


def stretch_of(daily: Daily, start: int, end: int, usual: Sequence[int]) -> Stretch:
    expected = [usual[place % WEEK] * daily.wholes[place] // SCALE for place in range(start, end)]
    was = [min(daily.parts[start + n], MOST * one // MILLION) for n, one in enumerate(expected)]
    return Stretch(start, (0, *accumulate(was)), (0, *accumulate(expected)))


def needed(stretch: Stretch, oldest: int, start: int, length: int, floor: int) -> int:
    """How far the stretches before lead one to expect that it may come."""
    ends = range(oldest + length, start + 1)
    before = [one for end in ends if (one := stretch.above(end - length, end)) is not None]
    if not before:
        return MILLION
    middle = int(median(before))
    spread = int(median(abs(one - middle) for one in before))
    return middle + max(HIGHEST * (max(before) - middle) // 10, FAR * max(spread, floor) // 10)


def are_high(daily: Daily, start: int, end: int, usual: Sequence[int], bar: Bar) -> bool:
    """Three days of four, of those that say something; and half of them must."""
    days = [place for place in range(start, end) if daily.wholes[place]]
    high = [
        daily.parts[place] * SCALE * MILLION > usual[place % WEEK] * daily.wholes[place] * (MILLION + bar.rise // 2)
        for place in days
    ]
    return 4 * sum(high) >= 3 * len(high) and 2 * len(days) >= end - start


def begins(stretch: Stretch, start: int, end: int) -> int:
    """The day on which it began, from a week before those that are high on."""
    oldest = max(stretch.start, start - WEEK)
    return oldest + parting([stretch.above(place, place + 1) or 0 for place in range(oldest, end)])


def parting(values: Sequence[int]) -> int:
    """Which place parts them best into low and high ones, by least squares; both have two at least."""

    def gain(place: int) -> int:
        low, high = sum(values[:place]), sum(values[place:])
        return low * low // place + high * high // (len(values) - place) if high > low else 0

    return max(range(2, len(values) - 1), key=lambda place: (gain(place), place))


def lasting(daily: Daily, began: int, seen: int, usual: Sequence[int], rise: int) -> Step:
    """Until its last week fell back by two thirds of the rise, or it is the usual level by now."""
    end = min(len(daily) - 1, seen + SETTLED - 1)
    stretch = stretch_of(daily, max(0, began - WEEK), end + 1, usual)
    for place in range(seen + 1, end + 1):
        week = stretch.above(max(place + 1 - WEEK, stretch.start), place + 1)
        if week is not None and 3 * week < rise:
            return Step(began, seen, place, is_over=True)
    return Step(began, seen, end, is_over=False)
