"""`apportion demo`."""

from pathlib import Path
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def demo(
    call: Call,
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to put the demo project.")] = Path("demo"),
    seed: Annotated[int | None, typer.Option(help="Another month of the same kind.")] = None,
    scale: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="How much happens: 1 is about 50,000 workloads.  [default: 1]")
    ] = None,
) -> Answer:
    """Make a demo cluster and show who owes what.

    A month of two schedulers with their bills and a policy, ingested, planned and posted. A folder that holds a project is never overwritten.
    """
    from dataclasses import replace

    from apportion.render.sheet import report_sheet
    from apportion.verbs.demo import demo as make

    target = call.folder or folder
    done = make(target, seed, scale, call.engine, call.bar)
    sheet = report_sheet(done.showback)
    equation = "\n".join(one.sentence() for one in done.equation)
    value = {
        "folder": target,
        "fresh": done.fresh,
        "showback": sheet.value,
        "equation": done.equation,
        "run": done.applied,
        "try": [done.team, done.run],
    }
    kept = (
        ()
        if done.fresh
        else (f"{target} already holds a project: its files were read as they are, nothing was overwritten.",)
    )
    command = f"apportion --project {target}"
    talk = (
        *kept,
        "Next:",
        f"  {command} explain {done.team} --period {done.showback.period}",
        f"  {command} cost {done.run}",
        f"  {command} report idle --period {done.showback.period}",
        f"  {command} serve   (the pages, in a browser)",
    )
    return Answer(replace(sheet, value=value, notes=(equation, *sheet.notes)), talk)


def add_to(app: typer.Typer) -> None:
    verb(app, "demo", engine=True)(demo)
