"""`apportion verify`."""

from typing import Annotated

import typer

from apportion.cli.verb import BROKEN, OK, Answer, Call, verb


def verify(
    call: Call,
    head: Annotated[
        str | None, typer.Option(metavar="HASH", help="A ledger head that some report carried; finds a cut-off tail.")
    ] = None,
) -> Answer:
    """Re-hash the books and re-add every bill.

    Exits 5 if a byte of a posting, a policy or an input was changed, or a tail cut off.
    """
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.reports.words import counted
    from apportion.verbs.verify import verify as check

    project = call.project()
    call.bar("re-hashing files, postings and bills")
    done = check(project, head)
    title = "The books are whole." if done.sound else f"The books are broken: {counted(len(done.findings), 'finding')}."
    columns = (Column("code", "code"), Column("where", "where"), Column("message", "what"))
    rows = tuple((finding.code, finding.where, finding.message) for finding in done.findings)
    value = {"sound": done.sound, "head": done.head, "schema": done.schema, "findings": done.findings}
    sheet = Sheet(title, (Table(columns, rows),), value, (f"ledger head {done.head}   schema {done.schema}",))
    return Answer(sheet, code=OK if done.sound else BROKEN)


def add_to(app: typer.Typer) -> None:
    verb(app, "verify")(verify)
