"""`apportion cost`."""

from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def cost(
    call: Call,
    job: Annotated[str, typer.Argument(metavar="JOBID|RUN", help="A job's id or a run's, as the scheduler writes it.")],
) -> Answer:
    """Say what a job cost.

    Direct, with idle, with overhead, and what others pay of it; all attempts and array tasks together; estimated or final.
    """
    from apportion.render.cost import cost_sheet
    from apportion.verbs.cost import cost as ask

    project = call.project()
    months = call.months(()) if call.period else [None]
    found = ask(project, job, months[0], call.bar)
    return Answer(cost_sheet(found), (f"Next: apportion {call.flag}explain {found.run}",))


def add_to(app: typer.Typer) -> None:
    verb(app, "cost", engine=True, period=True)(cost)
