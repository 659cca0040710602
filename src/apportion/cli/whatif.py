"""`apportion whatif`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import Answer, Call, verb

if TYPE_CHECKING:
    from apportion.render.sheet import Sheet
    from apportion.verbs.whatif import Whatif


def whatif(
    call: Call,
    policy: Annotated[Path | None, typer.Option("--policy", metavar="FILE", help="The policy to try.")] = None,
    draft: Annotated[int | None, typer.Option("--draft", metavar="NUMBER", help="A draft to try instead.")] = None,
) -> Answer:
    """Show who would owe what under another policy; changes nothing.

    The month is computed again from the inputs that it was posted with, and set against what is posted.
    """
    from apportion.verbs.draft import draft as found
    from apportion.verbs.draft import read_text
    from apportion.verbs.periods import one
    from apportion.verbs.report import posted_periods
    from apportion.verbs.whatif import whatif as compute
    from apportion.verbs.world import known_periods, pins_of

    if (policy is None) == (draft is None):
        raise typer.BadParameter("give --policy FILE or --draft NUMBER")
    project = call.project()
    text = read_text(policy) if policy else found(project, draft or 0).text
    period = one(call.months(posted_periods(project) or known_periods(project, pins_of(project))), "whatif")
    return Answer(whatif_sheet(compute(project, period, text, call.bar)))


def whatif_sheet(made: "Whatif") -> "Sheet":
    from apportion.render.sheet import Sheet
    from apportion.verbs.whatif import tables

    against = "what is posted" if made.posted else f"the plan under {made.was}"
    notes = (f"{made.policy} against {against}.", *made.clauses)
    return Sheet(made.title, tables(made), made, notes)


def add_to(app: typer.Typer) -> None:
    verb(app, "whatif", engine=True, period=True)(whatif)
