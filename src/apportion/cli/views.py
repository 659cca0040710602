"""`apportion views`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


@dataclass(frozen=True, slots=True)
class Reader:
    reader: Annotated[
        str, typer.Option(metavar="ROLE", help="Let this role of PostgreSQL read the views, and nothing else.")
    ] = ""
    names: Annotated[bool, typer.Option("--names", help="With --reader: also whose the users' pseudonyms are.")] = False


def views(
    call: Call,
    reader: Reader,
    drop: Annotated[bool, typer.Option("--drop", help="Take the views away again.")] = False,
    duckdb: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write SQL that makes views of the evidence in DuckDB, and nothing else."),
    ] = None,
) -> Answer:
    """Make views of the ledger for BI tools.

    Their names and columns stay (docs/reference/views.md). Made anew they keep what was granted of them.
    """
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.reports.words import counted
    from apportion.verbs.views import drop_views, write_duckdb_views
    from apportion.verbs.views import views as make

    if reader.names and not reader.reader:
        raise typer.BadParameter("say to whom, as in --reader bi", param_hint="--names")
    if drop and (reader.reader or duckdb):
        raise typer.BadParameter("either make views or take them away", param_hint="--drop")
    project = call.project()
    if duckdb:
        file = write_duckdb_views(project, duckdb)
        return Answer(Sheet(f"Views of the evidence for DuckDB are in {file}.", value={"file": file}))
    made = drop_views(project) if drop else make(project, reader.reader, names=reader.names)
    what = counted(len(made.names), "view")
    title = f"Dropped {what}." if drop else f"{what} of version {made.version}."
    title = title if made.names else "There are no views."
    if reader.reader:
        title += f" {reader.reader} may read {'all of them' if reader.names else 'those that name nobody'}, and nothing else."
    rows = tuple((view.name, view.about) for view in project.books.views.shapes if view.name in made.names)
    value = {"version": made.version, "views": list(made.names), "dropped": drop, "reader": reader.reader}
    return Answer(Sheet(title, (Table((Column("view", "view"), Column("about", "what it holds")), rows),), value))


def add_to(app: typer.Typer) -> None:
    verb(app, "views")(views)
