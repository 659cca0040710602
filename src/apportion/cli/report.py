"""`apportion report`: one command for each report, of the record or of what is computed again."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb
from apportion.cli.worked import facets, runs


class Dimension(StrEnum):
    team = "team"
    department = "department"
    cost_centre = "cost_centre"
    project = "project"
    user = "user"
    pool = "pool"
    component = "component"
    reason = "reason"
    cause = "cause"
    bill = "bill"
    day = "day"


class Group(StrEnum):
    team = "team"
    department = "department"
    cost_centre = "cost_centre"
    project = "project"
    user = "user"
    pool = "pool"


class Step(StrEnum):
    day = "day"
    month = "month"


class Row(StrEnum):
    team = "team"
    pool = "pool"


Only = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DIMENSION=NAME",
        help="Only rows of that name, such as team=vision or pool=h100; of one dimension any, of several all must hold.",
    ),
]


@dataclass(frozen=True, slots=True)
class Which:
    """Which part of the record."""

    where: Only = None
    as_of: Annotated[str, typer.Option("--as-of", metavar="DAY", help="As the books stood at the end of that day.")] = (
        ""
    )


By = Annotated[Dimension, typer.Option(help="What a row is.")]


def showback(call: Call, which: Which, by: By = Dimension.team) -> Answer:
    """Who owes what."""
    return answer(call, "showback", which, by=by.value)


def trend(
    call: Call,
    which: Which,
    by: Annotated[Step, typer.Option(help="What a row is.")] = Step.day,
    owner: Annotated[str, typer.Option(metavar="TEAM", help="Only this team, or _idle or another system owner.")] = "",
) -> Answer:
    """How it moved over the days or months."""
    return answer(call, "trend", which, by=by.value, owner=owner)


def idle(call: Call, which: Which) -> Answer:
    """What stood idle, why, and who carries it."""
    return answer(call, "idle", which)


def held(call: Call, which: Which, by: Annotated[Group, typer.Option(help="What a row is.")] = Group.team) -> Answer:
    """What was held, what was used of it, and what the difference cost."""
    return answer(call, "held", which, by=by.value)


def coverage(call: Call, which: Which) -> Answer:
    """How much of the bill has an owner, in money."""
    return answer(call, "coverage", which)


def corrections(call: Call, which: Which, by: By = Dimension.team) -> Answer:
    """What is corrected in a month.

    Of which closed month, the old and the new figure, why, and the runs that say so; together they are what the month's corrections come to.
    """
    return answer(call, "corrections", which, by=by.value)


def adjustments(
    call: Call,
    team: Annotated[
        list[str] | None, typer.Option(metavar="TEAM", help="Only what this team is spared or pays; of several any.")
    ] = None,
) -> Answer:
    """Who pays for whom: once, or as the policy says.

    Credits and moves of all months, newest first, and the adjustments of the month's policy.
    """
    from apportion.render.sheet import sheet_of
    from apportion.verbs.adjustments import adjustments as listed
    from apportion.verbs.periods import one
    from apportion.verbs.report import posted_periods

    project = call.project()
    made = listed(project, one(call.months(posted_periods(project)), "report adjustments"), team)
    return Answer(sheet_of(made))


class Part(StrEnum):
    bill = "bill"
    invoice = "invoice"
    service = "service"
    day = "day"


def reconcile(call: Call, by: Annotated[Part, typer.Option(help="What a row is.")] = Part.bill) -> Answer:
    """What the vendor says, what was read and what was posted.

    With every difference explained; from invoiced to amortised cost; from the files to the books; and what a restated bill changed.
    """
    from apportion.render.sheet import report_sheet
    from apportion.verbs.periods import one
    from apportion.verbs.reconcile import reconciled
    from apportion.verbs.world import billed_periods, pins_of

    project = call.project()
    period = one(call.months(billed_periods(project, pins_of(project))), "report reconcile")
    return Answer(report_sheet(reconciled(project, period, by.value)))


def carbon(call: Call, which: Which, by: By = Dimension.team) -> Answer:
    """Energy and carbon: whose it is, what stood idle, and which part is estimated."""
    return answer(call, "carbon", which, by=by.value)


def fairness(
    call: Call, by: Annotated[Row, typer.Option(help="A row for each team, or for each team in each pool.")] = Row.team
) -> Answer:
    """How much would move if peak Shapley shared the same pools.

    What teams were posted for use and idle, against what they add to the peak on average over all orders of arrival.
    """
    from apportion.render.sheet import report_sheet
    from apportion.verbs.fairness import fairness as compare
    from apportion.verbs.periods import one
    from apportion.verbs.report import posted_periods

    project = call.project()
    period = one(call.months(posted_periods(project)), "report fairness")
    return Answer(report_sheet(compare(project, period, by.value, call.bar)))


def nodes(call: Call) -> Answer:
    """Which node each instance of the bill is, and what is tied to none.

    Three lists that add up to the compute money of the bill: what is tied, by which rule; instances that no node answers to; nodes that no line pays for.
    """
    from apportion.render.sheet import report_sheet
    from apportion.verbs.nodes import nodes as join
    from apportion.verbs.periods import one
    from apportion.verbs.world import known_periods, pins_of

    project = call.project()
    period = one(call.months(known_periods(project, pins_of(project))), "report nodes")
    return Answer(report_sheet(join(project, period, call.bar)))


class Live(StrEnum):
    team = "team"
    pool = "pool"
    project = "project"
    day = "day"


def live(
    call: Call,
    by: Annotated[Live, typer.Option(help="What a row is.")] = Live.team,
    where: Annotated[
        list[str] | None, typer.Option(metavar="DIMENSION=NAME", help="Only rows of that name, such as team=vision.")
    ] = None,
) -> Answer:
    """What the running month comes to so far, estimated.

    Pools without a bill are charged at their last settled price. Nothing is posted; the last complete day and a straight line to the month's end are said.
    """
    from apportion.render.sheet import report_sheet
    from apportion.reports.live import live_report, narrowed
    from apportion.verbs.live import live as estimate
    from apportion.verbs.periods import today
    from apportion.verbs.report import read_filters

    made = narrowed(estimate(call.project(), today(), call.bar), read_filters(where or ()))
    return Answer(report_sheet(live_report(made, by.value)))


def anomalies(call: Call) -> Answer:
    """What is not as usual: spending, prices, idle, failures, the cost of an hour.

    The same as `apportion anomalies list`.
    """
    from apportion.cli.anomalies import listed

    return listed(call, every=False)


def pools(call: Call) -> Answer:
    """All pools: what each cost, what stood idle of it, what a unit cost.

    Hours and prices are computed again from the cost lines and usage that the month was posted with.
    """
    from apportion.render.sheet import report_sheet
    from apportion.verbs.periods import one
    from apportion.verbs.pools import pools as compare
    from apportion.verbs.report import posted_periods

    project = call.project()
    period = one(call.months(posted_periods(project)), "report pools")
    return Answer(report_sheet(compare(project, period, call.bar)))


class Time(StrEnum):
    day = "day"
    hour = "hour"
    week = "week"


def pool(
    call: Call,
    name: Annotated[str, typer.Argument(metavar="POOL", help="As the policy names it.")],
    by: Annotated[Time, typer.Option(help="What a row is: a day, an hour, or an hour of the week.")] = Time.day,
) -> Answer:
    """One pool: what became of its capacity, and what a unit cost.

    Used, held or reserved without use, unsold, down: together all that there was.
    """
    from apportion.render.sheet import report_sheet
    from apportion.verbs.periods import one
    from apportion.verbs.pools import pool as ask
    from apportion.verbs.report import posted_periods

    project = call.project()
    period = one(call.months(posted_periods(project)), "report pool")
    return Answer(report_sheet(ask(project, name, period, by.value, call.bar)))


def waste(call: Call, where: Only = None) -> Answer:
    """The runs that held the most without using it, and what that cost."""
    from apportion.render.sheet import report_sheet
    from apportion.verbs.report import posted_periods
    from apportion.verbs.waste import waste as find

    project = call.project()
    return Answer(report_sheet(find(project, call.months(posted_periods(project)), where or ())))


def efficiency(call: Call) -> Answer:
    """How much of what each team held was useful, against the month before.

    What a team no longer runs counts as it was, and what it saved is counted for the work that it did: nobody wins by doing less.
    """
    from apportion.render.sheet import report_sheet
    from apportion.verbs.efficiency import efficiency as compare
    from apportion.verbs.periods import one
    from apportion.verbs.report import posted_periods

    project = call.project()
    period = one(call.months(posted_periods(project)), "report efficiency")
    return Answer(report_sheet(compare(project, period)))


def answer(call: Call, name: str, which: Which, **options: str) -> Answer:
    from apportion.render.sheet import report_sheet
    from apportion.verbs.report import posted_periods, report

    project = call.project()
    periods = call.months(posted_periods(project))
    made = report(project, name, periods, which.where or (), as_of=which.as_of, **options)
    talk = (f"Next: apportion {call.flag}explain TEAM --period {periods[0]}",) if name == "showback" else ()
    return Answer(report_sheet(made), talk)


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Showback, trend, idle, held, corrections, reconcile and more.",
    )
    for command in (
        showback,
        trend,
        idle,
        held,
        coverage,
        carbon,
        corrections,
        adjustments,
        reconcile,
        fairness,
        nodes,
        pools,
        pool,
        waste,
        efficiency,
        facets,
        runs,
    ):
        verb(group, command.__name__, period=True)(command)
    for command in (live, anomalies):
        verb(group, command.__name__)(command)
    app.add_typer(group, name="report")
