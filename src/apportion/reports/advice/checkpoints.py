"""Work that was lost: a long run was cut short and began anew, where a checkpoint would have let it carry on."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from fractions import Fraction

from apportion.reports.advice.broken import broken_runs
from apportion.reports.advice.work import HOUR_S, Saving, Work, length
from apportion.reports.words import hours

EVERY_S, RARELY_S = HOUR_S // 2, 2 * HOUR_S  # what is lost of each attempt with checkpoints so often


def checkpoints(works: Sequence[Work], zone: tzinfo) -> Iterator[Saving]:
    """At most all but half an hour of each attempt that was cut short, at least all but two."""
    del zone
    for one in broken_runs(works):
        if one.began_anew and not one.carried_on:
            last, usual = (hours(Fraction(seconds, HOUR_S)) for seconds in (length(one.last), one.whole_s))
            proof = f"its last attempt took {last} h, runs like it in one piece {usual} h"
            for cut in one.cuts:
                low, high = (Fraction(max(0, length(cut) - lost_s), length(cut)) for lost_s in (RARELY_S, EVERY_S))
                yield Saving("checkpoint", cut, low, high, proof=proof)
