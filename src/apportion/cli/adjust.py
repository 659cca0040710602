"""`apportion adjust`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


@dataclass(frozen=True, slots=True)
class Options:
    team: Annotated[str, typer.Option(metavar="TEAM", help="Who is spared.")]
    sponsor: Annotated[str, typer.Option(metavar="TEAM", help="Who pays instead.")]
    amount: Annotated[str, typer.Option(metavar="AMOUNT", help="How much, such as 120.00.")]
    why: Annotated[str, typer.Option(metavar="TEXT", help="The reason, for those who ask.")]
    approver: Annotated[str, typer.Option(metavar="NAME", help="Who approved it.")] = ""
    project: Annotated[str, typer.Option(metavar="NAME", help="Of this project of the team.")] = ""
    user: Annotated[str, typer.Option(metavar="NAME", help="Of this user.")] = ""
    bill: Annotated[
        str, typer.Option(metavar="BILL", help="Of this bill; all in the policy's currency unless given.")
    ] = ""
    pool: Annotated[str, typer.Option(metavar="POOL", help="Of this pool.")] = ""
    reference: Annotated[
        str, typer.Option(metavar="TEXT", help="A ticket, or whatever makes the same credit once more another one.")
    ] = ""


def adjust(call: Call, options: Options) -> Answer:
    """Give a one-off credit.

    A sponsor pays an amount of what a team owes, spread over its bills and pools in proportion, so that every bill stays what it was.
    The same twice is one. Of a closed month it is booked in the next open one. What is to hold every month belongs in the policy's adjustments.
    """
    from apportion.cli.transfers import transfer_sheet
    from apportion.reports.words import shown
    from apportion.verbs.adjust import Wish
    from apportion.verbs.adjust import adjust as give
    from apportion.verbs.close import next_to_close
    from apportion.verbs.periods import one

    project = call.project()
    period = one(call.months(next_to_close(project), "run `apportion apply` first"), "adjust")
    owner = "/".join(
        [
            options.team,
            *([options.project, options.user] if options.user else [options.project] if options.project else []),
        ]
    )
    done = give(
        project,
        period,
        Wish(
            owner=owner,
            sponsor=options.sponsor,
            amount=options.amount,
            why=options.why,
            approver=options.approver,
            bill=options.bill,
            pool=options.pool,
            reference=options.reference,
        ),
    )
    made = done.transfer
    what = f"{made.other} pays {shown(made.amount, made.currency)} of what {made.owner} owes for {done.period}"
    title = (
        f"{what}: booked in {done.booked}."
        if done.posted
        else f"{what}: booked in {done.booked} before; nothing changed."
    )
    return Answer(
        transfer_sheet(project, title, done, made.run_id),
        (f"Next: apportion {call.flag}explain {options.team} --period {done.booked}",),
    )


def add_to(app: typer.Typer) -> None:
    verb(app, "adjust", period=True)(adjust)
