"""A value that holds from one instant to the next: PUE, a price, a load, an intensity. Exact, since all of them are multiplied with each other.

What a load costs is found as the engine finds what usage costs: the running integral of the price, looked up at both ends of each stretch.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from apportion.model.times import Interval


class Step(NamedTuple):
    start_s: int
    end_s: int
    value: Fraction


@dataclass(frozen=True, slots=True)
class Steps:
    """In order of time, without overlaps; where there is none, nothing is known."""

    parts: tuple[Step, ...] = ()

    def over(self, span: Interval) -> Iterator[Step]:
        """The steps inside a span, cut at its ends."""
        first = max(0, bisect_right(self.parts, span.start_s, key=lambda step: step.start_s) - 1)
        for step in self.parts[first:]:
            if step.start_s >= span.end_s:
                return
            if step.end_s > span.start_s:
                yield Step(max(step.start_s, span.start_s), min(step.end_s, span.end_s), step.value)

    def gaps(self, span: Interval) -> Iterator[Interval]:
        """Where nothing is known."""
        at = span.start_s
        for step in self.over(span):
            if step.start_s > at:
                yield Interval(at, step.start_s)
            at = step.end_s
        if at < span.end_s:
            yield Interval(at, span.end_s)

    @property
    def end_s(self) -> int:
        return self.parts[-1].end_s if self.parts else 0

    def values(self, span: Interval) -> set[Fraction]:
        return {step.value for step in self.over(span)}


def in_order(steps: Iterable[Step]) -> Steps:
    """Neighbours that are alike become one."""
    out: list[Step] = []
    for step in sorted(steps):
        if out and out[-1].end_s == step.start_s and out[-1].value == step.value:
            out[-1] = out[-1]._replace(end_s=step.end_s)
        else:
            out.append(step)
    return Steps(tuple(out))


def product(span: Interval, *functions: Steps) -> Steps:
    """Where all are known."""
    found = Steps((Step(span.start_s, span.end_s, Fraction(1)),))
    for function in functions:
        found = Steps(
            tuple(
                part._replace(value=part.value * step.value)
                for step in found.parts
                for part in function.over(Interval(step.start_s, step.end_s))
            )
        )
    return in_order(found.parts)


def total(functions: Iterable[Steps]) -> Steps:
    """The sum of several, each 0 where it is not known."""
    changes: dict[int, Fraction] = {}
    for function in functions:
        for start_s, end_s, value in function.parts:
            changes[start_s] = changes.get(start_s, Fraction(0)) + value
            changes[end_s] = changes.get(end_s, Fraction(0)) - value
    level, out = Fraction(0), []
    for start_s, end_s in pairwise(sorted(changes)):
        level += changes[start_s]
        out.append(Step(start_s, end_s, level))
    return in_order(out)


class Integral:
    """The running integral of a step function over the seconds; 0 where nothing is known."""

    def __init__(self, function: Steps) -> None:
        self.steps: Sequence[Step] = function.parts
        self.before = [Fraction(0)]
        for step in self.steps:
            self.before.append(self.before[-1] + step.value * (step.end_s - step.start_s))

    def until(self, second: int) -> Fraction:
        n = bisect_right(self.steps, second, key=lambda step: step.start_s)
        if n == 0:
            return Fraction(0)
        step = self.steps[n - 1]
        return self.before[n - 1] + step.value * (min(second, step.end_s) - step.start_s)

    def over(self, start_s: int, end_s: int) -> Fraction:
        return self.until(end_s) - self.until(start_s)

    def times(self, load: Iterable[Step]) -> Fraction:
        """The integral of a load's product with it."""
        return sum((step.value * self.over(step.start_s, step.end_s) for step in load), Fraction(0))
