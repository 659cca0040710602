"""`apportion methods`."""

from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def methods(
    call: Call,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[METHOD]", help="One method in full: formula, when to choose it, an example."),
    ] = None,
) -> Answer:
    """List the ways to share a cost.

    Formula, when to choose one, what each promises, and an example computed here and now.
    """
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.verbs import methods as verbs

    del call
    if name is None:
        found = verbs.methods()
        columns = (
            Column("name", "method"),
            Column("policy", "in a policy"),
            Column("formula", "formula"),
            Column("choose", "choose it when"),
        )
        rows = tuple(tuple(row[column.name] for column in columns) for row in found)
        return Answer(Sheet("", (Table(columns, rows),), {"methods": found}), ("Next: apportion methods METHOD",))
    about = verbs.method(name)
    text = "\n".join(
        f"{title}\n" + "\n".join(f"  {line}" for line in body.split("\n")) for title, body in about.items()
    )
    return Answer(Sheet(name, value={"name": name, **about}, notes=(text,)))


def add_to(app: typer.Typer) -> None:
    verb(app, "methods")(methods)
