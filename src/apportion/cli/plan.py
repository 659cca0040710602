"""`apportion plan`."""

from typing import Annotated

import typer

from apportion.cli.verb import OK, PENDING, Answer, Call, verb


def plan(
    call: Call,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit 3 if the plan would change what is posted.")
    ] = False,
) -> Answer:
    """Show what would be posted; changes nothing.

    Owner by owner against what is posted, with the equation bill = owners + _idle + _unallocated + _residual. Without a month it also says which
    closed ones wait for a correction.
    """
    from apportion.render.sheet import Sheet, sheet_of
    from apportion.verbs.plan import plan as compute
    from apportion.verbs.waiting import waiting
    from apportion.verbs.world import known_periods, pins_of

    project = call.project()
    months = call.months(known_periods(project, pins_of(project)))
    made = [compute(project, period, step=call.bar) for period in months]
    code = PENDING if exit_code and any(one.pending for one in made) else OK
    talk = tuple(
        f"Next: apportion {call.flag}explain TEAM --period {one.period}   |   apportion {call.flag}apply --period {one.period}"
        for one in made
        if one.pending
    )
    if call.period is None:
        late = [one for one in waiting(project, call.bar) if one.period not in {str(month) for month in months}]
        talk += tuple(f"{one.text} Next: {one.fix(call.flag)}" for one in late)
        code = PENDING if exit_code and late else code
    sheets = [sheet_of(one) for one in made]
    if len(sheets) == 1:
        return Answer(sheets[0], talk, code)
    tables = tuple(table for sheet in sheets for table in sheet.tables)
    notes = tuple(note for sheet in sheets for note in sheet.notes)
    return Answer(
        Sheet("\n".join(sheet.title for sheet in sheets), tables, {"plans": [sheet.value for sheet in sheets]}, notes),
        talk,
        code,
    )


def add_to(app: typer.Typer) -> None:
    verb(app, "plan", engine=True, period=True)(plan)
