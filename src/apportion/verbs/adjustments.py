"""Who pays for whom: what was decided once, of all months, and what the policy of a month agrees."""

from collections.abc import Callable, Collection
from dataclasses import asdict, dataclass

from apportion.books.shapes import StoredRun, Transfer
from apportion.model.result import Result
from apportion.model.times import Period
from apportion.policy.rules import Adjustment
from apportion.render.sheet import Sheet, Table, sheet_of
from apportion.reports.report import Column
from apportion.reports.words import counted, shown
from apportion.verbs.agreement import policy_for
from apportion.verbs.asked import posted_month
from apportion.verbs.project import Project

KINDS = ("percent", "smooth", "cap", "floor", "grant")
ONCE = (
    Column("booked", "booked"), Column("kind", "kind"), Column("amount", "amount", "count"), Column("owner", "who is spared"),
    Column("other", "who pays"), Column("why", "why"), Column("approver", "approved by", quiet=True),
    Column("reference", "reference", quiet=True), Column("dispute", "dispute", quiet=True),
)  # fmt: skip
AGREED = (
    Column("team", "team"), Column("what", "what"), Column("pool", "pool"), Column("sponsor", "who pays"),
    Column("from", "from", quiet=True), Column("until", "until"), Column("why", "why"), Column("approver", "approved by", quiet=True),
)  # fmt: skip
Called = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Decided:
    """A credit, or a move to another owner, and the run that posted it."""

    transfer: Transfer
    run: StoredRun


@dataclass(frozen=True, slots=True, repr=False)
class Adjustments(Result):
    """`once` of all months, newest first; `agreed` in the policy of `period`."""

    period: str
    once: tuple[Decided, ...]
    agreed: tuple[Adjustment, ...]

    @property
    def title(self) -> str:
        decided = counted(len(self.once), "one-off credit or move", "one-off credits and moves")
        return f"{decided}, and {counted(len(self.agreed), 'adjustment')} of the policy for {self.period}."


def adjustments(
    project: Project, period: Period | str | None = None, teams: Collection[str] | None = None
) -> Adjustments:
    """Who pays for whom: credits and moves of all months, newest first, and what the policy of the month agrees.

    With `teams` only what one of them is spared or pays.
    """
    month = posted_month(project, period)
    runs = {run.run_id: run for run in project.books.runs()}

    def concerns(*paths: str | None) -> bool:
        return teams is None or any(f"{path}/".startswith(f"{team}/") for path in paths if path for team in teams)

    found = [one for one in reversed(project.books.transfers()) if concerns(one.owner, one.other)]
    rules = [rule for rule in policy_for(project, month).adjustments if concerns(rule.team, rule.sponsor)]
    return Adjustments(str(month), tuple(Decided(one, runs[one.run_id]) for one in found), tuple(rules))


def once_table(made: Adjustments, called: Called = str) -> Table:
    """`called`: what an owner is called before those who look."""
    rows = tuple(
        (
            run.period, run.kind, shown(one.amount, one.currency), called(one.owner), called(one.other),
            f"{one.why} (follows {one.follows})" if one.follows else one.why,
            one.approver or None, one.reference or None, str(one.dispute) if one.dispute else None,
        )
        for one, run in ((decided.transfer, decided.run) for decided in made.once)
    )  # fmt: skip
    return Table(ONCE, rows, heading="Decided once")


def agreed_table(made: Adjustments, called: Called = str) -> Table:
    rows = tuple(
        (
            called(rule.team) if rule.team else "what its labels say", what_of(rule), rule.pool or "all pools", called(rule.sponsor),
            str(rule.from_ or "") or None, str(rule.until or "no end"), rule.why, rule.approver or None,
        )
        for rule in made.agreed
    )  # fmt: skip
    return Table(AGREED, rows, heading="Agreed in the policy")


def what_of(rule: Adjustment) -> str:
    """`percent -10`."""
    given = ((name, getattr(rule, name)) for name in KINDS)
    return ", ".join(f"{name} {value}" for name, value in given if value is not None)


@sheet_of.register
def adjustments_sheet(made: Adjustments) -> Sheet:
    agreed = agreed_table(made)
    names = [column.name for column in agreed.columns]
    value = {
        "title": made.title,
        "period": made.period,
        "once": [{**asdict(one.transfer), "booked": one.run.period, "kind": one.run.kind} for one in made.once],
        "agreed": [dict(zip(names, row, strict=True)) for row in agreed.rows],
    }
    return Sheet(made.title, (once_table(made), agreed), value)
