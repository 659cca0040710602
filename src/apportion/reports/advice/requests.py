"""More cores or memory asked for than the run ever needed: its highest look, with room above it, would have been less."""

from collections.abc import Iterator, Sequence
from datetime import tzinfo
from fractions import Fraction
from math import ceil

from apportion.reports.advice.work import HOUR_S, Saving, Side, Stretch, Work, held_in
from apportion.reports.words import hours

LEAST_S = 3 * HOUR_S
LEAST_LOOKS = 6  # a mean over a run hides its peaks
LONGEST_LOOK_S = HOUR_S
MEASURED = Fraction(8, 10)
ROOM, MORE_ROOM = (
    Fraction(12, 10),
    Fraction(15, 10),
)  # above the highest look: for the greatest saving and for the least
LEAST = Fraction(25, 100)  # of the charge: less is prudence


def requests(works: Sequence[Work], zone: tzinfo) -> Iterator[Saving]:
    """At most with a fifth above the highest look, at least with a half. What was not measured is left as it was asked for."""
    del zone
    for work in works:
        peaks = {meter: peak for meter, side in work.sides.items() if (peak := peak_of(side, work)) is not None}
        if not peaks:
            continue
        low, high = (spare(work, peaks, room) for room in (MORE_ROOM, ROOM))
        if high >= LEAST and low > 0:
            yield Saving("requests", work, low, high, proof=proof(work, peaks))


def peak_of(side: Side, work: Work) -> int | None:
    """Base units; None where too little was looked at."""
    looks = [one for one in side.stretches if one.used is not None and one.seconds <= LONGEST_LOOK_S]
    if work.seconds < LEAST_S or len(looks) < LEAST_LOOKS or held_in(looks) < MEASURED * held_in(side.stretches):
        return None
    return max(one.used or 0 for one in looks)


def needed(side: Side, peak: int, room: Fraction) -> int:
    """Whole cores and GiB."""
    return ceil(max(1, peak) * room / side.base) * side.base


def spare(work: Work, peaks: dict[str, int], room: Fraction) -> Fraction:
    """Which part of the charge was for more than that."""
    whole = sum((side.weight * held_in(side.stretches) for side in work.sides.values()), Fraction(0))
    parts = (
        work.sides[meter].weight * above(work.sides[meter].stretches, needed(work.sides[meter], peak, room))
        for meter, peak in peaks.items()
    )
    return sum(parts, Fraction(0)) / whole if whole else Fraction(0)


def above(stretches: Sequence[Stretch], need: int) -> int:
    return sum(max(0, one.held - need) * one.seconds for one in stretches)


def sizes(work: Work) -> dict[str, int]:
    """What to ask for: whole cores and GiB, by meter, and never more than before."""
    peaks = ((meter, side, peak_of(side, work)) for meter, side in work.sides.items())
    return {
        meter: min(needed(side, peak, ROOM) // side.base, asked(side))
        for meter, side, peak in peaks
        if peak is not None
    }


def proof(work: Work, peaks: dict[str, int]) -> str:
    words = {"cpu": "cores", "memory": "GiB"}
    told = (
        f"{hours(Fraction(peak, work.sides[meter].base))} of {asked(work.sides[meter])} {words[meter]}"
        for meter, peak in peaks.items()
    )
    return f"at most {' and '.join(told)} in use"


def asked(side: Side) -> int:
    return max(one.held for one in side.stretches) // side.base
