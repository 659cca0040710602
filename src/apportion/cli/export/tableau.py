"""`apportion export tableau`."""

from pathlib import Path
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def tableau(
    call: Call, to: Annotated[Path, typer.Option(metavar="FILE", help="The extract to write, such as october.hyper.")]
) -> Answer:
    """Months as a .hyper file that Tableau opens.

    The tables postings, owners and bills, with every digit. Several months go into one file.
    """
    from apportion.render.sheet import Sheet
    from apportion.reports.words import counted
    from apportion.verbs.report import posted_periods
    from apportion.verbs.tableau import export_tableau

    project = call.project()
    months = call.months(posted_periods(project), "run `apportion apply` first")
    done = export_tableau(project, months, to, call.bar)
    again = "; the same was written before" if done.again else ""
    sizes = ", ".join(f"{name} {count:,}" for name, count in done.rows.items())
    title = (
        f"The extract of {done.period} is in {done.path}: {counted(sum(done.rows.values()), 'row')} ({sizes}){again}."
    )
    value = {"period": done.period, "file": done.path, "rows": done.rows, "sha256": done.sha256, "again": done.again}
    return Answer(Sheet(title, value=value, notes=(f"sha256 of the content {done.sha256}",)))


def add_to(group: typer.Typer) -> None:
    verb(group, "tableau", period=True)(tableau)
