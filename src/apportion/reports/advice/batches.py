"""Boards that are busy and never full, with memory to spare: larger batches would do the same in less time."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from fractions import Fraction

from apportion.reports.advice.models import BOARDS, GIB, board_of, on_whole_boards
from apportion.reports.advice.slices import peak_of
from apportion.reports.advice.work import Saving, Work, mean, started
from apportion.reports.held import places
from apportion.reports.words import percent

LEARNS = ("training", "tuning")
LEAST, MOST = Fraction(35, 100), Fraction(70, 100)  # in use, on average
SPIKE = Fraction(80, 100)  # one that is ever so busy has no room
SPARE = Fraction(50, 100)  # of the memory, at least
REACHED = Fraction(85, 100)  # in use, with batches that fill the board
SURE = 3  # of what that saves, at least one in so many parts


def batches(works: Sequence[Work], zone: tzinfo) -> Iterator[Saving]:
    """At most as if its boards were 85 % in use, at least a third of that."""
    del zone
    for work in works:
        used = mean(started(work))
        if used is not None and has_room(work) and LEAST <= used <= MOST:
            high = 1 - used / REACHED
            yield Saving("batch", work, high / SURE, high, used, proof(work, used))


def has_room(work: Work) -> bool:
    own, peak = BOARDS.get(board_of(work.model)), peak_of(work) if on_whole_boards(work) else None
    if own is None or peak is None or work.told.memory is None or work.phase not in LEARNS:
        return False
    return peak <= SPIKE and work.told.memory <= (1 - SPARE) * own.gib * GIB


def proof(work: Work, used: Fraction) -> str:
    board = board_of(work.model)
    return f"{percent(places(used))} in use on average, {(work.told.memory or 0) // GIB} of {BOARDS[board].gib} GiB at most"
