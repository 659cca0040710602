"""`apportion cost`."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import Answer, Call, verb

if TYPE_CHECKING:
    from apportion.render.sheet import Sheet, Table
    from apportion.verbs.cost import Cost

FIGURES = ("direct", "idle", "overhead", "credits", "adjustments", "owed", "waste")


def cost(
    call: Call,
    job: Annotated[str, typer.Argument(metavar="JOBID|RUN", help="A job's id or a run's, as the scheduler writes it.")],
) -> Answer:
    """Say what a job cost.

    Direct, with idle, with overhead, and what others pay of it; all attempts and array tasks together; estimated or final.
    """
    from apportion.verbs.cost import cost as ask

    project = call.project()
    months = call.months(()) if call.period else [None]
    found = ask(project, job, months[0], call.bar)
    return Answer(cost_sheet(found), (f"Next: apportion {call.flag}explain {found.run}",))


def cost_sheet(found: "Cost") -> "Sheet":
    from apportion.render.sheet import Sheet
    from apportion.reports.words import counted, shown

    sums = " and ".join(shown(line.owed, line.currency) for line in found.totals) or "nothing"
    tries = counted(len({attempt.workload for attempt in found.attempts}), "attempt or task", "attempts and tasks")
    of = f" of {', '.join(found.owners)}" if found.owners else ""
    called = f"{found.run} {found.name}".strip()
    title = f"{called}{of} cost {sums} ({found.status}), {tries} together."
    notes = [
        f"{share.period}: {share.status}, {share.why}{share.basis and f'; {share.basis}'}" for share in found.shares
    ]
    for line in found.totals:
        others = -line.credits - line.adjustments
        notes.append(
            f"direct {shown(line.direct, line.currency)}, with idle {shown(line.with_idle, line.currency)}, "
            f"with overhead {shown(line.with_overhead, line.currency)}"
            + (f"; others pay {shown(others, line.currency)} of it" if others else "")
        )
        if line.unshared_idle:
            notes.append(
                f"idle that nobody is charged for would add {shown(line.unshared_idle, line.currency)} if it were shared by use"
            )
    notes += [views.sentence(currency) for currency, views in found.views]
    return Sheet(title, tuple(attempt_tables(found)), cost_value(found), ("\n".join(notes),))


def attempt_tables(found: "Cost") -> "list[Table]":
    from apportion.render.sheet import Table
    from apportion.reports.report import Cell, Column
    from apportion.reports.sums import total

    columns = (
        Column("workload", "workload"),
        Column("outcome", "outcome"),
        Column("start", "start"),
        Column("hours", "hours"),
        *(Column(name, name, "money", quiet=name not in ("direct", "owed")) for name in FIGURES),
    )
    tables = []
    for currency in dict.fromkeys(attempt.line.currency for attempt in found.attempts):
        here = [attempt for attempt in found.attempts if attempt.line.currency == currency]
        rows: list[tuple[Cell, ...]] = [
            (
                one.workload,
                one.outcome,
                datetime.fromtimestamp(one.start_s, UTC).strftime("%Y-%m-%d %H:%M"),
                f"{(one.end_s - one.start_s) // 360 / 10:.1f}",
                *(getattr(one.line, name) for name in FIGURES),
            )
            for one in here
        ]
        totals = (
            None,
            None,
            None,
            None,
            *(total(getattr(one.line, name) or Decimal(0) for one in here) for name in FIGURES),
        )
        tables.append(Table(columns, tuple(rows), totals, currency))
    return tables


def cost_value(found: "Cost") -> dict[str, object]:
    from dataclasses import asdict

    def figures(line: object) -> dict[str, object]:
        names = (
            "currency",
            "direct",
            "idle",
            "with_idle",
            "overhead",
            "with_overhead",
            "credits",
            "adjustments",
            "owed",
            "unshared_idle",
            "waste",
        )
        return {name: getattr(line, name) for name in names}

    return {
        "run": found.run,
        "name": found.name,
        "owners": found.owners,
        "status": found.status,
        "periods": [asdict(share) for share in found.shares],
        "totals": [figures(line) for line in found.totals],
        "held": [{"currency": currency, **views.cells()} for currency, views in found.views],
        "attempts": [
            {
                "workload": one.workload,
                "outcome": one.outcome,
                "start_s": one.start_s,
                "end_s": one.end_s,
                **figures(one.line),
            }
            for one in found.attempts
        ],
    }


def add_to(app: typer.Typer) -> None:
    verb(app, "cost", engine=True, period=True)(cost)
