"""Where the month ends: from what is posted, what is estimated of the running month, and how such forecasts did before. Nothing is written."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import PLAN
from apportion.errors import ApportionError, ProjectError
from apportion.model.times import Period, local_day, parse_period
from apportion.reports.budgets import MonthEnds
from apportion.reports.forecast.made import Backtest, Forecast, Known, backtest_of, forecast_of, month_ends
from apportion.reports.forecast.series import NEEDED, ROWS
from apportion.reports.live import BILLED, Estimate
from apportion.verbs.asked import refuse_unknown, today_of
from apportion.verbs.live import live
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.reaches import known_day, partial_days
from apportion.verbs.report import posted_periods
from apportion.verbs.spanning import after, as_posted, standing_rows
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import Pins, pins_of, pins_of_run

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
    partial: frozenset[date] = frozenset()  # days of which a part is on a bill that is not there

    @property
    def last(self) -> Period:
        return parse_period(self.months[-1])


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
    running = estimated(project, day, step)
    step("looking back", 0, 0)
    return known_beside(project, asked, running, day)


def ends_of_month(project: Project, month: Period, today: date) -> MonthEnds | None:
    """What budgets are held against. None where the month is not the one that runs, or nothing is known."""
    try:
        return ends_beside(project, month, estimated(project, today), today)
    except ProjectError:
        return None


def ends_beside(project: Project, month: Period, running: Estimate | None, today: date) -> MonthEnds | None:
    seen = known_beside(project, Asked(), running, today)
    if seen.month != month:
        return None
    split = {one.team for one in project.books.budgets.holding(str(month)) if one.project}
    return MonthEnds(seen.through, month_ends(seen, split))


def estimated(project: Project, today: date, step: Step = silent) -> Estimate | None:
    try:
        return live(project, today, step)
    except ApportionError:  # without usage there is nothing to estimate; what is posted stays
        return None


def known_beside(project: Project, asked: Asked, running: Estimate | None, today: date) -> Known:
    for team in asked.teams:
        refuse_unknown(project, team)
    pins = pins_of(project)
    reach = reach_of(project, running, today, pins)
    month, through = asked_month(asked, reach)
    as_if = asked.through is not None and asked.through < reach.through
    rows, standing = spending(project, reach), ROWS.empty_table()
    if not as_if and month == reach.last and through < month.last_day:
        there = rows.filter(pc.equal(rows["period"], str(month)))
        standing = as_posted(standing_rows(project, reach.months, through, pins), there, month, through)
    holding = project.books.budgets.holding(str(month))
    budgets = {(one.team, one.currency): one.amount for one in holding if not one.project}
    unposted = None
    if reach.running is not None and reach.running.period.first_day <= through:
        unposted = reach.posted_to + DAY if reach.posted_to else reach.running.period.first_day
    return Known(
        until(rows, through),
        month,
        parse_period(reach.months[0]).first_day,
        through,
        budgets if asked.by == "team" else {},
        unposted,
        project.books.head() if asked.seen is None else "",
        standing,
        frozenset(day for day in reach.partial if day <= through),
        told_of(asked),
    )


def told_of(asked: Asked) -> frozenset[str] | None:
    if not asked.teams:
        return asked.seen
    return frozenset(asked.teams) if asked.seen is None else asked.seen & frozenset(asked.teams)


def reach_of(project: Project, running: Estimate | None, today: date, pins: Pins) -> Reach:
    """Of the running month only days that are complete count, posted or estimated."""
    posted = sorted(posted_periods(project))
    newest = parse_period(posted[-1]) if posted else None
    if running is not None and (newest is None or running.period >= newest) and running.complete_to is not None:
        months, through = leading(posted, running.period), running.complete_to
        if running.period != newest:
            return Reach(through, months, running, None, beside_edges(project, months, pins, running))
        if today <= running.period.last_day:
            return Reach(through, months, running, posted_to(project, newest), edges(project, months, pins))
    if newest is None:
        raise ProjectError(
            "nothing-posted",
            "nothing is known that a month could be foreseen by: no month is posted, and no day of the running one is complete",
            hint="run `apportion ingest`, `apportion plan` and `apportion apply` first",
        )
    months = leading(posted, newest)
    is_over = today > newest.last_day
    through = newest.last_day if is_over else known_day(project, newest, pins, today) or newest.first_day - DAY
    return Reach(through, months, partial=edges(project, months, pins))


def edges(project: Project, months: Sequence[str], pins: Pins) -> frozenset[date]:
    return partial_days(project, [parse_period(text) for text in months], pins)


def beside_edges(project: Project, months: Sequence[str], pins: Pins, running: Estimate) -> frozenset[date]:
    """The last day of the last bills is whole where the running month has rows of its rest."""
    if len(months) < 2:
        return frozenset()
    there = set(pc.unique(running.rows["day"]).to_pylist())
    return frozenset(day for day in edges(project, months[:-1], pins) if day not in there)


def posted_to(project: Project, month: Period) -> date | None:
    """The last day that was known when the month was posted: lines for days to come were no less posted."""
    run = [run for run in project.books.runs(PLAN) if run.period == str(month)][-1]
    posted = local_day(run.posted_s, ZoneInfo(project.policy.time_zone))
    return known_day(project, month, pins_of_run(project, run), posted)


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


def spending(project: Project, reach: Reach) -> pa.Table:
    """By month, day, team, project and pool. Days that are posted are as they are, later ones of the running month as they are estimated; what is posted
    or billed for days that are not known stays, since it tells how lines that span days are posted.
    """
    last = reach.last
    tables = [summed(project.books.posted(month)) for month in reach.months if month != str(last)]
    there = summed(project.books.posted(str(last)))
    if reach.running is not None:
        split = reach.posted_to or last.first_day - DAY
        rows = reach.running.rows
        known = summed(until(after(rows, split), reach.through))
        billed = after(rows.filter(pc.equal(rows["basis"], BILLED)), reach.through)
        tables += [until(there, min(split, reach.through)), known, summed(billed), summed(reach.running.later)]
    else:
        tables.append(there)
    return pa.concat_tables(tables)


def summed(rows: pa.Table) -> pa.Table:
    keys = [name for name in NEEDED if name != "amount"]
    made = rows.select(list(NEEDED)).group_by(keys).aggregate([("amount", "sum")])
    return made.rename_columns([*keys, "amount"]).select(list(NEEDED))


def until(rows: pa.Table, day: date) -> pa.Table:
    """What a month books for days before it stays."""
    return rows.filter(pc.less_equal(rows["day"], pa.scalar(day, pa.date32())))


def as_day(day: date | str | None) -> date | None:
    if not isinstance(day, str):
        return day
    try:
        return date.fromisoformat(day)
    except ValueError as error:
        raise ProjectError("invalid-day", f"{day!r} is not a day", hint="write it as 2026-11-05") from error
