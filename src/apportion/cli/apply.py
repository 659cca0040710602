"""`apportion apply`."""

from typing import Annotated

import typer

from apportion.cli.verb import ACCEPT, WHY, Answer, Call, verb


def apply(
    call: Call,
    run_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Your own id for this run; an id posts once, however often it is sent."),
    ] = None,
    accept: Annotated[list[str] | None, typer.Option(metavar="CODE", help=ACCEPT)] = None,
    why: Annotated[str, typer.Option(metavar="TEXT", help=WHY)] = "",
    lower: Annotated[
        str,
        typer.Option(metavar="WHY", help="Take decisions of more than is left down to what is left, and why."),
    ] = "",
) -> Answer:
    """Post the plan just shown.

    Posts the differences to what is posted, and with them what credits and settled disputes of the month come to now.
    Refused if inputs, policy or ledger moved since the plan, and while findings touch more than the policy's bound.
    """
    from apportion.render.sheet import Sheet, sheet_of
    from apportion.verbs.accept import accept as let_stand
    from apportion.verbs.apply import apply as post
    from apportion.verbs.apply import notes_of
    from apportion.verbs.lower import lower as lower_decisions
    from apportion.verbs.world import known_periods, pins_of

    project = call.project()
    months = call.months(known_periods(project, pins_of(project)))
    for period in months if accept else ():
        let_stand(project, period, accept or (), why)
    if lower:
        for period in months:
            lower_decisions(project, period, lower, call.bar)
    done = [post(project, period, run_id, call.bar) for period in months]
    sheets = [sheet_of(one) for one in done]
    value = sheets[0].value if len(sheets) == 1 else {"runs": [sheet.value for sheet in sheets]}
    talk = (f"Next: apportion {call.flag}report showback --period {done[0].booked}",)
    tables = tuple(table for sheet in sheets for table in sheet.tables)
    notes = (*(note for one in done for note in notes_of(one)), f"ledger head {done[-1].head}")
    return Answer(Sheet("\n".join(sheet.title for sheet in sheets), tables, value, notes), talk)


def add_to(app: typer.Typer) -> None:
    verb(app, "apply", engine=True, period=True)(apply)
