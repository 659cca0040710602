"""What was corrected in a month: of which closed month, the old and the new figure, why, and the runs that say so.

`corrections` is what statements, pages and the report read: a correction is told at any level of detail, and its rows add up to what was booked.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import pyarrow as pa

from apportion.reports.groups import Where, chosen, first_column, names
from apportion.reports.report import Cell, Column, Report
from apportion.reports.sums import ZERO, grouped, section, total
from apportion.reports.words import counted, shown


@dataclass(frozen=True, slots=True)
class Corrected:
    """One correction as it was booked: what was believed of the closed month before (`was`), and by how much that changes (both RECORDED)."""

    about: str
    booked: str
    cause: str
    before_run: str
    run: str
    was: pa.Table
    change: pa.Table


@dataclass(frozen=True, slots=True)
class Correction:
    """One figure: `labels` are the columns that it was asked by. `now` is `was` and `amount`."""

    about: str
    currency: str
    labels: Mapping[str, str]
    was: Decimal
    now: Decimal
    amount: Decimal
    cause: str
    before_run: str
    run: str


def corrections(booked: Sequence[Corrected], keys: Sequence[str]) -> list[Correction]:
    """By columns of the postings such as `team` and `pool`; figures that stay as they were are left out."""
    found = []
    for one in booked:
        was = grouped(one.was, ("currency", *keys))
        for key, amount in grouped(one.change, ("currency", *keys)).items():
            if amount:
                before, labels = was.get(key, ZERO), dict(zip(keys, key[1:], strict=True))
                after = total([before, amount])
                found.append(
                    Correction(
                        one.about, key[0], labels, before, after, amount, one.cause, one.before_run, one.run
                    )
                )  # fmt: skip
    return found


def report_corrections(
    period: str, booked: Sequence[Corrected], head: str, by: str = "team", where: Where | None = None
) -> Report:
    """A row for each correction and owner, or another dimension."""
    columns = (
        Column("about", "month"),
        first_column(by),
        Column("was", "was", "money"),
        Column("now", "is now", "money"),
        Column("amount", "amount", "money"),
        Column("cause", "cause"),
        Column("before_run", "run before"),
        Column("run", "run"),
    )
    some = [replace(one, was=called(one.was, by, where), change=called(one.change, by, where)) for one in booked]
    found = corrections(some, ("name",))
    sections = []
    for currency in sorted({one.currency for one in found}):
        mine = [one for one in found if one.currency == currency]
        made = section(currency, total(one.amount for one in mine), columns, [row_of(one, by) for one in mine])
        totals = tuple(
            None if column.name in ("was", "now") else cell for column, cell in zip(columns, made.totals, strict=True)
        )
        sections.append(replace(made, totals=totals))
    return Report("corrections", title_of(period, some, found), period, columns, tuple(sections), head, more={"by": by})


def called(table: pa.Table, by: str, where: Where | None) -> pa.Table:
    """Its rows that count, each with the name of its group."""
    some = chosen(table, where or {})
    return some.append_column("name", names(some, by))


def row_of(one: Correction, by: str) -> dict[str, Cell]:
    return {
        "about": one.about,
        first_column(by).name: one.labels["name"],
        "was": one.was,
        "now": one.now,
        "amount": one.amount,
        "cause": one.cause,
        "before_run": one.before_run,
        "run": one.run,
    }


def title_of(period: str, booked: Sequence[Corrected], found: Sequence[Correction]) -> str:
    """`2 corrections of 2026-08 and 2026-09 are booked in 2026-10: -5.00 USD.`"""
    if not booked:
        return f"Nothing is corrected in {period}."
    months = " and ".join(sorted({one.about for one in booked}))
    sums = {
        currency: total(one.amount for one in found if one.currency == currency)
        for currency in sorted({one.currency for one in found})
    }
    amounts = " and ".join(shown(amount, currency) for currency, amount in sums.items()) or "nothing that shows here"
    verb = "is" if len(booked) == 1 else "are"
    return f"{counted(len(booked), 'correction')} of {months} {verb} booked in {period}: {amounts}."
