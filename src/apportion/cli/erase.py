"""`apportion erase`."""

from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, month_of, today, verb


def erase(
    call: Call,
    before: Annotated[
        str | None,
        typer.Option(
            metavar="MONTH", callback=month_of, help="Months before this one; what [retention] says unless given."
        ),
    ] = None,
    user: Annotated[str, typer.Option(metavar="NAME", help="Only this user.")] = "",
    why: Annotated[str, typer.Option(metavar="REASON", help="Kept in the audit log.")] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do it. It cannot be undone.")] = False,
) -> Answer:
    """Take users' names out of closed months.

    Pseudonyms take their place, in the record and in the evidence; hashes, sums and owners stay. Without --yes only says what it would do.
    """
    from apportion.model.times import parse_period
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.reports.words import counted
    from apportion.verbs.erase import erase as take_out
    from apportion.verbs.erase import kept_until

    if yes and not why:
        raise typer.BadParameter("an erasure has a reason: --why REASON")
    project = call.project()
    month = parse_period(before) if before else kept_until(project, today())
    done = take_out(project, month, user, why, yes=yes)
    whose = "the name of one user" if user else "users' names"
    if not done.found:
        title = f"There is nothing to erase before {done.before}."
    elif done.number:
        title = f"Erased {whose} before {done.before}."
    else:
        title = f"Would erase {whose} before {done.before}; nothing changed."
    columns = (Column("table", "table"), Column("found", "with a name"), Column("left", "left as it is"))
    rows = tuple((name, done.found.get(name, 0), done.left.get(name, 0)) for name in sorted({*done.found, *done.left}))
    value = {"before": done.before, "erasure": done.number, "found": done.found, "left": done.left}
    talk = () if yes or not done.found else (f"Next: apportion {call.flag}erase --before {month} --why REASON --yes",)
    foot = (f"{counted(sum(done.found.values()), 'value')} of {counted(done.users, 'user')}",) if done.found else ()
    return Answer(Sheet(title, (Table(columns, rows),) if rows else (), value, foot), talk)


def add_to(app: typer.Typer) -> None:
    verb(app, "erase")(erase)
