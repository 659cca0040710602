"""What a run came to: all its attempts and array tasks, month by month."""

from dataclasses import dataclass

from apportion.model.result import Result
from apportion.reports.held import Views
from apportion.reports.job import JobLine


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt or array task, in one currency."""

    workload: str
    outcome: str
    start_s: int
    end_s: int
    line: JobLine


@dataclass(frozen=True, slots=True)
class Share:
    """A period's part of the figures. `final`: posted, and no later plan says otherwise."""

    period: str
    status: str
    why: str
    basis: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Cost(Result):
    run: str
    name: str
    owners: tuple[str, ...]
    status: str
    shares: tuple[Share, ...]
    attempts: tuple[Attempt, ...]
    totals: tuple[JobLine, ...]
    teams: tuple[str, ...] = ()  # of the owners
    views: tuple[tuple[str, Views], ...] = ()  # currency, and what was held and used of each unit that was paid in it
