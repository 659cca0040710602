"""Gaps between samples: those that were bridged are listed as estimated, longer ones as not measured. One gap is one problem, whoever it hit."""

from dataclasses import dataclass, field

import numpy as np

from apportion.errors import Problem
from apportion.model.times import Interval, instant_text
from apportion.sources.prometheus.samples import Holds

NAMED = 5  # whom a problem names before it counts the rest
LISTED = 1000


@dataclass
class Gaps:
    """By metric, first and last second: who had no sample in between."""

    window: Interval
    bridged: dict[tuple[str, int, int], set[str]] = field(default_factory=dict)
    lost: dict[tuple[str, int, int], set[str]] = field(default_factory=dict)

    def note(self, metric: str, held: Holds, whose: str) -> None:
        """The bridged gaps of what was not nothing."""
        for number in np.flatnonzero(held.bridged & (held.values > 0)).tolist():
            self.add(self.bridged, metric, Interval(int(held.start[number]), int(held.end[number])), whose)

    def miss(self, metric: str, gap: Interval, whose: str) -> None:
        self.add(self.lost, metric, gap, whose)

    def add(self, found: dict[tuple[str, int, int], set[str]], metric: str, gap: Interval, whose: str) -> None:
        if gap.start_s < self.window.end_s and gap.end_s > self.window.start_s:
            found.setdefault((metric, gap.start_s, gap.end_s), set()).add(whose)

    def problems(self) -> list[Problem]:
        estimated = [
            problem("estimated", gap, whose, "what was seen before it counts until then")
            for gap, whose in sorted(self.bridged.items())
        ]
        missed = [
            problem("not-measured", gap, whose, "nothing is counted in it") for gap, whose in sorted(self.lost.items())
        ]
        return [*bounded(missed), *bounded(estimated)]


def problem(code: str, gap: tuple[str, int, int], whose: set[str], what: str) -> Problem:
    metric, start, end = gap
    names = sorted(whose)
    rest = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    message = f"no sample for {end - start} s, until {instant_text(end)}, of {', '.join(names[:NAMED])}{rest}; {what}"
    return Problem(f"{metric} from {instant_text(start)}", code, message)


def bounded(found: list[Problem]) -> list[Problem]:
    if len(found) <= LISTED:
        return found
    rest = len(found) - LISTED
    return [*found[:LISTED], Problem(found[0].where, found[0].code, f"and {rest} more gaps", row=f"+{rest}")]
