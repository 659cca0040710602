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
    from apportion.render.sheet import sheet_of
    from apportion.verbs.audit import audit as listed

    return Answer(sheet_of(listed(call.project(), what or ())))


def add_to(app: typer.Typer) -> None:
    verb(app, "audit")(audit)
