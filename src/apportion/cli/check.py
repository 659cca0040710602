"""`apportion check`."""

from typing import TYPE_CHECKING

import typer

from apportion.cli.verb import FAILED, OK, Answer, Call, verb

if TYPE_CHECKING:
    from apportion.render.sheet import Sheet, Table
    from apportion.verbs.check import Checked


def check(call: Call) -> Answer:
    """Say whether all is sound, fresh and owned.

    Settings, policy and sources; how much of the bill has an owner, in money; and what mends each thing that is wrong.
    """
    from apportion.verbs.check import check as look
    from apportion.verbs.periods import one

    project = call.project()
    period = one(call.months(()), "check") if call.period else None
    done = look(project, period, call.bar)
    return Answer(check_sheet(done), code=OK if done.sound else FAILED)


def check_sheet(done: "Checked") -> "Sheet":
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.reports.words import counted

    wrong = sum(finding.status == "wrong" for finding in done.findings)
    title = f"{counted(wrong, 'thing')} to mend." if wrong else "Settings, policy and sources are sound."
    columns = (
        Column("status", ""),
        Column("what", "what"),
        Column("text", "finding"),
        Column("fix", "to mend it", quiet=True),
    )
    tables = [Table(columns, tuple((one.status, one.what, one.text, one.fix) for one in done.findings))]
    if done.coverage:
        tables += [
            Table(
                done.coverage.columns,
                part.rows,
                part.totals,
                part.currency,
                f"The bill of {done.period} in {part.currency}, as planned now",
            )
            for part in done.coverage.sections
        ]
    for currency in sorted({gap.currency for gap in done.gaps}):
        tables.append(gap_table(done, currency))
    value = {
        "sound": done.sound,
        "period": done.period,
        "findings": done.findings,
        "coverage": [
            {"currency": part.currency, "bill": part.bill, "rows": rows_of(done, part.rows)}
            for part in done.coverage.sections
        ]
        if done.coverage
        else [],
        "gaps": done.gaps,
        "problems": done.problems,
        "sources": done.sources,
    }
    return Sheet(title, tuple(tables), value)


def gap_table(done: "Checked", currency: str) -> "Table":
    from apportion.render.sheet import Table
    from apportion.reports.report import Column

    columns = (
        Column("amount", "amount", "money"),
        Column("cause", "cause"),
        Column("count", "count", "count"),
        Column("labels", "labels"),
        Column("fix", "to mend it"),
    )
    rows = tuple(
        (gap.amount, gap.cause, gap.count, ", ".join(f"{key}={value}" for key, value in gap.labels.items()), gap.fix)
        for gap in done.gaps
        if gap.currency == currency
    )
    return Table(columns, rows, currency=currency, heading=f"Money without an owner in {currency}, largest first")


def rows_of(done: "Checked", rows: tuple[tuple[object, ...], ...]) -> list[dict[str, object]]:
    names = [column.name for column in done.coverage.columns] if done.coverage else []
    return [dict(zip(names, row, strict=True)) for row in rows]


def add_to(app: typer.Typer) -> None:
    verb(app, "check", engine=True, period=True)(check)
