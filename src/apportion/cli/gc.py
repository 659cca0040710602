"""`apportion gc`."""

from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def gc(
    call: Call,
    older_than: Annotated[
        int, typer.Option(metavar="HOURS", min=0, help="Leave younger files alone; a write may be under way.")
    ] = 24,
) -> Answer:
    """Remove files that nothing names.

    An interrupted write may leave such files in the warehouse.
    """
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.reports.words import counted
    from apportion.verbs.gc import gc as collect

    removed = collect(call.project(), older_than)
    title = f"Removed {counted(len(removed), 'orphan file')}." if removed else "There are no orphan files."
    table = Table((Column("file", "file"),), tuple((name,) for name in removed))
    return Answer(Sheet(title, (table,), {"removed": removed}))


def add_to(app: typer.Typer) -> None:
    verb(app, "gc")(gc)
