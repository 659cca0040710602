"""`apportion export excel`."""

from pathlib import Path
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def excel(
    call: Call, to: Annotated[Path, typer.Option(metavar="FILE", help="The workbook to write, such as october.xlsx.")]
) -> Answer:
    """The month as an Excel workbook for finance.

    A summary that adds up to the bills, teams, pools, idle, changes to the month before, rows to pivot, the policy, and where it is from.
    """
    from apportion.render.sheet import Sheet
    from apportion.reports.words import counted
    from apportion.verbs.excel import export_excel
    from apportion.verbs.periods import one
    from apportion.verbs.report import posted_periods

    project = call.project()
    period = one(call.months(posted_periods(project), "run `apportion apply` first"), "export excel")
    done = export_excel(project, period, to, call.bar)
    again = "; the same was written before" if done.again else ""
    value = {"period": done.period, "file": done.path, "sha256": done.sha256, "rows": done.rows, "again": done.again}
    title = f"The workbook of {done.period} is in {done.path}: {counted(done.rows, 'row')} to pivot{again}."
    return Answer(Sheet(title, value=value, notes=(done.title, f"sha256 {done.sha256}")))


def add_to(group: typer.Typer) -> None:
    verb(group, "excel", period=True)(excel)
