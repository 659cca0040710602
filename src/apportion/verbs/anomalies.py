"""Days that stand out, of every team: what is posted, and for the running month what is estimated."""

from collections import defaultdict
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

import pyarrow as pa

from apportion.errors import ApportionError
from apportion.model.currencies import is_money
from apportion.model.rows import SYSTEM_OWNERS
from apportion.model.times import parse_period
from apportion.reports.anomaly import Anomaly, Spent, stands_out
from apportion.reports.live import Estimate
from apportion.reports.sums import grouped
from apportion.verbs.live import live
from apportion.verbs.project import Project
from apportion.verbs.report import posted_periods
from apportion.verbs.steps import Step, silent

if TYPE_CHECKING:
    from decimal import Decimal

USED = ("day", "team", "currency", "pool")


def anomalies(project: Project, today: date, step: Step = silent) -> list[Anomaly]:
    """Of the newest month that has something to show, estimated or posted."""
    try:
        running = live(project, today, step)
    except ApportionError:
        running = None
    return anomalies_beside(project, running)


def anomalies_beside(project: Project, running: Estimate | None) -> list[Anomaly]:
    posted = posted_periods(project)
    estimated = running is not None and str(running.period) not in posted
    newest = str(running.period) if running and estimated else max(posted, default="")
    if not newest:
        return []
    month = parse_period(newest)
    tables = [
        spending(project, text)
        for text in (str(month.previous.previous), str(month.previous), newest)
        if text in posted
    ]
    until = month.last_day
    if running and estimated:
        if running.complete_to is None:
            return []
        tables.append(running.rows.select([*USED, "amount"]))
        until = running.complete_to
    days = [month.first_day + timedelta(days=n) for n in range((until - month.first_day).days + 1)]
    return of_teams(pa.concat_tables(tables), days, estimated=estimated)


def spending(project: Project, period: str) -> pa.Table:
    return project.books.posted(period).select([*USED, "amount"])


def of_teams(rows: pa.Table, days: list[date], *, estimated: bool) -> list[Anomaly]:
    spent: dict[tuple[str, str], dict[date, dict[str, Decimal]]] = defaultdict(lambda: defaultdict(dict))
    for (day, team, currency, pool), amount in grouped(rows, USED).items():
        if team not in SYSTEM_OWNERS and is_money(currency):
            spent[team, currency][date.fromisoformat(day)][pool] = amount
    found = [one for (team, currency), own in sorted(spent.items()) for one in told(team, currency, own, days)]
    return [replace(one, estimated=estimated) for one in found]


def told(team: str, currency: str, spent: Spent, days: list[date]) -> list[Anomaly]:
    return stands_out(team, currency, spent, [day for day in days if day in spent])
