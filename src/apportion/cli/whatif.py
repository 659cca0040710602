"""`apportion whatif`."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import Answer, Call, verb

if TYPE_CHECKING:
    from apportion.render.sheet import Sheet
    from apportion.verbs.project import Project
    from apportion.verbs.whatif import Whatif

PRICE = "What a pool's bill, or a unit of its price list, would come to: gpus=+10%, gpus=-5% or gpus=120000. May be given again."
POLICY = "The policy to try. May be given again: they are shown side by side."


class By(StrEnum):
    owner = "owner"
    month = "month"
    pool = "pool"
    cause = "cause"


@dataclass(frozen=True, slots=True)
class Tried:
    """What is to hold instead."""

    policy: Annotated[list[Path] | None, typer.Option("--policy", metavar="FILE", help=POLICY)] = None
    draft: Annotated[
        list[int] | None, typer.Option("--draft", metavar="NUMBER", help="A draft to try instead. May be given again.")
    ] = None
    price: Annotated[list[str] | None, typer.Option("--price", metavar="POOL=PRICE", help=PRICE)] = None


def whatif(
    call: Call,
    tried: Tried,
    by: Annotated[
        By | None,
        typer.Option("--by", help="Which figures lead, over several months: of owners, months, pools or causes."),
    ] = None,
    fairness: Annotated[
        bool, typer.Option("--fairness", help="Say how far each policy lies from peak Shapley, too.")
    ] = False,
) -> Answer:
    """Show who would owe what by another policy or at other prices.

    A month is computed again from the inputs that it was posted with, and set against what is posted; nothing changes. Over several
    months (2026-04..2026-10), or with several policies, it is a back-test: who gains, who loses and why, and how much bills swing.
    """
    from apportion.verbs.report import posted_periods
    from apportion.verbs.world import known_periods, pins_of

    if tried.policy and tried.draft:
        raise typer.BadParameter("give --policy FILE or --draft NUMBER, not both")
    if not tried.policy and not tried.draft and not tried.price:
        raise typer.BadParameter("give --policy FILE, --draft NUMBER or --price POOL=PRICE")
    project = call.project()
    texts = texts_of(project, tried)
    periods = call.months(posted_periods(project) or known_periods(project, pins_of(project)), every=True)
    if len(periods) > 1 or len(texts) > 1 or by or fairness:
        from apportion.render.backtest import backtest_sheet
        from apportion.verbs.backtest import Wanted, backtest

        made = backtest(project, periods, Wanted(texts, tried.price or (), fairness), call.bar)
        return Answer(backtest_sheet(made, by or By.owner))
    from apportion.verbs.whatif import whatif as compute

    text = next(iter(texts.values()), "")
    return Answer(whatif_sheet(compute(project, periods[0], text, tried.price or (), call.bar)))


def texts_of(project: "Project", tried: Tried) -> dict[str, str]:
    """By what each is called: the file's stem, its path where two have one stem, the draft's number."""
    from apportion.verbs.draft import draft, read_text

    files = list(dict.fromkeys(tried.policy or ()))
    stems = [file.stem for file in files]
    named = {file.stem if stems.count(file.stem) == 1 else str(file): read_text(file) for file in files}
    return {**named, **{f"draft {number}": draft(project, number).text for number in tried.draft or ()}}


def whatif_sheet(made: "Whatif") -> "Sheet":
    from apportion.render.sheet import Sheet
    from apportion.verbs.whatif import tables

    against = "what is posted" if made.posted else f"the plan under {made.was}"
    bills = (f"{said[0].upper()}{said[1:]}." for said in made.bills)
    notes = (f"{made.policy} against {against}.", *bills, *made.clauses)
    return Sheet(made.title, tables(made), made, notes)


def add_to(app: typer.Typer) -> None:
    verb(app, "whatif", engine=True, period=True)(whatif)
