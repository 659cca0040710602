"""Where each month stands: open, in review (it is over, and waits for its days of grace or for somebody to close it), or closed."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from apportion.books.shapes import CLOSE, CORRECTION, StoredRun
from apportion.model.currencies import is_money
from apportion.model.times import Period, day_start, parse_period
from apportion.policy.document import Policy
from apportion.policy.rules import Closing
from apportion.render.listing import Listing
from apportion.render.sheet import Sheet, Table
from apportion.reports.report import Column
from apportion.reports.sums import grouped
from apportion.reports.words import counted, shown
from apportion.verbs.agreement import policy_for
from apportion.verbs.minor_units import read_posted
from apportion.verbs.project import Project

OPEN, IN_REVIEW, CLOSED = "open", "in review", "closed"


@dataclass(frozen=True, slots=True)
class Month:
    """`day` is that of the close, or the first on which it can be closed; `amounts` is what is posted, by currency."""

    period: str
    status: str
    day: str
    amounts: dict[str, Decimal]
    corrections: int
    invoices: int
    why: str


def closable_from(policy: Policy, period: Period) -> date:
    """The first day after the month and its days of grace."""
    rules = policy.close or Closing()
    return period.next.first_day + timedelta(days=rules.grace_days or 0)


def months(project: Project) -> Listing[Month]:
    """Where each month stands: open, in review or closed."""
    found = list(every(project))
    return Listing(found, lambda: month_list(found))


def every(project: Project) -> Iterator[Month]:
    """Every month that something is posted in, oldest first."""
    runs = project.books.runs()
    for text in sorted({run.period for run in runs}):
        period = parse_period(text)
        own = [run for run in runs if run.period == text]
        policy = policy_for(project, period)
        status, day = standing(policy, period, own)
        closed = project.books.closed(text)
        posted = grouped(read_posted(project, text), ("currency",))
        yield Month(
            period=text,
            status=status,
            day=day.isoformat(),
            amounts={currency: amount for (currency,), amount in posted.items() if is_money(currency)},
            corrections=sum(run.kind == CORRECTION for run in own),
            invoices=sum(bool(one.number) for one in closed.documents) if closed else 0,
            why=closed.why if closed else "",
        )


def standing(policy: Policy, period: Period, runs: list[StoredRun]) -> tuple[str, date]:
    zone = ZoneInfo(policy.time_zone)
    for run in runs:
        if run.kind == CLOSE:
            return CLOSED, datetime.fromtimestamp(run.posted_s, zone).date()
    over = time.time() >= day_start(period.next.first_day, zone)
    return IN_REVIEW if over else OPEN, closable_from(policy, period)


def month_list(found: Sequence[Month]) -> Sheet:
    columns = (
        Column("period", "month"),
        Column("status", "status"),
        Column("day", "closed, or can be from"),
        Column("posted", "posted"),
        Column("corrections", "corrections", "count"),
        Column("invoices", "invoices", "count"),
        Column("why", "closed although", quiet=True),
    )
    rows = tuple(
        (
            month.period, month.status, month.day, ", ".join(shown(amount, currency) for currency, amount in month.amounts.items()),
            month.corrections, month.invoices, month.why or None,
        )
        for month in found
    )  # fmt: skip
    return Sheet(f"{counted(len(found), 'month')}.", (Table(columns, rows),), {"months": found})
