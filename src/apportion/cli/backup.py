"""`apportion backup`."""

from pathlib import Path
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def backup(
    call: Call,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The copy to make, or to restore from.")],
    restore: Annotated[bool, typer.Option("--restore", help="Fill this project's empty books from FILE.")] = False,
) -> Answer:
    """Copy the books into one file, or restore.

    The copy and the books made from it have the same ledger head.
    """
    from apportion.render.sheet import Sheet
    from apportion.verbs import backup as verbs

    project = call.project()
    call.bar("restoring" if restore else "copying the books")
    done = verbs.restore(project, file) if restore else verbs.backup(project, file)
    title = f"Restored the books from {file}." if restore else f"Copied the books to {file}."
    return Answer(Sheet(title, value={"file": done.path, "head": done.head}, notes=(f"ledger head {done.head}",)))


def add_to(app: typer.Typer) -> None:
    verb(app, "backup")(backup)
