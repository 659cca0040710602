"""Days that are not complete, as pages tell of them: hatched in charts, marked in the tables beside them, said in a sentence."""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import replace

from apportion.model.times import Period
from apportion.render.sheet import Table
from apportion.reports.completeness import INCOMPLETE, STATE, days_text
from apportion.verbs.corrections import runs_of
from apportion.verbs.incomplete import Days, incomplete_days
from apportion.verbs.world import pins_of
from apportion.web.ask import Ask
from apportion.web.viewer import Deed

States = Mapping[str, str]


def states_of(ask: Ask, months: Collection[Period] | None = None) -> States:
    """`2026-10-31` -> `incomplete: slurm`. Which source it is, is for those who see data health."""
    named = ask.viewer.may(Deed.whole)
    return {
        str(day): f"{INCOMPLETE}: {', '.join(sources)}" if named else INCOMPLETE
        for month in (ask.months if months is None else months)
        for day, sources in days_of(ask, month).items()
    }


def days_of(ask: Ask, month: Period) -> Days:
    """Found again when something was delivered or the month was computed, not whenever something is posted."""
    desk, until = ask.desk, ask.until_s

    def standing() -> Hashable:
        runs = tuple(run.run_id for run in runs_of(desk.books.runs(), str(month)))
        return desk.files(), len(desk.books.deliveries()), tuple(sorted(pins_of(desk.project).snapshots.items())), runs

    now = desk.kept(("what days rest on", str(month)), standing)
    key = ("incomplete days", str(month), until, now)
    return desk.lasting(key, lambda: incomplete_days(ask.project, month, until))


def told(states: States, days: Collection[str]) -> str:
    """A sentence about those of the days that a chart shows; empty where all are complete."""
    shown = [day for day in days if day in states]
    return f" {days_text(shown)} incomplete and hatched: a source had not delivered all." if shown else ""


def stated(table: Table, states: States, prefix: str = "") -> Table:
    """With a column that says it of each row's day; `prefix` is what its first cell leaves out."""
    return replace(
        table,
        columns=(*table.columns, STATE),
        rows=tuple((*row, states.get(f"{prefix}{row[0]}", "")) for row in table.rows),
        totals=(*table.totals, "") if table.totals else (),
    )
