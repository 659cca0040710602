"""Work with its money: what each workload was charged, what kind of work it was, and which workloads are one run.

`facets` and `runs` are sums of charges by workload (`worked.py`); what is posted to owners alone (idle, overhead) is one row, never spread over runs
by a rule of its own: rows add up to the posted amount to the last digit. A token's price is made where all runs of a job count tokens and all of it
lies inside the months.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from apportion.model.facets import Fact
from apportion.model.money import NANO, from_nanos
from apportion.reports.sums import total

NOT_SET = "(not set)"
NO_WORKLOAD = "(of no workload)"
MEASURES = ("tokens", "samples")
NO_FACTS: Mapping[str, Fact] = {}


@dataclass(frozen=True, slots=True)
class Job:
    """A workload. `whole`: all that is known of it lies inside the months, and it has ended. `said`: what each of its tracker's runs counted."""

    workload: str
    run: str
    name: str = ""
    outcome: str = ""
    whole: bool = False
    facets: Mapping[str, Fact] = field(default_factory=dict)
    said: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    def value(self, facet: str) -> str:
        return self.facets[facet].value if facet in self.facets else ""


@dataclass(frozen=True, slots=True)
class Charge:
    """What a job was charged, as whose."""

    job: Job
    owner: tuple[str, str, str]
    amount: Decimal


@dataclass(frozen=True)
class Worked:
    """The charges of one currency, and all that was posted to the same owners: what is not charged to work is of no workload."""

    currency: str
    posted: Decimal
    charges: tuple[Charge, ...]

    @cached_property
    def charged(self) -> Decimal:
        return money(self.charges)


def money(charges: Iterable[Charge]) -> Decimal:
    return total(charge.amount for charge in charges)


def each(amount: Decimal, count: int, of: int = 1) -> Decimal | None:
    """What `of` cost where `count` cost `amount`, to nanos; nothing where there is none."""
    return from_nanos(round(Fraction(amount) * of * NANO / count)) if count else None


class Ties:
    """Things that belong together, told pair by pair."""

    def __init__(self) -> None:
        self._up: dict[tuple[str, str], tuple[str, str]] = {}

    def root(self, one: tuple[str, str]) -> tuple[str, str]:
        while (above := self._up.setdefault(one, one)) != one:
            self._up[one] = self._up[above]
            one = above
        return one

    def tie(self, one: tuple[str, str], other: tuple[str, str]) -> None:
        first, second = sorted((self.root(one), self.root(other)))
        self._up[second] = first


def runs_of(jobs: Iterable[Job]) -> Callable[[Job], tuple[str, str]]:
    """The run that a job is part of: attempts and tasks of one run are, and jobs that went on with one run of a tracker."""
    ties = Ties()
    for job in jobs:
        for other in (("run", job.run), *(("tracked", name) for name in job.said)):
            ties.tie(("job", job.workload), other)
    return lambda job: ties.root(("job", job.workload))


def parts_of(jobs: Sequence[Job]) -> Callable[[Job], tuple[str, str]]:
    """What a tracker's count is about: the jobs that its runs name. Where a run names only some of a scheduler's run (its first pod), all of that."""
    ties = Ties()
    untold = {job.run for job in jobs if not job.said}
    for job in jobs:
        for name in job.said:
            ties.tie(("job", job.workload), ("tracked", name))
        if job.run in untold:
            ties.tie(("job", job.workload), ("run", job.run))
    return lambda job: ties.root(("job", job.workload))


@dataclass(frozen=True, slots=True)
class Counted:
    """What was counted of one measure, what it cost, and how many runs of a tracker say so."""

    count: int = 0
    amount: Decimal = Decimal(0)
    reporting: int = 0


@dataclass(frozen=True, slots=True)
class Part:
    """Jobs that count together, and what all of them were charged."""

    charges: tuple[Charge, ...]

    def counted(self, measure: str) -> Counted | None:
        """None unless every run says a count, and all of it is inside the months: half a run would make it dear, or cheap."""
        jobs = [charge.job for charge in self.charges]
        said: dict[str, int] = {}
        for job in jobs:
            for name, counts in job.said.items():
                said[name] = max(said.get(name, 0), counts.get(measure, 0))
        if not said or not all(said.values()) or not all(job.whole for job in jobs):
            return None
        return Counted(sum(said.values()), money(self.charges), len(said))


def together(charges: Iterable[Charge]) -> dict[tuple[str, str], Part]:
    some = tuple(charges)
    part_of = parts_of([charge.job for charge in some])
    found: dict[tuple[str, str], list[Charge]] = defaultdict(list)
    for charge in some:
        found[part_of(charge.job)].append(charge)
    return {key: Part(tuple(own)) for key, own in found.items()}
