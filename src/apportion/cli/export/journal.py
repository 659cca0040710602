"""`apportion export journal`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.output import write
from apportion.cli.verb import Answer, Call, verb

if TYPE_CHECKING:
    from apportion.verbs.journal import Exported


def journal(
    call: Call,
    to: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to write it.")] = None,
    template: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A Jinja template; that of the CSV file unless given.")
    ] = None,
    print_template: Annotated[
        bool, typer.Option("--print-template", help="Print the template of the CSV file, to be edited.")
    ] = False,
) -> Answer:
    """The month as double entries, for finance to book.

    Whole minor units of a closed month on the accounts and cost centres of the policy it was closed with; the same bytes however often.
    """
    from apportion.render.journal import shipped
    from apportion.verbs.journal import export_journal
    from apportion.verbs.periods import one

    if print_template:
        write(sys.stdout, shipped())
        return Answer()
    if to is None:
        raise typer.BadParameter("name the file to write, as in --to journal.csv", param_hint="--to")
    project = call.project()
    period = one(call.months(project.books.closed_periods(), "run `apportion close` first"), "export journal")
    return answer(export_journal(project, period, to, template))


def answer(done: "Exported") -> Answer:
    """What was debited per bill; it is what was credited."""
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.journal import DEBIT
    from apportion.reports.report import Column
    from apportion.reports.statement.shape import money
    from apportion.reports.words import counted

    columns = (
        Column("entry", "entry"),
        Column("bill", "bill"),
        Column("lines", "lines", "count"),
        Column("debit", "debits = credits", "money"),
    )
    by_currency = {entry.currency for entry in done.entries}
    tables = tuple(
        Table(
            columns,
            tuple(
                (entry.id, entry.bill, len(entry.lines), money(entry.total(DEBIT), entry.digits))
                for entry in done.entries
                if entry.currency == currency
            ),
            currency=currency,
        )
        for currency in sorted(by_currency)
    )
    again = "; the same was written before" if done.again else ""
    lines = sum(len(entry.lines) for entry in done.entries)
    title = f"The journal of {done.period} is in {done.path}: {counted(len(done.entries), 'bill')}, {counted(lines, 'line')}{again}."
    value = {"period": done.period, "file": done.path, "sha256": done.sha256, "again": done.again}
    entries = [
        {"id": one.id, "bill": one.bill, "currency": one.currency, "lines": len(one.lines)} for one in done.entries
    ]
    return Answer(Sheet(title, tables, {**value, "entries": entries}, (f"sha256 {done.sha256}",)))


def add_to(app: typer.Typer) -> None:
    verb(app, "journal", period=True)(journal)
