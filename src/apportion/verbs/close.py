"""Close a month: look whether it may be, then freeze it in whole minor units. A refusal lists every reason; an override is recorded."""

from collections.abc import Sequence
from dataclasses import dataclass

from apportion.books.shapes import PLAN, Beside, Close, Closed, StoredRun
from apportion.errors import BooksError
from apportion.model.findings import JudgedFinding
from apportion.model.result import Result
from apportion.model.times import Period
from apportion.verbs.agreement import keep, policy_for
from apportion.verbs.closing import Look, looks
from apportion.verbs.findings import planned_findings, refuse_standing
from apportion.verbs.notify import enrol
from apportion.verbs.periods import as_period
from apportion.verbs.preview import upcoming
from apportion.verbs.project import Project
from apportion.verbs.statement import documents
from apportion.verbs.steps import Step, silent


@dataclass(frozen=True, slots=True, repr=False)
class Outcome(Result):
    """`closed` is None where some look said no and nobody overrode it."""

    period: str
    looks: tuple[Look, ...]
    closed: Closed | None
    again: bool = False  # it was closed before
    findings: tuple[JudgedFinding, ...] = ()

    @property
    def against(self) -> tuple[Look, ...]:
        return tuple(look for look in self.looks if not look.good)


def next_to_close(project: Project) -> set[str]:
    """The first open month that has something posted; with none, the last that was closed."""
    closed = project.books.closed_periods()
    still_open = {run.period for run in project.books.runs()} - set(closed)
    return {min(still_open)} if still_open else set(closed[-1:])


def close(project: Project, period: Period | str, override: str = "", step: Step = silent) -> Outcome:
    """Close a month, after checks: from then on nothing is posted in it.

    `override` is the reason for closing although some look says no; it is kept with the close. Findings above the policy's bound are no look
    that can be overridden: `accept` lets them stand.
    """
    period = as_period(period)
    known = project.books.closed(str(period))
    if known is not None:
        return Outcome(str(period), (), known, again=True)
    runs = [run for run in project.books.runs() if run.period == str(period)]
    if not runs:
        raise BooksError(
            "nothing-posted", f"nothing is posted in {period}", hint=f"apportion plan --period {period}, then apply"
        )
    findings = planned_findings(project, policy_for(project, period), period)
    head = project.books.head()
    found = tuple(looks(project, period, step, findings))
    if not override and not all(look.good for look in found):
        return Outcome(str(period), found, None, findings=findings)
    refuse_standing(findings, period, "close")
    enrol(project)
    step(f"closing {period}", 0, 0)
    minor = project.books.minor(str(period))
    beside = upcoming(project, period)
    closing = Close(
        period=str(period),
        policy_version=posted_with(project, period, runs),
        minor=minor,
        checks={look.name: ("" if look.good else "no: ") + look.text for look in found},
        expected_head=head,
        why=override,
        documents=documents(project, period, step, beside),
        beside=Beside(beside.policy.version, beside.policy.text) if beside and beside.policy else None,
    )
    return Outcome(str(period), found, project.books.close_period(closing), findings=findings)


def posted_with(project: Project, period: Period, runs: Sequence[StoredRun]) -> str:
    """A month without a bill, that only holds what was late for others, is closed with the policy in force."""
    own = [run.policy_version for run in runs if run.kind == PLAN]
    if own:
        return own[-1]
    policy = policy_for(project, period)
    keep(project, policy)
    return policy.version
