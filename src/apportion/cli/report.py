"""`apportion report`: showback, trend, idle, coverage."""

from enum import StrEnum
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


class Dimension(StrEnum):
    team = "team"
    department = "department"
    cost_centre = "cost_centre"
    project = "project"
    user = "user"
    pool = "pool"
    component = "component"
    reason = "reason"


class Step(StrEnum):
    day = "day"
    month = "month"


def showback(call: Call, by: Annotated[Dimension, typer.Option(help="What a row is.")] = Dimension.team) -> Answer:
    """Who owes what."""
    return answer(call, "showback", {"by": by.value})


def trend(
    call: Call,
    by: Annotated[Step, typer.Option(help="What a row is.")] = Step.day,
    owner: Annotated[str, typer.Option(metavar="TEAM", help="Only this team, or _idle or another system owner.")] = "",
) -> Answer:
    """How it moved over the days or months."""
    return answer(call, "trend", {"by": by.value, "owner": owner})


def idle(call: Call) -> Answer:
    """What stood idle, why, and who carries it."""
    return answer(call, "idle", {})


def coverage(call: Call) -> Answer:
    """How much of the bill has an owner, in money."""
    return answer(call, "coverage", {})


def answer(call: Call, name: str, options: dict[str, str]) -> Answer:
    from apportion.render.sheet import report_sheet
    from apportion.verbs.report import posted_periods, report

    project = call.project()
    periods = call.months(posted_periods(project))
    made = report(project, name, periods, **options)
    talk = (f"Next: apportion {call.flag}explain TEAM --period {periods[0]}",) if name == "showback" else ()
    return Answer(report_sheet(made), talk)


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="What the record says: showback, trend, idle or coverage."
    )
    for command in (showback, trend, idle, coverage):
        verb(group, command.__name__, period=True)(command)
    app.add_typer(group, name="report")
