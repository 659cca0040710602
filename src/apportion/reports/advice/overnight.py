"""An interactive session that was used, and then held through the night."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from itertools import groupby

from apportion.reports.advice.idle import is_idle
from apportion.reports.advice.work import HOUR_S, UNUSED, Saving, Stretch, Work, mean, spared

INTERACTIVE = "interactive"  # the phase that the policy's facets give
NIGHT = range(-4, 7)  # from 20:00 to 07:00, in the policy's time zone
LEAST_S = 4 * HOUR_S  # of the night, in one piece: a late evening is none


def overnight(works: Sequence[Work], zone: tzinfo) -> Iterator[Saving]:
    """At most every night that it stood still, at least from an hour after each began."""
    for work in works:
        if work.phase == INTERACTIVE and not is_idle(work):
            nights = [gap for gap in gaps(work.stretches) if at_night(gap, zone) >= LEAST_S]
            if nights:
                yield Saving("overnight", work, *spared(nights, work))


def gaps(stretches: Sequence[Stretch]) -> Iterator[Sequence[Stretch]]:
    """Without work, after some."""
    worked = False
    for busy, some in groupby(stretches, key=lambda one: one.is_busy):
        gap = tuple(some)
        if worked and not busy and (found := mean(gap)) is not None and found <= UNUSED:
            yield gap
        worked = worked or busy


def at_night(gap: Sequence[Stretch], zone: tzinfo) -> int:
    """Seconds, counted by the quarter of an hour."""
    step = HOUR_S // 4
    moments = range(gap[0].start_s, gap[-1].end_s, step)
    return step * sum(is_night(datetime.fromtimestamp(moment, UTC).astimezone(zone).hour) for moment in moments)


def is_night(hour: int) -> bool:
    return hour in NIGHT or hour - 24 in NIGHT
