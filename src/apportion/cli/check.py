"""`apportion check`."""

import typer

from apportion.cli.verb import FAILED, OK, Answer, Call, verb


def check(call: Call) -> Answer:
    """Say whether all is sound, fresh and owned.

    Settings, policy and sources; how much of the bill has an owner, in money; and what mends each thing that is wrong.
    """
    from apportion.render.sheet import sheet_of
    from apportion.verbs.check import check as look
    from apportion.verbs.periods import one

    project = call.project()
    period = one(call.months(()), "check") if call.period else None
    done = look(project, period, call.bar)
    return Answer(sheet_of(done), code=FAILED if done.wrong else OK)


def add_to(app: typer.Typer) -> None:
    verb(app, "check", engine=True, period=True)(check)
