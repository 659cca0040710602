"""The same run again: everything that tells runs apart is the same, the first was fine, and nobody waited to see it."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date, datetime, tzinfo
from fractions import Fraction

from apportion.reports.advice.work import HOUR_S, Saving, Work

WINDOW_S = 12 * HOUR_S  # from start to start: what comes back every day has new data
SCHEDULED = 3  # days on which it began: nobody forgets that often, however the queue shifts it
LEAST_S = HOUR_S
FINE = "completed"


def duplicates(works: Sequence[Work], zone: tzinfo) -> Iterator[Saving]:
    """At most all of it, at least what came after the first had ended. Only where runs say what they ran (`config`)."""
    groups: dict[tuple[object, ...], dict[str, list[Work]]] = defaultdict(lambda: defaultdict(list))
    for work in works:
        if work.told.config:
            groups[work.owner, work.name, work.told.config][work.run].append(work)
    for runs in groups.values():
        fine = [some for some in runs.values() if all(is_fine(work) for work in some)]
        if len({day(some, zone) for some in fine}) < SCHEDULED:
            yield from repeated(fine)


def repeated(fine: list[list[Work]]) -> Iterator[Saving]:
    fine.sort(key=lambda some: (min(work.start_s for work in some), some[0].run))
    kept: Sequence[Work] = ()
    for some in fine:
        start_s = min(work.start_s for work in some)
        if not kept or start_s - min(work.start_s for work in kept) > WINDOW_S or boards(some) != boards(kept):
            kept = some
            continue
        known_s = max(work.end_s for work in kept)
        for work in some:
            yield Saving("duplicate", work, after(work, known_s), Fraction(1), proof=f"the same as {kept[0].run}")


def day(some: Sequence[Work], zone: tzinfo) -> date:
    return datetime.fromtimestamp(min(work.start_s for work in some), zone).date()


def is_fine(work: Work) -> bool:
    return work.outcome == FINE and work.end_s - work.start_s >= LEAST_S


def boards(some: Sequence[Work]) -> int:
    return sum(max(one.held for one in work.stretches) for work in some)


def after(work: Work, second: int) -> Fraction:
    """Which part of what it held came then."""
    later = sum(one.held * max(0, one.end_s - max(one.start_s, second)) for one in work.stretches)
    return Fraction(later, work.held)
