"""`apportion explain`."""

from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def explain(
    call: Call,
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT", help="A team, pool, job or run; or a posting by its number or the beginning of its hash."
        ),
    ],
) -> Answer:
    """Trace a figure to where it comes from.

    Computes it again from cost lines and usage and walks to price, weights, policy line and rounding step; exits 5 if the record is not what they say.
    """
    from apportion.render.sheet import sheet_of
    from apportion.verbs.explain import explain as ask
    from apportion.verbs.periods import one
    from apportion.verbs.report import posted_periods

    project = call.project()
    period = one(call.months(posted_periods(project), "give --period, or run `apportion apply` first"), "explain")
    found = ask(project, what, period, call.bar)
    also = (f"{what} is also {', '.join(found.also)}: ask for that by its full name.",) if found.also else ()
    return Answer(sheet_of(found), also)


def add_to(app: typer.Typer) -> None:
    verb(app, "explain", engine=True, period=True)(explain)
