"""`apportion advise`."""

from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def advise(
    call: Call,
    team: Annotated[
        list[str] | None, typer.Option(metavar="TEAM", help="Only what this team can act on. May be given again.")
    ] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Only idle, hung, slice or another kind. May be given again."),
    ] = None,
    realised: Annotated[
        bool,
        typer.Option("--realised", help="What became of the advice of the posted month before, and what that saved."),
    ] = False,
    since: Annotated[str, typer.Option(metavar="MONTH", help="The same, for the advice of this month.")] = "",
) -> Answer:
    """Say what was wasted, what acting on it would save, and how.

    Each piece with its workloads, hours, a range of money at the month's own prices, who can act and what to run. Nothing changes.
    """
    from apportion.render.sheet import report_sheet
    from apportion.verbs.advise import advise as find
    from apportion.verbs.advise import realised as follow
    from apportion.verbs.periods import one
    from apportion.verbs.report import posted_periods

    project = call.project()
    period = one(call.months(posted_periods(project)), "advise")
    where = [f"team={name}" for name in team or ()]
    if realised or since:
        return Answer(report_sheet(follow(project, period, since, where, kind or ())))
    return Answer(report_sheet(find(project, period, where, kind or (), call.bar)))


def add_to(app: typer.Typer) -> None:
    verb(app, "advise", engine=True, period=True)(advise)
