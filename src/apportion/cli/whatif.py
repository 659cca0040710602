"""`apportion whatif`."""

import os
from dataclasses import dataclass, fields
from enum import StrEnum
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import Answer, Call, Form, verb

if TYPE_CHECKING:
    from collections.abc import Iterator

    from apportion.model.times import Period
    from apportion.render.sheet import Sheet
    from apportion.reports.backtest import Backtest
    from apportion.verbs.project import Project
    from apportion.verbs.saved import Wish
    from apportion.verbs.supposed import Changes

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


@dataclass(frozen=True, slots=True)
class Kept:
    """What becomes of the answer."""

    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="With --saved: the what-if to show, by its name or id.")
    ] = None
    saved: Annotated[bool, typer.Option("--saved", help="Show what was saved as NAME, or list all that are saved.")] = (
        False
    )
    save: Annotated[
        str | None, typer.Option("--save", metavar="NAME", help="Keep the answer under a name, for others to look at.")
    ] = None
    forget: Annotated[bool, typer.Option("--forget", help="With --saved NAME: save it no longer.")] = False
    propose: Annotated[
        str | None,
        typer.Option(
            "--propose", metavar="WHY", help="Turn the policy that was tried into a draft, and say why it is wanted."
        ),
    ] = None


def whatif(call: Call, tried: Tried, looks: Looks, kept: Kept) -> Answer:
    """Show who would owe what by another policy, price or capacity.

    A month is computed again from the inputs that it was posted with, and set against what is posted; nothing changes. Over several
    months (2026-04..2026-10), or with several policies or variants, it is a back-test: who gains, who loses and why, and how much bills swing.
    -o md is a comment for the pull request that changes the policy.
    """
    if kept.saved:
        return of_saved(call, tried, kept)
    check(tried, looks, kept)
    from apportion.verbs.report import posted_periods
    from apportion.verbs.saved import check_name, text_of
    from apportion.verbs.world import known_periods, pins_of

    project = call.project()
    if kept.save is not None:
        check_name(project, kept.save)
    periods = call.months(posted_periods(project) or known_periods(project, pins_of(project)), every=True)
    wish = wish_for(project, periods, tried)
    if kept.propose is not None:
        text_of(project, wish)
    sheet = computed(call, project, wish, looks)
    return answered(call, sheet, keep(call, project, kept, wish, sheet))


def answered(call: Call, sheet: "Sheet", talk: "Iterator[str]") -> Answer:
    """As Markdown it is a comment, for the pull request that changes the policy."""
    if call.form is not Form.md:
        return Answer(sheet, tuple(talk))
    from apportion.render.comment import comment

    return Answer(talk=tuple(talk), text=comment(sheet))


def check(tried: Tried, looks: Looks, kept: Kept) -> None:
    """Wrong usage is said before anything is opened."""
    if kept.name or kept.forget:
        raise typer.BadParameter("a name and --forget go with --saved")
    if tried.policy and tried.draft:
        raise typer.BadParameter("give --policy FILE or --draft NUMBER, not both")
    if not tried.names_something and not looks.incentives:
        raise typer.BadParameter("give --policy FILE, --draft NUMBER, --price POOL=PRICE or another change")
    if looks.team and not looks.incentives:
        raise typer.BadParameter("--team goes with --incentives")


def wish_for(project: "Project", periods: "list[Period]", tried: Tried) -> "Wish":
    from dataclasses import replace

    from apportion.verbs.saved import Wish

    changes = tried.changes
    months, variants = tuple(map(str, periods)), tuple(tried.variant or ())
    return Wish(months, texts_of(project, tried), changes.price, replace(changes, price=()), variants)


def computed(call: Call, project: "Project", wish: "Wish", looks: Looks) -> "Sheet":
    from apportion.model.times import parse_period

    periods = [parse_period(month) for month in wish.months]
    several = len(periods) > 1 or len(wish.policies) > 1 or wish.changes or wish.variants
    if several or looks.by or looks.fairness or looks.incentives:
        from apportion.render.backtest import backtest_sheet

        by = looks.by or (By.department if wish.changes.move else By.owner)
        return backtest_sheet(tested(call, project, periods, wish, looks), by)
    from apportion.verbs.whatif import whatif as compute
    from apportion.verbs.whatif import whatif_sheet

    text = next(iter(wish.policies.values()), "")
    return whatif_sheet(compute(project, periods[0], text, wish.prices, call.bar))


def keep(call: Call, project: "Project", kept: Kept, wish: "Wish", sheet: "Sheet") -> "Iterator[str]":
    """Saved, turned into a draft, or both; says what was done."""
    from apportion.verbs.saved import save, turned

    if kept.propose is not None:
        number = turned(project, wish, kept.propose).number
        yield f"Draft {number} is open. Next: apportion {call.flag}draft show {number}   |   apportion {call.flag}draft adopt {number}"
    if kept.save is not None:
        made = save(project, kept.save, wish, sheet)
        yield f"Saved as {made.name}. On the pages: /what-if/saved/{made.id}   |   apportion {call.flag}whatif --saved {quote(made.name)}"


def of_saved(call: Call, tried: Tried, kept: Kept) -> Answer:
    from apportion.verbs.saved import forget, list_sheet, saved, shown, wish_of

    if tried.names_something or kept.save is not None:
        raise typer.BadParameter("--saved shows what was asked before: ask without it for something else")
    if not kept.name:
        if kept.forget or kept.propose is not None:
            raise typer.BadParameter("name the what-if: --saved NAME")
        return Answer(list_sheet(saved(call.project())))
    project = call.project()
    found = project.books.whatifs.one(kept.name)
    if kept.forget:
        forget(project, found.id)
        return Answer(talk=(f"{found.name} is forgotten.",))
    sheet = shown(project, found)
    return answered(call, sheet, keep(call, project, kept, wish_of(found), sheet))


def tested(call: Call, project: "Project", periods: "list[Period]", wish: "Wish", looks: Looks) -> "Backtest":
    from apportion.verbs.backtest import Wanted, backtest
    from apportion.verbs.incentives import Tempted
    from apportion.verbs.supposed import read_variation

    variants = [read_variation(project, text) for text in wish.variants]
    tempted = Tempted(tuple(looks.team or ())) if looks.incentives else None
    workers = len(os.sched_getaffinity(0))
    wanted = Wanted(wish.policies, wish.prices, looks.fairness, wish.changes, variants, tempted, workers)
    return backtest(project, periods, wanted, call.bar)


def texts_of(project: "Project", tried: Tried) -> dict[str, str]:
    """By what each is called: the file's stem, its path where two have one stem, the draft's number."""
    from apportion.policy.load import load_policy
    from apportion.verbs.draft import draft, read_text

    files = list(dict.fromkeys(tried.policy or ()))
    stems = [file.stem for file in files]
    named = {file.stem if stems.count(file.stem) == 1 else str(file): read_text(file) for file in files}
    for file, text in zip(files, named.values(), strict=True):
        load_policy(text, str(file))  # an error names this file, and comes before any computing
    return {**named, **{f"draft {number}": draft(project, number).text for number in tried.draft or ()}}


def add_to(app: typer.Typer) -> None:
    verb(app, "whatif", engine=True, period=True)(whatif)
