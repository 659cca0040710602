"""`apportion erase`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import Answer, Call, month_of, verb
from apportion.verbs.periods import today

if TYPE_CHECKING:
    from apportion.books.erase import Erased


@dataclass(frozen=True, slots=True)
class Wanted:
    before: Annotated[
        str | None,
        typer.Option(
            metavar="MONTH", callback=month_of, help="Months before this one; what [retention] says unless given."
        ),
    ] = None
    user: Annotated[str, typer.Option(metavar="NAME", help="Only this user.")] = ""
    why: Annotated[str, typer.Option(metavar="REASON", help="Kept in the audit log.")] = ""
    yes: Annotated[bool, typer.Option("--yes", help="Do it. It cannot be undone.")] = False
    new_key: Annotated[
        bool, typer.Option("--new-key", help="Only go on with the names.key that there is now; the one before is lost.")
    ] = False


def erase(call: Call, wanted: Wanted) -> Answer:
    """Take users' names out of closed months.

    Pseudonyms take their place, in the record and in the evidence; hashes, sums and owners stay. Without --yes only says what it would do.
    """
    from apportion.model.times import parse_period
    from apportion.render.sheet import Sheet
    from apportion.verbs.erase import erase as take_out
    from apportion.verbs.erase import kept_until, renew_key

    if (wanted.yes or wanted.new_key) and not wanted.why:
        raise typer.BadParameter("it has a reason: --why REASON")
    project = call.project()
    if wanted.new_key:
        renew_key(project, wanted.why)
        return Answer(Sheet("From now on users are hidden by the key that there is now.", (), {"new_key": True}))
    month = parse_period(wanted.before) if wanted.before else kept_until(project, today())
    done = take_out(project, month, wanted.user, wanted.why, yes=wanted.yes)
    return told(call, done, "the name of one user" if wanted.user else "users' names")


def told(call: Call, done: "Erased", whose: str) -> Answer:
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.reports.words import counted

    title = f"Would erase {whose} before {done.before}; nothing changed."
    if not done.found:
        title = f"There is nothing to erase before {done.before}."
    elif done.number:
        title = f"Erased {whose} before {done.before}."
    columns = (Column("table", "table"), Column("found", "with a name"), Column("left", "left as it is"))
    rows = tuple((name, done.found.get(name, 0), done.left.get(name, 0)) for name in sorted({*done.found, *done.left}))
    value = {"before": done.before, "erasure": done.number, "found": done.found, "left": done.left}
    foot = (f"{counted(sum(done.found.values()), 'value')} of {counted(done.users, 'user')}",) if done.found else ()
    asks = done.found and not done.number
    talk = (f"Next: apportion {call.flag}erase --before {done.before} --why REASON --yes",) if asks else ()
    return Answer(Sheet(title, (Table(columns, rows),) if rows else (), value, foot), talk)


def add_to(app: typer.Typer) -> None:
    verb(app, "erase")(erase)
