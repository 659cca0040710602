"""Where the month ends: from what is posted, what is estimated of the running month, and how such forecasts did before. Nothing is written."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import ApportionError, ProjectError
from apportion.model.times import Period, parse_period
from apportion.reports.forecast.made import Backtest, Forecast, Known, backtest_of, forecast_of
from apportion.reports.forecast.series import NEEDED
from apportion.reports.live import Estimate
from apportion.verbs.budget import refuse_unknown, today_of
from apportion.verbs.live import live
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.report import posted_periods
from apportion.verbs.steps import Step, silent

HISTORY = 7  # months that are looked back at
DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Asked:
    """`teams`: only these, unless there are none; `seen` are those that may be seen, None for all. `through`: as if later days were not known yet."""

    teams: tuple[str, ...] = ()
    by: str = "team"
    period: Period | None = None
    through: date | None = None
    seen: frozenset[str] | None = None


@dataclass(frozen=True, slots=True)
class Reach:
    """The last day that is known, the months that lead to it without a hole, and the estimate of the last of them where it is not posted whole."""

    through: date
    months: tuple[str, ...]
    running: Estimate | None = None
    posted_to: date | None = None  # of the running month


def forecast(
    project: Project,
    *teams: str,
    by: str = "team",
    period: Period | str | None = None,
    through: date | str | None = None,
) -> Forecast:
    """Where the month ends, and how sure that is: by team or pool, of some teams or of all; the month that is running unless another is given."""
    month = None if period is None else as_period(period)
    return forecast_of(known(project, Asked(teams, by, month, as_day(through))), by)


def forecast_backtest(project: Project, *teams: str, by: str = "team", through: date | str | None = None) -> Backtest:
    """How such forecasts did: of the months that are over, with what was known at their days 7, 14 and 21."""
    return backtest_of(known(project, Asked(teams, by, None, as_day(through))), by)


def known(project: Project, asked: Asked, step: Step = silent) -> Known:
    """All that a forecast rests on, the running month estimated afresh."""
    day = today_of(project)
    try:
        running = live(project, day, step)
    except ApportionError:  # without usage there is nothing to estimate; what is posted stays
        running = None
    step("looking back", 0, 0)
    return known_beside(project, asked, running, day)


def known_beside(project: Project, asked: Asked, running: Estimate | None, today: date) -> Known:
    for team in asked.teams:
        refuse_unknown(project, team)
    reach = reach_of(project, running, today)
    month, through = asked_month(asked, reach)
    rows = only(only(spending(project, reach, through), asked.seen), asked.teams or None)
    first = parse_period(reach.months[0]).first_day
    holding = project.books.budgets.holding(str(month))
    budgets = {(one.team, one.currency): one.amount for one in holding if not one.project}
    estimated = None
    if reach.running is not None and reach.running.period.first_day <= through:
        estimated = reach.posted_to + DAY if reach.posted_to else reach.running.period.first_day
    head = project.books.head() if asked.seen is None else ""
    return Known(rows, month, first, through, budgets if asked.by == "team" else {}, estimated, head)


def reach_of(project: Project, running: Estimate | None, today: date) -> Reach:
    """Of the running month only days that are complete count, posted or estimated."""
    posted = sorted(posted_periods(project))
    newest = parse_period(posted[-1]) if posted else None
    if running is not None and (newest is None or running.period >= newest) and running.complete_to is not None:
        ends = running.period.last_day
        if running.period != newest:
            return Reach(running.complete_to, leading(posted, running.period), running)
        if today <= ends:
            return Reach(running.complete_to, leading(posted, newest), running, last_posted(project, newest))
    if newest is None:
        raise ProjectError(
            "nothing-posted",
            "nothing is known that a month could be foreseen by: no month is posted, and no day of the running one is complete",
            hint="run `apportion ingest`, `apportion plan` and `apportion apply` first",
        )
    last = last_posted(project, newest) if today <= newest.last_day else newest.last_day
    return Reach(min(last or newest.first_day - DAY, max(today - DAY, newest.first_day - DAY)), leading(posted, newest))


def last_posted(project: Project, month: Period) -> date | None:
    """The last day of the month that something is posted for."""
    days = [day for day in pc.unique(project.books.posted(str(month))["day"]).to_pylist() if day <= month.last_day]
    return max(days, default=None)


def leading(posted: Collection[str], month: Period) -> tuple[str, ...]:
    """The month, and before it as many as follow on each other: of a month that is not posted nothing is known."""
    found, one = [str(month)], month.previous
    while str(one) in posted and len(found) <= HISTORY:
        found.append(str(one))
        one = one.previous
    return tuple(reversed(found))


def asked_month(asked: Asked, reach: Reach) -> tuple[Period, date]:
    """The month that is foreseen, and the last day that counts as known for it."""
    first = parse_period(reach.months[0]).first_day
    through = min(reach.through, asked.through or reach.through)
    running = Period((through + DAY).year, (through + DAY).month)
    month = asked.period or running
    if month > running:
        raise ProjectError(
            "period-ahead",
            f"{month} cannot be foreseen: days are known through {through}, and a forecast goes to the end of the month after them",
            hint=f"ask for {running}",
        )
    if month.first_day < first or through < first:
        raise ProjectError(
            "nothing-posted", f"nothing is known of {month} that leads up to {reach.through}", hint=f"ask for {running}"
        )
    return month, min(through, month.last_day)


def spending(project: Project, reach: Reach, through: date) -> pa.Table:
    """By month, day, team and pool; days that are posted as they are, later ones of the running month as they are estimated."""
    last = parse_period(reach.months[-1])
    tables = [summed(project.books.posted(month)) for month in reach.months]
    if reach.running is not None:
        kept = until(tables.pop(), min(reach.posted_to or last.first_day - DAY, through))
        rows = summed(reach.running.rows)
        later = pc.greater(rows["day"], pa.scalar(reach.posted_to or last.first_day - DAY, pa.date32()))
        tables += [kept, until(rows.filter(later), through)]
    elif through < last.last_day:
        tables.append(until(tables.pop(), through))
    return pa.concat_tables(tables)


def summed(rows: pa.Table) -> pa.Table:
    keys = [name for name in NEEDED if name != "amount"]
    made = rows.select(list(NEEDED)).group_by(keys).aggregate([("amount", "sum")])
    return made.rename_columns([*keys, "amount"]).select(list(NEEDED))


def until(rows: pa.Table, day: date) -> pa.Table:
    """What a month books for days before it stays."""
    return rows.filter(pc.less_equal(rows["day"], pa.scalar(day, pa.date32())))


def only(rows: pa.Table, teams: Collection[str] | None) -> pa.Table:
    return rows if teams is None else rows.filter(pc.is_in(rows["team"], pa.array(sorted(teams), pa.string())))


def as_day(day: date | str | None) -> date | None:
    if not isinstance(day, str):
        return day
    try:
        return date.fromisoformat(day)
    except ValueError as error:
        raise ProjectError("invalid-day", f"{day!r} is not a day", hint="write it as 2026-11-05") from error
