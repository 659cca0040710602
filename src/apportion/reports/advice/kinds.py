"""The kinds of advice: what finds them, what they say, and how much work it is to act."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from apportion.reports.advice.hung import hung
from apportion.reports.advice.idle import idle
from apportion.reports.advice.overnight import overnight
from apportion.reports.advice.retries import retries
from apportion.reports.advice.slices import slices
from apportion.reports.advice.work import Finding, Work
from apportion.reports.words import counted

Find = Callable[[Sequence[Work], tzinfo], Iterator[Finding]]


@dataclass(frozen=True, slots=True)
class Kind:
    """`what` goes on after `3 runs of train-align`."""

    find: Find
    what: str
    effort: str

    def sentence(self, name: str, unit: str, runs: int) -> str:
        return f"{counted(runs, 'run')} of {name or 'no name'} {self.what.format(unit=unit)}."


KINDS: Mapping[str, Kind] = {
    "idle": Kind(idle, "held a {unit} and left it idle from the first hour to the end", "minutes"),
    "hung": Kind(hung, "stood still for hours before the end, with every {unit} still held", "an hour"),
    "overnight": Kind(overnight, "kept a {unit} through the night without using it", "minutes"),
    "slice": Kind(slices, "never needed more than a small part of its {unit}", "an hour"),
    "retries": Kind(retries, "failed again after the same time, each time from the beginning", "a day"),
}


def findings(works: Sequence[Work], zone: tzinfo, kinds: Sequence[str] = tuple(KINDS)) -> list[Finding]:
    return [found for kind in kinds for found in KINDS[kind].find(works, zone)]
