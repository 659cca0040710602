"""`/advice`: what was wasted, what acting on it would save, and how."""

import shlex
from dataclasses import replace

from apportion.render.sheet import Table, report_sheet
from apportion.reports.advice.pieces import OTHERS
from apportion.reports.report import Report
from apportion.reports.words import shown
from apportion.verbs.advise import known_kinds
from apportion.web.advising import advised, teams_of
from apportion.web.ask import Ask, at
from apportion.web.frame import Entry
from apportion.web.page import Block, Figure, Figures, Page, Prose, Rows
from apportion.web.routes import Route
from apportion.web.tables import records

FIRST = ("kind", "name", "owner", "runs", "held", "used", "low", "high", "effort", "id")


def advice(ask: Ask) -> Page:
    kinds = known_kinds(ask.query.get("kind", ())) if ask.query.get("kind") else ()
    made = advised(ask, kinds)
    blocks: list[Block] = [figures(ask, made)] if made.sections else []
    for place, table in enumerate(report_sheet(made).tables[: len(made.sections)]):
        blocks += [pieces(ask, made, place, table), todo(made, place)]
    words = [f"--team {shlex.quote(one.removeprefix('team='))}" for one in teams_of(ask)]
    words += [f"--kind {shlex.quote(one)}" for one in kinds]
    command = " ".join(["apportion advise", f"--period {ask.month}", *words])
    notes = tuple(note for note in made.notes if not note[:1].isdigit() or " can: " not in note)
    return Page("advice", made.title, tuple(blocks), command=command, notes=notes)


def figures(ask: Ask, made: Report) -> Figures:
    """What could be saved, from and to."""
    items = []
    for place, section in enumerate(made.sections):
        low = section.totals[[column.name for column in made.columns].index("low")]
        count = sum(row["kind"] != OTHERS for row in records(made, place))
        here = ask.link("/advice")
        items += [
            Figure("at least", shown(low, section.currency), here, "by acting late or carefully"),  # type: ignore[arg-type]
            Figure("at most", shown(section.bill, section.currency), here, f"by acting at once on {count} pieces"),
        ]
    return Figures(tuple(items))


def pieces(ask: Ask, made: Report, place: int, table: Table) -> Rows:
    """Each leads to the run that wastes most of it."""
    rows = records(made, place)
    runs = [str(row["evidence"] or "").partition(": ")[0] for row in rows]
    teams = [str(row["owner"] or "").partition("/")[0] for row in rows]
    money = [ask.explained(f"job:{run}") if run else "" for run in runs]
    links = {
        "name": [ask.link(at("/runs", run), where=None) if run else "" for run in runs],
        "owner": [ask.link(at("/teams", team), where=None) if team else "" for team in teams],
        "low": money,
        "high": money,
    }
    return Rows(only(table, FIRST), f"In {table.currency}", links, "high", lead=ask.link("/advice"))


def only(table: Table, names: tuple[str, ...]) -> Table:
    places = [n for n, column in enumerate(table.columns) if column.name in names]
    return replace(
        table,
        columns=tuple(table.columns[n] for n in places),
        rows=tuple(tuple(row[n] for n in places) for row in table.rows),
        totals=tuple(table.totals[n] for n in places) if table.totals else (),
    )


def todo(made: Report, place: int) -> Prose:
    told = (
        f"{row['what']} {row['owner']} can: {row['do']} ({row['evidence']})"
        for row in records(made, place)
        if row["kind"] != OTHERS
    )
    return Prose(tuple(told), "What to do, and by what it was found", numbered=True)


ROUTES = (Route("/advice", advice, entry=Entry("Advice", "/advice", "v")),)
