"""`apportion ledger`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from apportion.cli.report import Which
from apportion.cli.verb import BROKEN, OK, Answer, Call, Form, verb


@dataclass(frozen=True, slots=True)
class Runs:
    kind: Annotated[
        list[str] | None,
        typer.Option(metavar="KIND", help="Only of such runs: plan, correction, credit, reclass or close."),
    ] = None
    run: Annotated[list[str] | None, typer.Option(metavar="RUN", help="Only of this run.")] = None


@dataclass(frozen=True, slots=True)
class Length:
    limit: Annotated[int, typer.Option(min=1, metavar="COUNT", help="At most so many, the newest.")] = 50
    all: Annotated[bool, typer.Option("--all", help="All of them.")] = False
    before: Annotated[str, typer.Option(metavar="POSTING", help="Only those older than this one.")] = ""


def ledger(call: Call, which: Which, runs: Runs, length: Length) -> Answer:
    """List the postings behind a figure, newest first.

    What they come to is of all that match. Each link that is shown is hashed again; exits 5 if one does not hold. CSV and JSON have every field.
    """
    from apportion.render.sheet import sheet_of
    from apportion.verbs.ledger import Only, ledger_csv
    from apportion.verbs.ledger import ledger as listed
    from apportion.verbs.report import posted_periods

    project = call.project()
    months = call.months(posted_periods(project), "run `apportion apply` first")
    only = Only(which.where or (), runs.kind or (), runs.run or (), which.as_of)
    made = listed(project, months, only, length.before, None if length.all else length.limit)
    more = (f"Older ones: --before {made.leaf.next}, or --all.",) if made.leaf.next else ()
    code = BROKEN if made.leaf.broken else OK
    if call.form == Form.csv:
        return Answer(talk=more, code=code, text="".join(ledger_csv([made.leaf.rows])))
    return Answer(sheet_of(made), more, code)


def add_to(app: typer.Typer) -> None:
    verb(app, "ledger", period=True)(ledger)
