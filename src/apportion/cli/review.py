"""`apportion review`."""

from shlex import quote
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def review(
    call: Call,
    draft: Annotated[
        str | None, typer.Option(metavar="KEY", help="Save the policy draft of this finding, with its effect shown.")
    ] = None,
    team: Annotated[
        str, typer.Option(metavar="TEAM", help="Whose it is, where the draft is an owner rule that lacks it.")
    ] = "",
) -> Answer:
    """Review a month: what changed, and which rules no longer fit.

    Each finding with its figures, a chart and, where one is safe, the change of the policy. Nothing changes; a saved draft waits for its adoption.
    """
    from apportion.render.review import review_sheet
    from apportion.verbs.periods import one
    from apportion.verbs.report import posted_periods
    from apportion.verbs.review import review as look

    project = call.project()
    period = one(call.months(posted_periods(project)), "review")
    made = look(project, period, call.bar)
    if draft is None:
        ready = next((found.finding.key for found in made.found if found.diff), "")
        talk = f"Next: apportion {call.flag}review --period {period} --draft {quote(ready)}"
        return Answer(review_sheet(made, call.form), (talk,) if ready else ())
    from apportion.render.sheet import Sheet
    from apportion.verbs.review import save_found
    from apportion.verbs.whatif import tables

    saved = save_found(project, made, draft, team, call.bar)
    number = saved.draft.number
    title = f"Draft {number} is open. {saved.effect.title}"
    told = Sheet(title, tables(saved.effect), {"draft": saved.draft, "effect": saved.effect}, saved.effect.clauses)
    return Answer(
        told, (f"Next: apportion {call.flag}draft show {number}   |   apportion {call.flag}draft adopt {number}",)
    )


def add_to(app: typer.Typer) -> None:
    verb(app, "review", engine=True, period=True)(review)
