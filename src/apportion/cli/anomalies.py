"""`apportion anomalies`: list, show, ack."""

from typing import Annotated

import typer

from apportion.cli.output import show as print_sheet
from apportion.cli.verb import Answer, Call, Form, verb
from apportion.verbs.periods import today

Id = Annotated[str, typer.Argument(metavar="ID", help="As the list names it.")]


def list_(
    call: Call,
    every: Annotated[bool, typer.Option("--all", help="Those that were acknowledged, too.")] = False,
) -> Answer:
    """What is not as usual, by team and pool, with what it meant and why.

    Spending of a team, the price of a pool, what stands idle of it, what failed of a team's runs, and what a team pays for a GPU-hour. Days that are not
    complete are left out, and so is all that the weeks before lead one to expect.
    """
    return listed(call, every=every)


def listed(call: Call, *, every: bool) -> Answer:
    from apportion.render.sheet import report_sheet
    from apportion.reports.anomaly.report import anomaly_report
    from apportion.verbs.anomalies import anomalies

    found = anomalies(call.project(), today(), call.bar)
    news = [one for one in found if not one.acknowledged]
    talk = (f"Next: apportion {call.flag}anomalies show {news[0].id}",) if news else ()
    return Answer(report_sheet(anomaly_report(found, every=every)), talk)


def show(call: Call, name: Id) -> Answer:
    """One of them with its causes, which add up to what it meant, and what most of it is in."""
    from apportion.render.sheet import report_sheet
    from apportion.reports.anomaly.report import cause_report
    from apportion.verbs.anomalies import anomalies, find

    one = find(anomalies(call.project(), today(), call.bar), name)
    talk = tuple(f"Read on: {lead.command}" for lead in one.leaders if lead.command)
    return Answer(report_sheet(cause_report(one)), talk)


def ack(
    call: Call,
    name: Id,
    why: Annotated[str, typer.Option(metavar="TEXT", help="The reason, for those who ask.")] = "",
    until: Annotated[str, typer.Option(metavar="DAY", help="Tell of it again after this day, if it lasts.")] = "",
) -> Answer:
    """Acknowledge one with a reason: nothing is told of it while it lasts.

    Who, when and why stand in the audit log.
    """
    from apportion.render.sheet import Sheet
    from apportion.reports.anomaly.report import value_of
    from apportion.verbs.anomalies import acknowledge, anomalies

    project = call.project()
    made = acknowledge(project, anomalies(project, today(), call.bar), name, (why, until), today())
    until_day = f" until {until.strip()}" if until.strip() else " while it lasts"
    said = f"Nothing is told of {made.id} ({made.kind} of {made.owner} since {made.began}){until_day}."
    return Answer(Sheet(said, value=value_of(made)))


def bare(ctx: typer.Context) -> None:
    """Find what is not as usual, and acknowledge it. Without a command: the list."""
    if ctx.invoked_subcommand is None:
        sheet = listed(Call(ctx.obj), every=False).sheet
        if sheet is not None:
            print_sheet(sheet, Form.table)


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(rich_markup_mode=None, help="Find what is not as usual, and acknowledge it.")
    group.callback(invoke_without_command=True)(bare)
    verb(group, "list")(list_)
    verb(group, "show")(show)
    verb(group, "ack")(ack)
    app.add_typer(group, name="anomalies")
