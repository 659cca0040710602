"""Runs that were cut short and begun again, beside runs like them that were not: whether they carried on or began anew shows in their length."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from statistics import median_low

from apportion.reports.advice.work import HOUR_S, Work, length

CUT = ("failed", "out_of_memory", "preempted", "requeued", "node_fail", "timeout")
FINE = "completed"
LEAST_S = HOUR_S  # of an attempt: shorter ones lose nothing
LEAST_LIKE = 2  # runs in one piece that say how long such a run is
ALIKE = Fraction(10, 100)  # of their middle length
LEAST_CUT = Fraction(25, 100)  # of such a length: of less nobody can tell
ANEW = Fraction(95, 100)  # of it, at least, in the last attempt
ONWARD = Fraction(115, 100)  # of it, at most, in all attempts together


@dataclass(frozen=True, slots=True)
class Broken:
    """One run in several attempts. `whole_s`: how long runs like it take in one piece."""

    like: tuple[Work, ...]
    cuts: tuple[Work, ...]
    last: Work
    whole_s: int

    @property
    def began_anew(self) -> bool:
        return length(self.last) >= ANEW * self.whole_s

    @property
    def carried_on(self) -> bool:
        return sum(map(length, (*self.cuts, self.last))) <= ONWARD * self.whole_s


def broken_runs(works: Sequence[Work]) -> Iterator[Broken]:
    for family in families(works):
        runs: dict[str, list[Work]] = defaultdict(list)
        for work in family:
            runs[work.run].append(work)
        whole = [some[0] for some in runs.values() if len(some) == 1 and some[0].outcome == FINE]
        usual_s = usual(whole)
        for some in runs.values() if usual_s else ():
            some.sort(key=lambda one: one.start_s)
            cuts = tuple(one for one in some[:-1] if length(one) >= LEAST_S)
            if is_broken(some) and sum(map(length, cuts)) >= LEAST_CUT * usual_s:
                yield Broken(tuple(whole), cuts, some[-1], usual_s)


def families(works: Sequence[Work]) -> Iterator[Sequence[Work]]:
    """Of one owner, name and experiment, on as many boards of one model: they differ in an argument at most."""
    found: dict[tuple[object, ...], list[Work]] = defaultdict(list)
    for work in works:
        boards = max(one.held for one in work.stretches)
        found[work.owner, work.name, work.told.experiment, boards, work.model].append(work)
    return iter(found.values())


def usual(whole: Sequence[Work]) -> int:
    """How long they take; 0 where they are too few, or too different, to say."""
    if len(whole) < LEAST_LIKE:
        return 0
    middle = median_low(map(length, whole))
    return middle if all(abs(length(one) - middle) <= ALIKE * middle for one in whole) else 0


def is_broken(some: Sequence[Work]) -> bool:
    """Attempts one after the other, of which the last was fine."""
    apart = all(one.end_s <= after.start_s for one, after in pairwise(some))
    return len(some) > 1 and apart and some[-1].outcome == FINE and all(one.outcome in CUT for one in some[:-1])
