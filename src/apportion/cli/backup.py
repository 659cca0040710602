"""`apportion backup`."""

from pathlib import Path
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def backup(
    call: Call,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="The copy to make, or to restore from. A folder takes a copy named by project and time.",
        ),
    ],
    keep: Annotated[
        int,
        typer.Option(
            metavar="N", min=0, help="Of this project's copies in the folder FILE, keep the newest N; 0 is all."
        ),
    ] = 0,
    restore: Annotated[bool, typer.Option("--restore", help="Fill this project's empty books from FILE.")] = False,
) -> Answer:
    """Copy the books into one file, or restore.

    The copy and the books made from it have the same ledger head.
    """
    from apportion.render.sheet import Sheet
    from apportion.verbs import backup as verbs

    if keep and restore:
        raise typer.BadParameter("--keep is for copies that are made, and --restore makes none: leave one out")
    project = call.project()
    call.bar("restoring" if restore else "copying the books")
    done = verbs.restore(project, file) if restore else verbs.backup(project, file, keep)
    title = f"Restored the books from {file}." if restore else f"Copied the books to {done.path}."
    value = {"file": done.path, "head": done.head}
    if keep:
        value["removed"] = done.removed
    notes = [f"removed {path}" for path in done.removed] + [f"ledger head {done.head}"]
    return Answer(Sheet(title, value=value, notes=tuple(notes)))


def add_to(app: typer.Typer) -> None:
    verb(app, "backup")(backup)
