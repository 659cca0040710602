"""What was spent of a budget, what is left, and where a month that is running ends by its forecast."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal

from apportion.books.budgets import Budget
from apportion.model.times import Period
from apportion.reports.report import Cell, Column, Record, Report
from apportion.reports.sums import grouped, less, section, share_of, total
from apportion.reports.words import counted, rounded

COLUMNS = (
    Column("owner", "owner"),
    Column("budget", "budget", "money"),
    Column("spent", "spent", "money"),
    Column("left", "left", "money"),
    Column("share", "share", "share"),
    Column("projected", "month-end", "money", quiet=True),
    Column("through", "known through", quiet=True),
    Column("since", "since"),
    Column("who", "set by"),
    Column("why", "why", quiet=True),
)


@dataclass(frozen=True, slots=True)
class MonthEnds:
    """What a month ends at by its forecast, by (team, project, currency), with days known through `through`."""

    through: date
    amounts: Mapping[tuple[str, str, str], Decimal] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Spending:
    """A budget and its month. `projected` is where the forecast ends, with days known through `through`; None where the month is over or nothing is known."""

    budget: Budget
    period: str
    spent: Decimal
    projected: Decimal | None = None
    through: date | None = None

    @property
    def left(self) -> Decimal:
        """Below 0 where more was spent."""
        return less(self.budget.amount, self.spent)

    @property
    def share(self) -> Decimal | None:
        return share_of(self.spent, self.budget.amount)

    @property
    def is_over(self) -> bool:
        return self.spent > self.budget.amount

    @property
    def will_be_over(self) -> bool:
        return self.projected is not None and self.projected > self.budget.amount


def spendings(
    record: Record | None, budgets: Iterable[Budget], period: Period, ends: MonthEnds | None = None
) -> tuple[Spending, ...]:
    """Of one month; without a record nothing is posted in it."""
    sums = {} if record is None else grouped(record.posted, ("team", "project", "currency"))
    found = []
    for one in budgets:
        mine = [
            amount
            for (team, project, currency), amount in sums.items()
            if (team, currency) == (one.team, one.currency) and one.project in ("", project)
        ]
        spent = total(mine)
        amount = ends.amounts.get((one.team, one.project, one.currency)) if ends else None
        projected = None if amount is None else rounded(amount, one.currency)
        found.append(Spending(one, str(period), spent, projected, ends.through if ends else None))
    return tuple(found)


def budget_report(found: Iterable[Spending], period: Period, head: str) -> Report:
    """One section for each currency."""
    every = tuple(found)
    sections = []
    for currency in sorted({one.budget.currency for one in every}):
        own = [one for one in every if one.budget.currency == currency]
        made = section(currency, total(one.spent for one in own), COLUMNS, [cells(one) for one in own])
        sections.append(replace(made, totals=()))  # a project's is part of its team's
    over = sum(one.is_over for one in every)
    title = f"{counted(len(every), 'budget')} for {period}" + (f", {over} overspent." if over else ", none overspent.")
    through = next((one.through for one in every if one.through), None)
    notes = (
        (f"'Month-end' is what `apportion forecast` says, with days known through {through}: never posted.",)
        if through
        else ()
    )
    title = title if every else f"No budget holds in {period}."
    return Report("budgets", title, str(period), COLUMNS, tuple(sections), head, notes=notes)


def cells(one: Spending) -> dict[str, Cell]:
    return {
        "owner": one.budget.owner,
        "budget": one.budget.amount,
        "spent": one.spent,
        "left": one.left,
        "share": one.share,
        "projected": one.projected,
        "through": str(one.through) if one.through else None,
        "since": one.budget.since,
        "who": one.budget.who,
        "why": one.budget.why or None,
    }
