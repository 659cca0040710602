"""`apportion statement`."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import Answer, Call, verb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apportion.reports.statement.shape import Statement


class Level(StrEnum):
    cost_centre = "cost_centre"
    department = "department"
    team = "team"
    project = "project"
    user = "user"


class Format(StrEnum):
    pdf = "pdf"
    html = "html"
    csv = "csv"
    json = "json"
    md = "md"


@dataclass(frozen=True, slots=True)
class Files:
    to: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write a file for each; without it they are shown here.")
    ] = None
    format: Annotated[Format, typer.Option(help="Of the files.")] = Format.pdf


def statement(
    call: Call,
    files: Files,
    owner: Annotated[
        str, typer.Argument(metavar="[OWNER]", help="A team, TEAM/PROJECT, a user ...; all owners unless given.")
    ] = "",
    level: Annotated[Level, typer.Option(help="Whose statements.")] = Level.team,
    as_of: Annotated[str, typer.Option(metavar="DAY", help="As the books stood at the end of that day.")] = "",
) -> Answer:
    """Say what each owner owes for a month, what changed, and why.

    Of a closed month: as it was issued, word for word. Of an open one: a draft.
    """
    from apportion.verbs.periods import one
    from apportion.verbs.report import posted_periods
    from apportion.verbs.statement import Wanted, statements

    project = call.project()
    period = one(call.months(posted_periods(project), "run `apportion apply` first"), "statement")
    found = statements(project, Wanted(period, level.value, owner, as_of), call.bar)
    if files.to is not None:
        return written(call, found, files.format.value, files.to)
    if not owner:
        from apportion.render.statement.listing import statement_list

        return Answer(statement_list(found), (f"Next: apportion {call.flag}statement OWNER, or --to FOLDER for files",))
    from apportion.render.statement import render

    kind = {"table": "md"}.get(call.form.value, call.form.value)
    return Answer(text="\n".join(render(made, kind).decode() for made in found))


def written(call: Call, found: "Sequence[Statement]", form: str, folder: Path) -> Answer:
    from apportion.render.sheet import Sheet, Table
    from apportion.render.statement.batch import render_all
    from apportion.render.statement.listing import made_of
    from apportion.reports.report import Column
    from apportion.reports.words import counted

    files = render_all(found, form, folder, call.bar)
    title = f"{counted(len(files), 'statement')} in {folder}."
    rows = tuple((made.owner, made.number or None, file.name) for made, file in zip(found, files, strict=True))
    columns = (Column("owner", made_of(found)), Column("number", "number", quiet=True), Column("file", "file"))
    return Answer(Sheet(title, (Table(columns, rows),), {"files": [str(file) for file in files]}))


def add_to(app: typer.Typer) -> None:
    verb(app, "statement", period=True)(statement)
