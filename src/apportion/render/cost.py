"""What a run cost, as the command line and the pages say it."""

from dataclasses import asdict
from datetime import UTC, datetime
from decimal import Decimal

from apportion.render.sheet import Sheet, Table, sheet_of
from apportion.reports.cost import Cost, Share
from apportion.reports.report import Cell, Column
from apportion.reports.sums import total
from apportion.reports.words import counted, shown

FIGURES = ("direct", "idle", "overhead", "credits", "adjustments", "owed", "waste")


@sheet_of.register
def cost_sheet(found: Cost) -> Sheet:
    sums = " and ".join(shown(line.owed, line.currency) for line in found.totals) or "nothing"
    tries = counted(len({attempt.workload for attempt in found.attempts}), "attempt or task", "attempts and tasks")
    of = f" of {', '.join(found.owners)}" if found.owners else ""
    called = f"{found.run} {found.name}".strip()
    title = f"{called}{of} cost {sums} ({found.status}), {tries} together."
    notes = [
        f"{share.period}: {share.status}, {share.why}{share.basis and f'; {share.basis}'}" for share in found.shares
    ]
    notes += [f"{share.period}: {text}" for share in found.shares for text in share.history]
    notes += [one.text for one in found.decided]
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


def attempt_tables(found: Cost) -> list[Table]:
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


def cost_value(found: Cost) -> dict[str, object]:
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
        "periods": [share_value(share) for share in found.shares],
        "decided": [asdict(one) | {"text": one.text} for one in found.decided],
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


def share_value(share: Share) -> dict[str, object]:
    """Only what was corrected has a history."""
    return {name: value for name, value in asdict(share).items() if name != "history" or value}
