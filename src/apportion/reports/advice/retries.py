"""A run that fails again and again after the same time: it begins anew each time and carries nothing on."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from fractions import Fraction
from itertools import pairwise
from statistics import median_low

from apportion.reports.advice.work import HOUR_S, Saving, Work, length

FAILED = ("failed", "out_of_memory")  # by its own fault: neither a node's nor a time limit's
LEAST_S = HOUR_S  # each
LEAST = 3  # so many alike are no chance
ALIKE = Fraction(5, 100)  # of their middle length


def retries(works: Sequence[Work], zone: tzinfo) -> Iterator[Saving]:
    """At most all but the first, at least all but the first two."""
    del zone
    runs: dict[str, list[Work]] = defaultdict(list)
    for work in works:
        if work.outcome in FAILED and length(work) >= LEAST_S:
            runs[work.run].append(work)
    for found in runs.values():
        alike = repeated(found)
        for number, work in enumerate(alike[1:]):
            yield Saving("retries", work, Fraction(min(number, 1)), Fraction(1), Fraction(len(alike)))


def repeated(found: Sequence[Work]) -> Sequence[Work]:
    """Attempts one after the other that ended after about the same time; tasks that ran side by side are none."""
    middle = median_low(map(length, found))
    alike = sorted((one for one in found if abs(length(one) - middle) <= ALIKE * middle), key=lambda one: one.start_s)
    apart = all(one.end_s <= after.start_s for one, after in pairwise(alike))
    return alike if len(alike) >= LEAST and apart else ()
