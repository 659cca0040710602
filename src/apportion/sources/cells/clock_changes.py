"""What is told of a local time that names two moments, or none, since clocks are changed."""

from zoneinfo import ZoneInfo

from apportion.errors import Problem
from apportion.model.times import is_ambiguous, is_skipped

AMBIGUOUS, SKIPPED = "ambiguous-time", "skipped-time"
TOLD = {
    AMBIGUOUS: "comes twice, as clocks go back: the first is taken",
    SKIPPED: "never comes, as clocks go forward: it counts by the clock before the change",
}


def clock_changes(where: str, text: str, zone: ZoneInfo) -> list[Problem]:
    """Of one time as it is written; empty where nothing is in doubt."""
    if is_ambiguous(text, zone):
        return [clock_change(where, text, AMBIGUOUS)]
    return [clock_change(where, text, SKIPPED)] if is_skipped(text, zone) else []


def clock_change(where: str, text: str, kind: str) -> Problem:
    if kind == AMBIGUOUS:
        return Problem(where, "ambiguous-time", f"{text!r} {TOLD[AMBIGUOUS]}")
    return Problem(where, "skipped-time", f"{text!r} {TOLD[SKIPPED]}")
