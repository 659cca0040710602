"""Amounts that change in steps: sorted, disjoint `(start, end, amount)`; neighbours with one amount are one step."""

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import pairwise

import numpy as np

from apportion.model.times import Interval
from apportion.sources.prometheus.samples import Holds

Amount = int | Fraction
Step = tuple[int, int, Amount]
Steps = list[Step]


def steps_of(held: Holds) -> Steps:
    """Zeros are kept: they say that something was there and was nothing."""
    if not len(held.start):
        return []
    new = np.concatenate([[True], (held.start[1:] != held.end[:-1]) | (held.values[1:] != held.values[:-1])])
    first = np.flatnonzero(new)
    last = np.append(first[1:], len(new)) - 1
    return list(zip(held.start[first].tolist(), held.end[last].tolist(), held.values[first].tolist(), strict=True))


def merged(steps: Iterable[Step]) -> Steps:
    """In order of time; a step that begins before the one before it ended is cut."""
    found: Steps = []
    for start, end, amount in sorted(steps, key=lambda step: step[:2]):
        begin = max(start, found[-1][1]) if found else start
        if end <= begin:
            continue
        if found and found[-1][1] == begin and found[-1][2] == amount:
            found[-1] = (found[-1][0], end, amount)
        else:
            found.append((begin, end, amount))
    return found


def clipped(steps: Iterable[Step], span: Interval) -> Steps:
    return [
        (max(start, span.start_s), min(end, span.end_s), amount)
        for start, end, amount in steps
        if min(end, span.end_s) > max(start, span.start_s)
    ]


def combined(parts: Iterable[Steps], how: Callable[[list[Amount]], Amount] = sum) -> Steps:
    """Several at once: at each time what `how` makes of the amounts that are there."""
    every = [part for part in parts if part]
    if len(every) < 2:
        return every[0] if every else []
    bounds = sorted({bound for steps in every for start, end, _ in steps for bound in (start, end)})
    there: list[list[Amount]] = [[] for _ in bounds]
    place = {bound: number for number, bound in enumerate(bounds)}
    for steps in every:
        for start, end, amount in steps:
            for number in range(place[start], place[end]):
                there[number].append(amount)
    return merged((bounds[number], bounds[number + 1], how(amounts)) for number, amounts in enumerate(there) if amounts)


def within(run: Steps, amounts: Steps) -> Steps:
    """The amounts over the time of a run. Before the first that is known, between two and after the last, the nearest earlier one holds, else the first."""
    if not amounts:
        return []
    found: Steps = []
    for start, end, _ in run:
        at = start
        for number, (_, _, amount) in enumerate(amounts):
            until = amounts[number + 1][0] if number + 1 < len(amounts) else end
            if until > at and at < end:
                found.append((at, min(until, end), amount))
                at = min(until, end)
    return merged(found)


def overlap(run: Steps, amounts: Steps) -> Steps:
    """The amounts while it ran, and nothing where there are none."""
    return merged(
        (max(start, a), min(end, b), amount)
        for start, end, _ in run
        for a, b, amount in amounts
        if min(end, b) > max(start, a)
    )


def holes(steps: Steps) -> list[Interval]:
    return [Interval(before[1], after[0]) for before, after in pairwise(steps) if after[0] > before[1]]


def positive(steps: Iterable[Step]) -> Steps:
    return [step for step in steps if step[2] > 0]
