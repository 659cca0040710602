"""`apportion estimate`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from apportion.cli.verb import FAILED, OK, Answer, Call, verb


@dataclass(frozen=True, slots=True)
class Options:
    team: Annotated[str, typer.Option(metavar="TEAM", help="Who would pay.")]
    hours: Annotated[str, typer.Option(metavar="HOURS", help="How long it would run, such as 12 or 0.5.")]
    gpus: Annotated[str, typer.Option(metavar="N", help="GPUs, or parts of one: 8, 3/7, 'MIG 3g.20gb'.")] = ""
    model: Annotated[str, typer.Option(metavar="MODEL", help="The GPU model, such as h100.")] = ""
    cpus: Annotated[str, typer.Option(metavar="N", help="Cores.")] = ""
    memory: Annotated[str, typer.Option(metavar="GIB", help="Memory in GiB.")] = ""
    pool: Annotated[str, typer.Option(metavar="POOL", help="The pool of the policy, where several fit.")] = ""
    start: Annotated[
        str, typer.Option(metavar="TIME", help="When it starts, such as 2026-11-17T09:00; any hour unless given.")
    ] = ""
    project: Annotated[str, typer.Option(metavar="NAME", help="The project of the team.")] = ""
    user: Annotated[str, typer.Option(metavar="NAME", help="Who would run it.")] = ""
    label: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="As the scheduler would write it, such as qos=preemptible; repeat it."),
    ] = None
    within_budget: Annotated[bool, typer.Option(help="Exit with 1 where a budget or quota would be exceeded.")] = False


def estimate(call: Call, options: Options) -> Answer:
    """Say what a job would cost, before it runs.

    By the prices of the months that are settled, with the range they had; what it does to budgets and quotas; and cheaper ways.
    """
    from dataclasses import asdict

    from apportion.render.estimate import estimate_sheet
    from apportion.verbs.estimate import estimate as ask

    given = asdict(options)
    strict, labels = given.pop("within_budget"), given.pop("label") or ()
    found = ask(call.project(), step=call.bar, **given, labels=labels)
    return Answer(estimate_sheet(found), code=FAILED if strict and not found.fits else OK)


def add_to(app: typer.Typer) -> None:
    verb(app, "estimate", engine=True)(estimate)
