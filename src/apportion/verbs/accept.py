"""Let findings stand: somebody knows of them and says why. The audit log keeps it, and the statements of those concerned say it."""

from collections.abc import Iterable

from apportion.errors import BooksError
from apportion.model.findings import Finding, JudgedFinding, judge
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.verbs.agreement import policy_for
from apportion.verbs.findings import month_findings, planned_findings, pools_concerned
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.settings import nearest


def accept(project: Project, period: Period | str, codes: Iterable[str], why: str) -> tuple[JudgedFinding, ...]:
    """Let findings of some codes stand in a month, as large as they are now: one that is more than twice as large later asks again.

    Of the findings of the month's deliveries, and of those that its last plan met.
    """
    period, wanted = as_period(period), list(dict.fromkeys(codes))
    policy = policy_for(project, period)
    judged = planned_findings(project, policy, period)
    if wanted and not why.strip():
        hint = f"--accept {wanted[0]} --why TEXT"
        raise BooksError("no-reason", "an acceptance says why", where=f"period {period}", hint=hint)
    there = sorted({one.finding.code for one in judged})
    for code in wanted:
        if code not in there:
            hint = nearest(code, there, "findings") if there else "apportion check lists the findings of a month"
            raise BooksError("no-finding", f"{period} has no finding {code!r}", where=f"period {period}", hint=hint)
    fresh = [one.finding for one in judged if one.finding.code in wanted and one.acceptance is None]
    if not fresh:
        return judged
    told = [(one, pools_concerned(project, one, policy)) for one in fresh]
    known = project.books.acceptances.add(str(period), told, " ".join(why.split()))
    return judge([one.finding for one in judged], policy.bound, known)


def accept_always(
    project: Project, policy: Policy, period: Period, met: Iterable[Finding], wish: tuple[Iterable[str], str]
) -> None:
    """Codes that settings accept in every month: where this one has them above the bound, and nobody accepted them yet."""
    accept_stopping(project, period, month_findings(project, policy, period, met), wish)


def accept_planned(project: Project, period: Period, wish: tuple[Iterable[str], str]) -> None:
    """The same of a month as it was planned last."""
    accept_stopping(project, period, planned_findings(project, policy_for(project, period), period), wish)


def accept_stopping(
    project: Project, period: Period, judged: Iterable[JudgedFinding], wish: tuple[Iterable[str], str]
) -> None:
    codes, why = wish
    there = {one.finding.code for one in judged if one.stops}
    some = [code for code in codes if code in there]
    if some:
        accept(project, period, some, why)
