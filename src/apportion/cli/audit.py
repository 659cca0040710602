"""`apportion audit`."""

from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def audit(
    call: Call,
    what: Annotated[
        list[str] | None, typer.Option(metavar="DEED", help="Only such deeds: run, delivery, policy, gc, ...")
    ] = None,
) -> Answer:
    """List who changed the books, when, what and why.

    Notes are chained like the ledger; `verify` finds one that was changed or taken out.
    """
    from apportion.model.times import instant_text
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.reports.words import counted
    from apportion.verbs.audit import audit as listed

    notes = listed(call.project(), what or ())
    columns = tuple(Column(name, name) for name in ("when", "who", "what", "why", "detail"))
    rows = tuple((instant_text(note.at_s), note.who, note.what, note.why, note.detail) for note in notes)
    return Answer(Sheet(f"{counted(len(notes), 'change')} of the books.", (Table(columns, rows),), {"notes": notes}))


def add_to(app: typer.Typer) -> None:
    verb(app, "audit")(audit)
