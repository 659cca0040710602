"""Budgets: what a team or a project means to spend a month, and what it spent so far. Nothing is enforced; `quota` is for what must not be exceeded."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal

from apportion.books.budgets import Budget
from apportion.errors import ProjectError
from apportion.model.currencies import MINOR_DIGITS
from apportion.model.money import plain
from apportion.model.numbers import parse_decimal
from apportion.model.times import Period
from apportion.render.listing import Listing
from apportion.render.sheet import report_sheet
from apportion.reports.budgets import MonthEnds, Spending, budget_report, spendings
from apportion.verbs.asked import current_month, refuse_unknown, today_of
from apportion.verbs.forecast import ends_of_month
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.report import Reading, posted_periods, read_record
from apportion.verbs.transfers import places

LARGEST = Decimal(10) ** 18


def set_budget(project: Project, owner: str, amount: str | Decimal, since: Period | str, why: str = "") -> Budget:
    """Set what a team or a project means to spend a month; nothing is enforced.

    `owner` is TEAM or TEAM/PROJECT; `amount` is for a month, in the policy's currency (`1200.00`, or `1200.00 USD`), from the month `since` on.
    0 ends the budget from that month on. Setting another one for the same month replaces it; both stay on record.
    """
    team, _, part = owner.partition("/")
    refuse_unknown(project, team)
    currency = project.policy.currency
    wanted = Budget(team, part, str(as_period(since)), currency, budgeted(str(amount), currency), why.strip())
    known = [one for one in project.books.budgets.all() if (one.owner, one.since) == (owner, wanted.since)]
    if known and replace(known[-1], who="", at_s=0) == wanted:
        return known[-1]
    return project.books.budgets.set(wanted)


def budgeted(text: str, currency: str) -> Decimal:
    """A whole number of the currency's coins, 0 or more."""
    figure, _, other = text.strip().partition(" ")
    if other.strip() not in ("", currency):
        raise ProjectError(
            "other-currency",
            f"a budget is in {currency}, as the policy is, not in {other.strip()}",
            hint=f"write {figure} {currency}",
        )
    amount = parse_decimal(figure)
    if amount < 0 or amount >= LARGEST or places(amount) > MINOR_DIGITS[currency]:
        raise ProjectError(
            "invalid-amount",
            f"{figure} {currency} is no budget",
            hint=f"write 0 or more with at most {MINOR_DIGITS[currency]} decimal places, such as 12000; 0 ends it",
        )
    return Decimal(plain(amount))


Foresee = Callable[[Project, Period, date], MonthEnds | None]


def budgets(
    project: Project,
    period: Period | str | None = None,
    read: Reading = read_record,
    today: date | None = None,
    foresee: Foresee | None = ends_of_month,
) -> Listing[Spending]:
    """The budgets that hold in a month, by team and project, with what is spent and left of them.

    `read`: the record as somebody may see it, or as kept from before. `foresee`: where a running month ends; None leaves it out.
    """
    month = current_month(project, period)
    there = str(month) in posted_periods(project)
    record = read(project, [month], None) if there else None
    holding, day = project.books.budgets.holding(str(month)), today or today_of(project)
    ends = foresee(project, month, day) if foresee and holding and day <= month.last_day else None
    found = spendings(record, holding, month, ends)
    return Listing(found, lambda: report_sheet(budget_report(found, month, project.books.head())))
