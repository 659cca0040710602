"""The kinds of advice: what finds them, what they say, and how much work it is to act."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from apportion.reports.advice.abandoned import abandoned
from apportion.reports.advice.batches import batches
from apportion.reports.advice.checkpoints import checkpoints
from apportion.reports.advice.duplicates import duplicates
from apportion.reports.advice.hung import hung
from apportion.reports.advice.idle import idle
from apportion.reports.advice.models import models
from apportion.reports.advice.nights import nights
from apportion.reports.advice.overnight import overnight
from apportion.reports.advice.preemptible import preemptible
from apportion.reports.advice.requests import requests
from apportion.reports.advice.retries import retries
from apportion.reports.advice.slices import slices
from apportion.reports.advice.work import BOARDS, HOSTS, STORES, Saving, Work
from apportion.reports.words import counted

Find = Callable[[Sequence[Work], tzinfo], Iterator[Saving]]


@dataclass(frozen=True, slots=True)
class Kind:
    """`what` goes on after `3 runs of train-align`; `sort` is what is paid for."""

    find: Find
    what: str
    effort: str
    sort: str = BOARDS

    def sentence(self, name: str, unit: str, runs: int) -> str:
        if self.sort == STORES:
            return f"{name or 'Something without a name'} {self.what}."
        return f"{counted(runs, 'run')} of {name or 'no name'} {self.what.format(unit=unit)}."


# The most specific first: what a kind finds, no kind after it claims again.
KINDS: Mapping[str, Kind] = {
    "retries": Kind(retries, "failed again after the same time, each time from the beginning", "a day"),
    "checkpoint": Kind(checkpoints, "were cut short and began anew: the work before was lost", "a day"),
    "duplicate": Kind(duplicates, "did again what had just been done", "minutes"),
    "idle": Kind(idle, "held a {unit} and left it idle from the first hour to the end", "minutes"),
    "hung": Kind(hung, "stood still for hours before the end, with every {unit} still held", "an hour"),
    "overnight": Kind(overnight, "kept a {unit} through the night without using it", "minutes"),
    "slice": Kind(slices, "never needed more than a small part of its {unit}", "an hour"),
    "model": Kind(models, "never needed so fast a {unit}", "an hour"),
    "batch": Kind(batches, "left room on its {unit}s, in memory and in time", "a day"),
    "preemptible": Kind(preemptible, "can be cut short and carry on, and paid not to be", "minutes"),
    "night": Kind(nights, "ran in dear hours and could have waited for cheap ones", "minutes"),
    "requests": Kind(requests, "asked for more than it ever used", "minutes", HOSTS),
    "abandoned": Kind(abandoned, "lies there and nobody reads it", "an hour", STORES),
}


def findings(works: Sequence[Work], zone: tzinfo, kinds: Sequence[str] = tuple(KINDS)) -> list[Saving]:
    """What is wasted. Every workload is in one finding at most, whichever kinds are asked for: the most specific has it."""
    claimed: set[tuple[str, str]] = set()
    made = []
    for name, kind in KINDS.items():
        found = list(kind.find([work for work in works if work.sort == kind.sort], zone))
        made += [one for one in found if one.work.key not in claimed and name in kinds]
        claimed |= {one.work.key for one in found}
    return made
