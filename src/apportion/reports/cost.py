"""What a run came to: all its attempts and array tasks, month by month."""

from dataclasses import dataclass
from decimal import Decimal

from apportion.model.result import Result
from apportion.reports.held import Views
from apportion.reports.job import JobLine
from apportion.reports.words import shown


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt or array task, in one currency."""

    workload: str
    outcome: str
    start_s: int
    end_s: int
    line: JobLine


@dataclass(frozen=True, slots=True)
class Decided:
    """What people decided of the job's cost in a month, as it stands: a credit (`other` pays it) or a reclass (it stands with `other`)."""

    period: str
    kind: str
    owner: str
    other: str
    currency: str
    amount: Decimal
    booked: str
    why: str
    dispute: int

    @property
    def text(self) -> str:
        amount, why = shown(self.amount, self.currency), f": {self.why}" if self.why else ""
        how = "moved from {owner} to {other}" if self.kind == "reclass" else "credited to {owner}, paid by {other}"
        return f"{self.period}: {amount} of it {how.format(owner=self.owner, other=self.other)}, booked in {self.booked}, dispute {self.dispute}{why}"


@dataclass(frozen=True, slots=True)
class Share:
    """A period's part of the figures. `final`: posted, and no later plan says otherwise. `history`: what corrected it since."""

    period: str
    status: str
    why: str
    basis: str = ""
    history: tuple[str, ...] = ()


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
    decided: tuple[Decided, ...] = ()
    views: tuple[tuple[str, Views], ...] = ()  # currency, and what was held and used of each unit that was paid in it
