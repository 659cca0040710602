"""Which months are meant where a verb is asked without one, or in words: the newest that the books can speak of."""

from collections.abc import Iterable, Sequence

from apportion.errors import ProjectError
from apportion.model.times import Period
from apportion.verbs.periods import asked, today
from apportion.verbs.project import Project

Months = Sequence[Period] | Period | str | None
APPLY = "run `apportion apply` first"


def posted_months(project: Project, periods: Months) -> list[Period]:
    """`2026-10`, `2026-Q4`, `2026-04..2026-10` or `last-month`; of several those that are posted, and the newest unless any is named."""
    if isinstance(periods, Period):
        return [periods]
    if isinstance(periods, Sequence) and not isinstance(periods, str):
        return list(periods)
    known = posted(project)
    months = asked(periods, known, today(), APPLY)
    return [month for month in months if len(months) == 1 or str(month) in known] or months


def posted_month(project: Project, period: Period | str | None) -> Period:
    """The newest that is posted unless one is named."""
    return single(period, posted(project) if period is None else (), APPLY)


def current_month(project: Project, period: Period | str | None) -> Period:
    """The newest that is posted, else the one that runs: what is agreed for a month can be asked before anything is posted in it."""
    return single(period, posted(project) or {f"{today():%Y-%m}"} if period is None else (), APPLY)


def posted(project: Project) -> set[str]:
    return {run.period for run in project.books.runs()}


def single(period: Period | str | None, known: Iterable[str], hint: str) -> Period:
    if isinstance(period, Period):
        return period
    months = asked(period, known, today(), hint)
    if len(months) != 1:
        raise ProjectError("one-period", f"{period} is more than a month", hint="name one month, such as 2026-10")
    return months[0]
