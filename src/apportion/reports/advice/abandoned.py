"""What is stored and nobody reads: last opened long ago, and as large as it was."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from fractions import Fraction

from apportion.reports.advice.work import HOUR_S, Saving, Work

DAY_S = 24 * HOUR_S
UNREAD_DAYS = 60
GROWN = Fraction(1, 100)  # more is somebody's writing
ARCHIVED = Fraction(1, 2)  # of the price, at least, is saved where it is put away


def abandoned(works: Sequence[Work], zone: tzinfo) -> Iterator[Saving]:
    """At most all of it, at least half where it is put away. Only where somebody says when it was last read."""
    del zone
    for work in works:
        days = unread(work)
        if days is not None and days >= UNREAD_DAYS and not work.told.kept and not has_grown(work):
            yield Saving("abandoned", work, ARCHIVED, Fraction(1), Fraction(days), f"last read {days} days before")


def unread(work: Work) -> int | None:
    """Days until the last that is known of it."""
    return None if work.told.read_s is None else (work.stretches[-1].end_s - work.told.read_s) // DAY_S


def has_grown(work: Work) -> bool:
    first, last = work.stretches[0].held, work.stretches[-1].held
    return last > first * (1 + GROWN)
