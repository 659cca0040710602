"""Held and not used: a run whose boards did next to nothing from its first hour to its end."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import tzinfo
from fractions import Fraction

from apportion.reports.advice.work import HOUR_S, START_S, UNUSED, Saving, Work, held_in, mean, started, used_in

LEAST_S = 3 * HOUR_S  # shorter ones are tries


def idle(works: Sequence[Work], zone: tzinfo) -> Iterator[Saving]:
    """At most all of it, at least what was measured to stand still after its first hour."""
    del zone
    for work in works:
        if is_idle(work):
            measured = [one for one in started(work) if one.used is not None]
            later = [replace(one, start_s=max(one.start_s, work.start_s + START_S)) for one in measured]
            yield Saving("idle", work, Fraction(held_in(later) - used_in(later), work.held), Fraction(1))


def is_idle(work: Work) -> bool:
    found = mean(started(work))
    return work.seconds >= LEAST_S and found is not None and found <= UNUSED
