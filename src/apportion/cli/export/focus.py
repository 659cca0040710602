"""`apportion export focus`."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


class FileForm(StrEnum):
    parquet = "parquet"
    csv = "csv"


class Version(StrEnum):
    newest = "1.4"
    older = "1.2"


def focus(
    call: Call,
    to: Annotated[Path, typer.Option(metavar="FOLDER", help="Where the month's folder is made.")],
    file_format: Annotated[FileForm, typer.Option("--format", help="What the files are.")] = FileForm.parquet,
    version: Annotated[Version, typer.Option(help="The version of FOCUS.")] = Version.newest,
    per_line: Annotated[bool, typer.Option("--per-line", help="Split the vendors' own lines.")] = False,
) -> Answer:
    """The attributed cost of a month as FOCUS charges.

    An internal dataset, with owners in its split-allocation columns: it is never added to the vendors' own.
    """
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.reports.words import counted, shown
    from apportion.verbs.focus import Form, export_focus
    from apportion.verbs.periods import one
    from apportion.verbs.report import posted_periods

    project = call.project()
    period = one(call.months(posted_periods(project), "run `apportion apply` first"), "export focus")
    done = export_focus(project, period, to, Form(file_format.value, version.value, per_line), call.bar)
    money = " and ".join(shown(amount, currency) for currency, amount in done.totals.items()) or "nothing"
    title = (
        f"FOCUS {version.value} of {period} ({'closed' if done.closed else 'open'}): {money} in {counted(done.rows, 'charge')}, "
        f"split from {done.origins:,}."
    )
    rows = tuple((str(done.folder / name),) for name in done.files)
    value = {
        "period": done.period, "closed": done.closed, "version": version.value, "per_line": per_line, "charges": done.rows,
        "origins": done.origins, "totals": done.totals, "files": [row[0] for row in rows], "head": done.head,
    }  # fmt: skip
    return Answer(Sheet(title, (Table((Column("file", "file"),), rows),), value, (f"ledger head {done.head}",)))


def add_to(group: typer.Typer) -> None:
    verb(group, "focus", period=True)(focus)
