"""`apportion whatif`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import Answer, Call, verb

if TYPE_CHECKING:
    from apportion.render.sheet import Sheet
    from apportion.verbs.whatif import Whatif

PRICE = "What a pool's bill, or a unit of its price list, would come to: gpus=+10%, gpus=-5% or gpus=120000. May be given again."


def whatif(
    call: Call,
    policy: Annotated[Path | None, typer.Option("--policy", metavar="FILE", help="The policy to try.")] = None,
    draft: Annotated[int | None, typer.Option("--draft", metavar="NUMBER", help="A draft to try instead.")] = None,
    price: Annotated[list[str] | None, typer.Option("--price", metavar="POOL=PRICE", help=PRICE)] = None,
) -> Answer:
    """Show who would owe what by another policy or at other prices.

    The month is computed again from the inputs that it was posted with, and set against what is posted; nothing changes.
    """
    from apportion.verbs.draft import draft as found
    from apportion.verbs.draft import read_text
    from apportion.verbs.periods import one
    from apportion.verbs.report import posted_periods
    from apportion.verbs.whatif import whatif as compute
    from apportion.verbs.world import known_periods, pins_of

    if policy is not None and draft is not None:
        raise typer.BadParameter("give --policy FILE or --draft NUMBER, not both")
    if policy is None and draft is None and not price:
        raise typer.BadParameter("give --policy FILE, --draft NUMBER or --price POOL=PRICE")
    project = call.project()
    text = read_text(policy) if policy else found(project, draft).text if draft is not None else ""
    period = one(call.months(posted_periods(project) or known_periods(project, pins_of(project))), "whatif")
    return Answer(whatif_sheet(compute(project, period, text, price or (), call.bar)))


def whatif_sheet(made: "Whatif") -> "Sheet":
    from apportion.render.sheet import Sheet
    from apportion.verbs.whatif import tables

    against = "what is posted" if made.posted else f"the plan under {made.was}"
    bills = (f"{said[0].upper()}{said[1:]}." for said in made.bills)
    notes = (f"{made.policy} against {against}.", *bills, *made.clauses)
    return Sheet(made.title, tables(made), made, notes)


def add_to(app: typer.Typer) -> None:
    verb(app, "whatif", engine=True, period=True)(whatif)
