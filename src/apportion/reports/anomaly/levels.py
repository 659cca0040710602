"""Steps: since some day a figure is higher, or lower, than it was, and stays so.

The last 7 days, else the last 14, are compared with the 8 weeks before them, each day with the median of its own weekday, so that weekends are no news.
A day counts for at most 1.4 times its usual, and where a fall is looked for for at least 0.6 of it, so that one wild day makes no step. The change must be
larger than that of every stretch of the same length in those weeks, by half as much again and more, and than several times their median distance (MAD):
whoever is restless is told of great steps alone.

A step is told once: for 28 days after it was seen a further one the same way is looked for from the level that it made, which takes a week to know, and must
be great. Then the first ends where the second begins. What falls back ends a step and is none itself; a step the other way must be as great while the weeks
before hold the first, unless that one was over before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate
from statistics import median

from apportion.reports.anomaly.daily import WEEK, Daily

MILLION = 10**6
LENGTHS = (WEEK, 2 * WEEK)  # days that must be high
HISTORY, FEWEST = 8 * WEEK, 4 * WEEK  # days before them, and how many must be known
MOST, LEAST = 14 * MILLION // 10, 6 * MILLION // 10  # what a day counts for, of its usual
HIGHEST = 16  # tenths of the highest stretch before
FAR = 45  # tenths of the median distance of stretches from their middle
SETTLED = 4 * WEEK  # days after which a new level is the usual one
APART = WEEK + 1  # days after which a level is known well enough to stand for what was before
SCALE = 10**12
UP, DOWN = 1, -1
FURTHER = 75  # percent: the least change that is told of a level that is not the usual one yet


@dataclass(frozen=True, slots=True)
class Bar:
    """Millionths: the least rise or fall that is told, and the least median distance that anything is taken to have."""

    rise: int = 150_000
    floor: int = 30_000
    ways: tuple[int, ...] = (UP, DOWN)


@dataclass(frozen=True, slots=True)
class Step:
    """Places in the days: since when, first seen on, and the last of it; `is_over` where it fell back by two thirds or more, or another step followed.

    `way` is UP or DOWN. `since` is where the level before it began, where that is another step's.
    """

    began: int
    seen: int
    last: int
    is_over: bool
    way: int = UP
    since: int | None = None


@dataclass(frozen=True, slots=True)
class Stretch:
    """The days from `start` on as running sums: what was, as far as it counts, and what was usual; and the usual of each weekday."""

    start: int
    was: Sequence[int]
    usual: Sequence[int]
    weekdays: Sequence[int]
    way: int = UP

    def beyond(self, start: int, end: int) -> int | None:
        """How far some days are above their usual, in millionths; or below it, where a fall is looked for."""
        usual = self.usual[end - self.start] - self.usual[start - self.start]
        was = self.was[end - self.start] - self.was[start - self.start]
        return self.way * (was * MILLION // usual - MILLION) if usual > 0 else None


def steps(daily: Daily, first: int = 0, bar: Bar = Bar()) -> list[Step]:  # noqa: B008 - frozen
    """Those that are seen on the days from `first` on."""
    found = list[Step]()
    for place in range(first, len(daily)):
        before = found[-1] if found and place < found[-1].began + HISTORY else None
        step = first_step(daily, place, bar) if before is None else further_step(daily, place, bar, before)
        if step is not None and before is not None and before.last >= step.began - 1:
            found[-1] = replace(before, last=step.began - 1, is_over=True)
            step = replace(step, since=before.began)
        found += [step] if step else []
    return found


def first_step(daily: Daily, place: int, bar: Bar) -> Step | None:
    return next((step for way in bar.ways if (step := step_at(daily, place, bar, way))), None)


def further_step(daily: Daily, place: int, bar: Bar, before: Step) -> Step | None:
    """While the weeks before hold a step: the same way from its own level, once that is known; the other way from what was usual before it."""
    level = level_of(daily, before.began, place + 1 - WEEK)
    for way in bar.ways:
        is_usual = way == before.way and place >= before.seen + SETTLED
        own = daily if is_usual or way != before.way else raised(daily, before.began, level) if level else None
        step = step_at(own, place, bar, way) if own else None
        least = before.began + (APART if way == before.way else 1)
        is_new = is_usual or (way != before.way and before.is_over and step is not None and step.began > before.last)
        if own and step and (is_new or (step.began >= least and is_great(own, step))):
            return step
    return None


def is_great(daily: Daily, step: Step) -> bool:
    """Whether it is far enough to be told beside another step, with each day as it is."""
    began, end = step.began, step.seen + 1
    usual = stretch_of(daily, began, end, usual_of(daily, max(0, began - HISTORY), began)).usual[-1]
    return 100 * step.way * (sum(daily.parts[began:end]) - usual) >= FURTHER * usual


def level_of(daily: Daily, began: int, end: int) -> Fraction | None:
    """What the days of a step come to, of what was usual before it; None while it is too young to say."""
    if end < began + APART:
        return None
    stretch = stretch_of(daily, began, end, usual_of(daily, max(0, began - HISTORY), began))
    return Fraction(sum(daily.parts[began:end]), stretch.usual[-1]) if stretch.usual[-1] else None


def raised(daily: Daily, began: int, level: Fraction) -> Daily:
    """As if a step had always been."""
    before = (part * level.numerator // level.denominator for part in daily.parts[:began])
    return replace(daily, parts=(*before, *daily.parts[began:]))


def step_at(daily: Daily, place: int, bar: Bar, way: int) -> Step | None:
    """Whether a step is seen on a day."""
    for length in LENGTHS:
        start = place + 1 - length
        if start < FEWEST:
            continue
        oldest = max(0, start - HISTORY)
        usual = usual_of(daily, oldest, start)
        stretch = stretch_of(daily, oldest, place + 1, usual, way)
        change = stretch.beyond(start, place + 1)
        if (
            change is not None
            and change >= bar.rise
            and change > needed(stretch, oldest, start, length, bar.floor)
            and are_far(daily, (start, place + 1), usual, bar, way)
        ):
            return lasting(daily, begins(stretch, start, place + 1), place, stretch, change)
    return None


def usual_of(daily: Daily, start: int, end: int) -> list[int]:
    """The median of each weekday."""
    own: list[list[int]] = [[] for _ in range(WEEK)]
    for place in range(start, end):
        if daily.wholes[place]:
            own[place % WEEK].append(daily.parts[place] * SCALE // daily.wholes[place])
    return [int(median(values)) if values else 0 for values in own]


def stretch_of(daily: Daily, start: int, end: int, usual: Sequence[int], way: int = UP) -> Stretch:
    expected = [usual[place % WEEK] * daily.wholes[place] // SCALE for place in range(start, end)]
    parts = daily.parts[start:end]
    if way == UP:
        was = [min(part, MOST * one // MILLION) for part, one in zip(parts, expected, strict=True)]
    else:
        was = [max(part, LEAST * one // MILLION) for part, one in zip(parts, expected, strict=True)]
    return Stretch(start, (0, *accumulate(was)), (0, *accumulate(expected)), tuple(usual), way)


def needed(stretch: Stretch, oldest: int, start: int, length: int, floor: int) -> int:
    """How far the stretches before lead one to expect that it may come."""
    ends = range(oldest + length, start + 1)
    before = [one for end in ends if (one := stretch.beyond(end - length, end)) is not None]
    if not before:
        return MILLION
    middle = int(median(before))
    spread = int(median(abs(one - middle) for one in before))
    return middle + max(HIGHEST * (max(before) - middle) // 10, FAR * max(spread, floor) // 10)


def are_far(daily: Daily, days: tuple[int, int], usual: Sequence[int], bar: Bar, way: int) -> bool:
    """Three days of four, of those that say something; and half of them must."""
    telling = [place for place in range(*days) if daily.wholes[place]]
    bound = MILLION + way * bar.rise // 2
    far = [
        way * (daily.parts[place] * SCALE * MILLION - usual[place % WEEK] * daily.wholes[place] * bound) > 0
        for place in telling
    ]
    return 4 * sum(far) >= 3 * len(far) and 2 * len(telling) >= days[1] - days[0]


def begins(stretch: Stretch, start: int, end: int) -> int:
    """The day on which it began, from a week before those that are far on."""
    oldest = max(stretch.start, start - WEEK)
    return oldest + parting([stretch.beyond(place, place + 1) or 0 for place in range(oldest, end)])


def parting(values: Sequence[int]) -> int:
    """Which place parts them best into low and high ones, by least squares; both have two at least."""

    def gain(place: int) -> int:
        low, high = sum(values[:place]), sum(values[place:])
        return low * low // place + high * high // (len(values) - place) if high > low else 0

    return max(range(2, len(values) - 1), key=lambda place: (gain(place), place))


def lasting(daily: Daily, began: int, seen: int, known: Stretch, change: int) -> Step:
    """Until its last week fell back by two thirds of the change, or it is the usual level by now."""
    end = min(len(daily) - 1, seen + SETTLED - 1)
    stretch = stretch_of(daily, max(0, began - WEEK), end + 1, known.weekdays, known.way)
    for place in range(seen + 1, end + 1):
        week = stretch.beyond(max(place + 1 - WEEK, stretch.start), place + 1)
        if week is not None and 3 * week < change:
            return Step(began, seen, place, is_over=True, way=known.way)
    return Step(began, seen, end, is_over=False, way=known.way)
