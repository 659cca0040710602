"""Which months, teams and day are meant where a verb is asked without one, or in words: the newest that the books can speak of."""

import time
from collections.abc import Iterable, Sequence
from datetime import date
from zoneinfo import ZoneInfo

from apportion.errors import ProjectError
from apportion.model.rows import SYSTEM_OWNERS
from apportion.model.times import Period, instant_text, local_day
from apportion.verbs.periods import asked, label, today
from apportion.verbs.project import Project
from apportion.verbs.settings import nearest

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


def nothing_posted(project: Project, periods: Sequence[Period], until_s: int | None = None) -> ProjectError:
    """Why months have no figures: they were never posted, were posted later than the moment asked about, or came to nothing."""
    runs, wanted, months = project.books.runs(), {str(period) for period in periods}, label(list(periods))
    then = [run for run in runs if until_s is None or run.posted_s <= until_s]
    others = sorted({run.period for run in then if run.entries})
    also = f"; posted{'' if until_s is None else ' by then'}: {', '.join(others)}" if others else ""
    first_s = min((run.posted_s for run in runs if run.period in wanted), default=None)
    if first_s is None:
        again = f"run `apportion plan --period {periods[0]}` and `apportion apply --period {periods[0]}`"
        return ProjectError("nothing-posted", f"nothing is posted for {months}", hint=again + also)
    if until_s is not None and first_s > until_s:
        message = f"nothing was posted for {months} by {instant_text(until_s)}; its first posting is of {instant_text(first_s)}"
        return ProjectError("nothing-posted", message, hint=f"ask as of a later day, or of none{also}")
    hint = f"`apportion ledger --period {periods[0]}` shows what was posted, `apportion plan --period {periods[0]}` what would be now"
    return ProjectError("nothing-posted", f"{months} is posted, and its entries come to nothing", hint=hint + also)


def single(period: Period | str | None, known: Iterable[str], hint: str) -> Period:
    if isinstance(period, Period):
        return period
    months = asked(period, known, today(), hint)
    if len(months) != 1:
        raise ProjectError("one-period", f"{period} is more than a month", hint="name one month, such as 2026-10")
    return months[0]


def refuse_unknown(project: Project, team: str) -> None:
    known = sorted({*project.policy.teams, *project.books.teams()} - {*SYSTEM_OWNERS, ""})
    if team not in known:
        raise ProjectError("unknown-owner", f"{team!r} is no team", hint=nearest(team, known, "teams"))


def today_of(project: Project) -> date:
    """In the policy's time zone."""
    return local_day(int(time.time()), ZoneInfo(project.policy.time_zone))
