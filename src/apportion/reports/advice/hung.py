"""Worked, then stood still until it was ended: a rank that died, a loop that waits, a script that never exits."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from fractions import Fraction

from apportion.reports.advice.idle import is_idle
from apportion.reports.advice.work import HOUR_S, START_S, UNUSED, Saving, Stretch, Work, mean, spared

LEAST_S = 3 * HOUR_S  # evaluation on the host, saving and uploading take less
WAITING = ("interactive", "inference")  # people and requests make pauses of their own: see overnight


def hung(works: Sequence[Work], zone: tzinfo) -> Iterator[Saving]:
    """At most from its last work on, at least from an hour later."""
    del zone
    for work in works:
        still = tail(work)
        if still and work.phase not in WAITING and not is_idle(work):
            low, high = spared([still], work)
            yield Saving("hung", work, low, high, Fraction(still[0].start_s - work.start_s, HOUR_S))


def tail(work: Work) -> Sequence[Stretch]:
    """What follows its last work, if that is long and stood still."""
    last = max((number for number, one in enumerate(work.stretches) if one.is_busy), default=None)
    if last is None or work.stretches[last].end_s < work.start_s + START_S:
        return ()
    still = work.stretches[last + 1 :]
    found = mean(still)
    long = sum(one.seconds for one in still) >= LEAST_S
    return still if long and found is not None and found <= UNUSED else ()
