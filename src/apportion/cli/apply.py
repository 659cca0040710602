"""`apportion apply`."""

from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def apply(
    call: Call,
    run_id: Annotated[
        str | None,
        typer.Option(metavar="ID", help="Your own id for this run; an id posts once, however often it is sent."),
    ] = None,
) -> Answer:
    """Post the plan just shown.

    Posts the differences to what is posted. Refused if inputs, policy or ledger moved since the plan.
    """
    from apportion.render.sheet import Sheet
    from apportion.verbs.apply import apply as post
    from apportion.verbs.apply import said
    from apportion.verbs.world import known_periods, pins_of

    project = call.project()
    done = [post(project, period, run_id, call.bar) for period in call.months(known_periods(project, pins_of(project)))]
    value = done[0] if len(done) == 1 else {"runs": done}
    talk = (f"Next: apportion {call.flag}report showback --period {done[0].booked}",)
    return Answer(Sheet("\n".join(map(said, done)), value=value, notes=(f"ledger head {done[-1].head}",)), talk)


def add_to(app: typer.Typer) -> None:
    verb(app, "apply", engine=True, period=True)(apply)
