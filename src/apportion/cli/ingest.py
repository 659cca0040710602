"""`apportion ingest`."""

from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import Answer, Call, verb

if TYPE_CHECKING:
    from apportion.render.sheet import Sheet
    from apportion.verbs.ingest import Ingested


def ingest(
    call: Call,
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SOURCE]...", help="Names from apportion.toml; all of them unless given."),
    ] = None,
) -> Answer:
    """Read usage and bills into the books; safe to repeat."""
    from apportion.verbs.ingest import ingest as read

    project = call.project()
    periods = call.months(()) if call.period else []
    done = read(project, sources or [], periods, call.bar)
    if not done:
        hint = f"apportion.toml names no source yet: add a [[sources]] stanza, then run `apportion {call.flag}ingest` again."
        return Answer(ingest_sheet(done), (hint,))
    return Answer(ingest_sheet(done), (f"Next: apportion {call.flag}plan",))


def ingest_sheet(done: "list[Ingested]") -> "Sheet":
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.reports.words import counted

    columns = (
        Column("source", "source"),
        Column("deliveries", "deliveries", "count"),
        Column("changed", "new", "count"),
        Column("rows", "rows", "count"),
        Column("replaced", "replaced", "count"),
        Column("quarantined", "quarantined", "count"),
        Column("problems", "problems", "count"),
    )
    rows = tuple(
        (
            one.source,
            one.deliveries,
            one.changed,
            sum(one.rows.values()),
            sum(one.replaced.values()),
            one.quarantined,
            len(one.problems),
        )
        for one in done
    )
    new = sum(one.changed for one in done)
    what = f"{counted(new, 'delivery', 'deliveries')} new" if new else "nothing was new"
    problems = [problem for one in done for problem in one.problems]
    notes = tuple(f"{problem.where}: {problem.message} [{problem.code}]" for problem in problems[:5])
    more = (f"... and {len(problems) - 5} more problems: apportion check lists them",) if len(problems) > 5 else ()
    return Sheet(
        f"Read {counted(len(done), 'source')}: {what}.", (Table(columns, rows),), {"sources": done}, (*notes, *more)
    )


def add_to(app: typer.Typer) -> None:
    verb(app, "ingest", period=True)(ingest)
