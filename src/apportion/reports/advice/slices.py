"""One whole board of which a small part was enough all along: a MIG slice, or a share of a board that several use, would do."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from fractions import Fraction

from apportion.reports.advice.idle import is_idle
from apportion.reports.advice.work import HOUR_S, Saving, Work, held_in, started

LEAST_S = 4 * HOUR_S
LEAST_LOOKS = 6  # stretches measured: one mean over a run hides its peaks
LONGEST_LOOK_S = HOUR_S
MEASURED = Fraction(8, 10)  # of the run
ROOM = Fraction(12, 10)  # what must fit is the highest look and a fifth more
SLICES = tuple(
    Fraction(part, 7) for part in (1, 2, 3, 4)
)  # of an A100, H100 and their kin; the last only bounds a saving


def slices(works: Sequence[Work], zone: tzinfo) -> Iterator[Saving]:
    """At most by the smallest slice that fits, at least by the next larger one."""
    del zone
    for work in works:
        need = fitting(work)
        if need and not is_idle(work):
            larger = SLICES[SLICES.index(need) + 1]
            yield Saving("slice", work, 1 - larger, 1 - need, need)


def fitting(work: Work) -> Fraction | None:
    if any(one.held != work.base for one in work.stretches):
        return None
    peak = peak_of(work)
    return None if peak is None else next((size for size in SLICES[:-1] if peak * ROOM <= size), None)


def peak_of(work: Work) -> Fraction | None:
    """The busiest look; None where too little was looked at, or too coarsely."""
    looks = [one for one in started(work) if one.share is not None and one.seconds <= LONGEST_LOOK_S]
    if work.seconds < LEAST_S or len(looks) < LEAST_LOOKS or held_in(looks) < MEASURED * held_in(started(work)):
        return None
    return max(one.share or Fraction(0) for one in looks)
