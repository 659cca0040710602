"""Work that was shown to survive being cut short, at the price of work that must not be: it could run where it may be put out."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from fractions import Fraction

from apportion.reports.advice.broken import broken_runs
from apportion.reports.advice.work import Saving, Work

REPEATED = Fraction(10, 100)  # of its hours, at most, are run again
KEPT = ("interactive", "inference")  # somebody waits for it


def preemptible(works: Sequence[Work], zone: tzinfo) -> Iterator[Saving]:
    """At most the discount that the policy gives, at least without the price of a tenth of its hours run again."""
    del zone
    shown = {
        work.workload: (work, one.last.run)
        for one in broken_runs(works)
        if one.carried_on and not one.began_anew
        for work in (*one.like, *one.cuts, one.last)
    }
    for work, run in shown.values():
        if work.told.offer and work.phase not in KEPT:
            part = work.told.offer.part
            low = max(Fraction(0), part - (1 - part) * REPEATED)
            yield Saving("preemptible", work, low, part, proof=f"{run} was cut short and carried on")
