"""Short batch work in dear hours that could have waited for cheap ones: where hours have prices of their own and somebody said when it is needed."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, tzinfo
from fractions import Fraction

from apportion.reports.advice.work import HOUR_S, Saving, Work

LONGEST_S = 8 * HOUR_S  # longer work meets dear hours whenever it runs
LATEST_H = 24  # so many hours later, at most
LEAST = Fraction(20, 100)  # of the charge: less is not worth the wait
KEPT = ("interactive", "inference")  # somebody waits for it
FINE = "completed"
SURE = 2  # of the saving, at least one in so many parts: others may have had the same thought


def nights(works: Sequence[Work], zone: tzinfo) -> Iterator[Saving]:
    """At most what the cheapest start within a day costs less, that would still have been in time; at least half of it."""
    for work in works:
        if work.hourly and work.told.needed_s and work.outcome == FINE and work.phase not in KEPT:
            later, part = cheapest(work, zone)
            if part >= LEAST:
                proof = f"needed by {datetime.fromtimestamp(work.told.needed_s, zone):%Y-%m-%d %H:%M}; {later} h later is cheaper"
                yield Saving("night", work, part / SURE, part, Fraction(later), proof)


def cheapest(work: Work, zone: tzinfo) -> tuple[int, Fraction]:
    """How many hours later, and which part of the price that spares."""
    if work.end_s - work.start_s > LONGEST_S:
        return 0, Fraction(0)
    spare_h = ((work.told.needed_s or 0) - work.end_s) // HOUR_S
    own = price(work, 0, zone)
    found = [(price(work, later, zone), later) for later in range(1, min(LATEST_H, spare_h) + 1)]
    least, later = min(found, default=(own, 0))
    return later, 1 - least / own if own else Fraction(0)


def price(work: Work, later_h: int, zone: tzinfo) -> Fraction:
    """Of its hours, so much later, counted by the quarter of an hour."""
    step = HOUR_S // 4
    moments = range(work.start_s + later_h * HOUR_S, work.end_s + later_h * HOUR_S, step)
    return sum((work.hourly[datetime.fromtimestamp(at, UTC).astimezone(zone).hour] for at in moments), Fraction(0))
