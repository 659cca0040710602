"""`apportion close`."""

from typing import Annotated

import typer

from apportion.cli.verb import FAILED, OK, Answer, Call, verb


def close(
    call: Call,
    override: Annotated[
        str, typer.Option(metavar="REASON", help="Close although some check says no; the reason is recorded.")
    ] = "",
    list_: Annotated[bool, typer.Option("--list", help="Say where each month stands; close nothing.")] = False,
) -> Answer:
    """Close a month, after checks.

    From then on nothing is posted in it; what comes late is corrected in the next open month.
    """
    from apportion.render.sheet import Sheet, Table, sheet_of
    from apportion.reports.report import Column
    from apportion.reports.words import counted
    from apportion.verbs.close import close as shut
    from apportion.verbs.close import next_to_close
    from apportion.verbs.months import months
    from apportion.verbs.periods import one

    project = call.project()
    if list_:
        return Answer(sheet_of(months(project)))
    period = one(call.months(next_to_close(project), "run `apportion apply` first"), "close")
    done = shut(project, period, override, call.bar)
    against = done.against
    if done.again:
        title = f"{period} was closed before; nothing changed."
    elif done.closed is None:
        title = f"{period} is not closed: {counted(len(against), 'check')} of {len(done.looks)} {'says' if len(against) == 1 else 'say'} no."
    else:
        title = f"{period} is closed" + (
            f", although {counted(len(against), 'check')} said no: {override}" if against else "."
        )
    columns = (
        Column("check", "check"),
        Column("good", "good"),
        Column("text", "what"),
        Column("fix", "what mends it", quiet=True),
    )
    rows = tuple(
        (look.name, "yes" if look.good else "no", look.text, None if look.good else look.fix) for look in done.looks
    )
    head = done.closed.head if done.closed else project.books.head()
    value = {
        "period": done.period,
        "closed": done.closed is not None,
        "override": override,
        "checks": done.looks,
        "head": head,
    }
    talk = (
        (
            f"Next: apportion {call.flag}statement --period {period} --to FOLDER",
            f"      apportion {call.flag}export journal --period {period} --to FILE",
        )
        if done.closed
        else (f"Next: mend what says no, or apportion {call.flag}close --period {period} --override REASON",)
    )
    sheet = Sheet(title, (Table(columns, rows),) if rows else (), value, (f"ledger head {head}",))
    return Answer(sheet, talk, OK if done.closed else FAILED)


def add_to(app: typer.Typer) -> None:
    verb(app, "close", period=True)(close)
