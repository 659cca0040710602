"""`apportion whatif`."""

import os
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import Answer, Call, verb

if TYPE_CHECKING:
    from apportion.model.times import Period
    from apportion.render.sheet import Sheet
    from apportion.reports.backtest import Backtest
    from apportion.verbs.project import Project
    from apportion.verbs.saved import Wish
    from apportion.verbs.supposed import Changes
    from apportion.verbs.whatif import Whatif

PRICE = "What a pool's bill, or a unit of its price list, would come to: gpus=+10%, gpus=-5% or gpus=120000. May be given again."
POLICY = "The policy to try. May be given again: they are shown side by side."
CAPACITY = (
    "How much capacity a pool would have had: gpus=+10%, gpus=-25% or gpus=64 (units on average). Its bill grows alike, "
    "unless it is written 'gpus=+10% at the same bill'."
)
VARIANT = "Changes with a name, such as 'lean: capacity gpus=-20%; idle gpus=proportional'. May be given again: they stand side by side."


class By(StrEnum):
    owner = "owner"
    month = "month"
    pool = "pool"
    department = "department"
    cause = "cause"


@dataclass(frozen=True, slots=True)
class Tried:
    """What is to hold instead."""

    policy: Annotated[list[Path] | None, typer.Option("--policy", metavar="FILE", help=POLICY)] = None
    draft: Annotated[
        list[int] | None, typer.Option("--draft", metavar="NUMBER", help="A draft to try instead. May be given again.")
    ] = None
    price: Annotated[list[str] | None, typer.Option("--price", metavar="POOL=PRICE", help=PRICE)] = None
    capacity: Annotated[list[str] | None, typer.Option("--capacity", metavar="POOL=SIZE", help=CAPACITY)] = None
    idle: Annotated[
        list[str] | None,
        typer.Option("--idle", metavar="POOL=RULE", help="Who would pay for idle: gpus=central, proportional or even."),
    ] = None
    method: Annotated[
        list[str] | None,
        typer.Option("--method", metavar="POOL=METHOD", help="How a pool would be shared: gpus=peak_shapley."),
    ] = None
    move: Annotated[
        list[str] | None,
        typer.Option("--move", metavar="TEAM=DEPARTMENT", help="The department that a team would belong to."),
    ] = None
    variant: Annotated[list[str] | None, typer.Option("--variant", metavar="NAME: CHANGES", help=VARIANT)] = None

    @property
    def changes(self) -> "Changes":
        from apportion.verbs.supposed import KINDS, Changes

        return Changes(**{kind: tuple(getattr(self, kind) or ()) for kind in KINDS})

    @property
    def names_something(self) -> bool:
        return any(getattr(self, one.name) for one in fields(self))


@dataclass(frozen=True, slots=True)
class Looks:
    """What else to look at."""

    by: Annotated[
        By | None,
        typer.Option(
            "--by", help="Which figures lead, over several months: of owners, months, pools, departments or causes."
        ),
    ] = None
    fairness: Annotated[
        bool,
        typer.Option(
            "--fairness", help="Say how far each policy lies from peak Shapley, and how evenly it prices units, too."
        ),
    ] = False
    incentives: Annotated[
        bool,
        typer.Option(
            "--incentives", help="Say whether asking for more, splitting a job or moving it would have paid, too."
        ),
    ] = False
    team: Annotated[
        list[str] | None,
        typer.Option("--team", metavar="TEAM", help="With --incentives: only of this team. May be given again."),
    ] = None


def whatif(call: Call, tried: Tried, looks: Looks) -> Answer:
    """Show who would owe what by another policy, price or capacity.

    A month is computed again from the inputs that it was posted with, and set against what is posted; nothing changes. Over several
    months (2026-04..2026-10), or with several policies or variants, it is a back-test: who gains, who loses and why, and how much bills swing.
    """
    from apportion.verbs.report import posted_periods
    from apportion.verbs.world import known_periods, pins_of

    if tried.policy and tried.draft:
        raise typer.BadParameter("give --policy FILE or --draft NUMBER, not both")
    if not tried.names_something and not looks.incentives:
        raise typer.BadParameter("give --policy FILE, --draft NUMBER, --price POOL=PRICE or another change")
    if looks.team and not looks.incentives:
        raise typer.BadParameter("--team goes with --incentives")
    project = call.project()
    texts = texts_of(project, tried)
    periods = call.months(posted_periods(project) or known_periods(project, pins_of(project)), every=True)
    others = any(getattr(tried, kind) for kind in ("capacity", "idle", "method", "move", "variant"))
    if len(periods) > 1 or len(texts) > 1 or others or looks.by or looks.fairness or looks.incentives:
        from apportion.render.backtest import backtest_sheet

        by = looks.by or (By.department if tried.move else By.owner)
        return Answer(backtest_sheet(tested(call, project, periods, texts, (tried, looks)), by))
    from apportion.verbs.whatif import whatif as compute
    from apportion.verbs.whatif import whatif_sheet

    text = next(iter(texts.values()), "")
    return Answer(whatif_sheet(compute(project, periods[0], text, tried.price or (), call.bar)))


def tested(
    call: Call, project: "Project", periods: "list[Period]", texts: dict[str, str], asked: tuple[Tried, Looks]
) -> "Backtest":
    from apportion.verbs.backtest import Wanted, backtest
    from apportion.verbs.incentives import Tempted
    from apportion.verbs.supposed import read_variation

    tried, looks = asked
    variants = [read_variation(project, text) for text in tried.variant or ()]
    tempted = Tempted(tuple(looks.team or ())) if looks.incentives else None
    wanted = Wanted(texts, (), looks.fairness, tried.changes, variants, tempted, len(os.sched_getaffinity(0)))
    return backtest(project, periods, wanted, call.bar)


def texts_of(project: "Project", tried: Tried) -> dict[str, str]:
    """By what each is called: the file's stem, its path where two have one stem, the draft's number."""
    from apportion.verbs.draft import draft, read_text

    files = list(dict.fromkeys(tried.policy or ()))
    stems = [file.stem for file in files]
    named = {file.stem if stems.count(file.stem) == 1 else str(file): read_text(file) for file in files}
    return {**named, **{f"draft {number}": draft(project, number).text for number in tried.draft or ()}}


def add_to(app: typer.Typer) -> None:
    verb(app, "whatif", engine=True, period=True)(whatif)
