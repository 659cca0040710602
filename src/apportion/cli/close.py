"""`apportion close`."""

from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import ACCEPT, FAILED, OK, WHY, Answer, Call, verb

if TYPE_CHECKING:
    from apportion.verbs.close import Outcome


def close(
    call: Call,
    override: Annotated[
        str, typer.Option(metavar="REASON", help="Close although some check says no; the reason is recorded.")
    ] = "",
    accept: Annotated[list[str] | None, typer.Option(metavar="CODE", help=ACCEPT)] = None,
    why: Annotated[str, typer.Option(metavar="TEXT", help=WHY)] = "",
    list_: Annotated[bool, typer.Option("--list", help="Say where each month stands; close nothing.")] = False,
) -> Answer:
    """Close a month, after checks.

    From then on nothing is posted in it; what comes late is corrected in the next open month.
    """
    from apportion.render.findings import findings_tables
    from apportion.render.sheet import Sheet, Table, sheet_of
    from apportion.reports.findings import findings_value
    from apportion.reports.report import Column
    from apportion.verbs.accept import accept as let_stand
    from apportion.verbs.close import close as shut
    from apportion.verbs.close import next_to_close
    from apportion.verbs.months import months
    from apportion.verbs.periods import one

    project = call.project()
    if list_:
        return Answer(sheet_of(months(project)))
    period = one(call.months(next_to_close(project), "run `apportion apply` first"), "close")
    if accept:
        let_stand(project, period, accept, why)
    done = shut(project, period, override, call.bar)
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
        "findings": findings_value(done.findings),
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
    tables = ((Table(columns, rows),) if rows else ()) + findings_tables(done.findings)
    sheet = Sheet(title_of(done, override), tables, value, (f"ledger head {head}",))
    return Answer(sheet, talk, OK if done.closed else FAILED)


def title_of(done: "Outcome", override: str) -> str:
    from apportion.reports.words import counted

    period, against = done.period, done.against
    if done.again:
        return f"{period} was closed before; nothing changed."
    if done.closed is None:
        says = "says" if len(against) == 1 else "say"
        return f"{period} is not closed: {counted(len(against), 'check')} of {len(done.looks)} {says} no."
    return f"{period} is closed" + (
        f", although {counted(len(against), 'check')} said no: {override}" if against else "."
    )


def add_to(app: typer.Typer) -> None:
    verb(app, "close", period=True)(close)
