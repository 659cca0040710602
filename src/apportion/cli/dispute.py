"""`apportion dispute`: open, say, list, show, settle."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import Answer, Call, verb
from apportion.errors import ProjectError

if TYPE_CHECKING:
    from apportion.verbs.dispute import Settlement

Number = Annotated[int, typer.Argument(metavar="NUMBER", help="The dispute's number.")]


@dataclass(frozen=True, slots=True)
class End:
    reject: Annotated[str, typer.Option(metavar="WHY", help="It stays as it is, because of this.")] = ""
    credit: Annotated[str, typer.Option(metavar="AMOUNT", help="A sponsor pays this much of it, or `all`.")] = ""
    reclass: Annotated[
        str, typer.Option(metavar="OWNER", help="It is TEAM's, TEAM/PROJECT's or TEAM/PROJECT/USER's.")
    ] = ""
    sponsor: Annotated[str, typer.Option(metavar="TEAM", help="Who pays a credit.")] = ""
    why: Annotated[str, typer.Option(metavar="TEXT", help="Why it is credited or another's.")] = ""
    approver: Annotated[str, typer.Option(metavar="NAME", help="Who approved it.")] = ""


def open_(
    call: Call,
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT", help="A posting by its number or hash, a job, or an owner for its whole statement."
        ),
    ],
    why: Annotated[str, typer.Option(metavar="TEXT", help="What is wrong with it.")],
    amount: Annotated[str, typer.Option(metavar="AMOUNT", help="Where only a part is doubted.")] = "",
) -> Answer:
    """Doubt a posting, a job's cost or a statement.

    Kept with what `explain` says of it now and the ledger's head.
    """
    from apportion.verbs.dispute import Doubt, dispute_list, open_dispute
    from apportion.verbs.periods import one
    from apportion.verbs.report import posted_periods

    project = call.project()
    period = one(call.months(posted_periods(project), "run `apportion apply` first"), "dispute open")
    done = open_dispute(project, period, Doubt(what, why, amount), call.bar)
    also = (f"{what} is also {', '.join(done.also)}: ask for that by its full name.",) if done.also else ()
    next_step = f"Next: apportion {call.flag}dispute say {done.dispute.number} TEXT, or dispute settle"
    return Answer(dispute_list((done.dispute,), f"Dispute {done.dispute.number} is open."), (*also, next_step))


def say(
    call: Call, number: Number, text: Annotated[str, typer.Argument(metavar="TEXT", help="What there is to say.")]
) -> Answer:
    """Add to a dispute's thread."""
    from apportion.render.sheet import sheet_of
    from apportion.verbs.dispute import say as add

    return Answer(sheet_of(add(call.project(), number, text)))


def list_(
    call: Call,
    status: Annotated[
        str, typer.Option(metavar="STATUS", help="Only those: open, rejected, credited or reclassed.")
    ] = "",
) -> Answer:
    """List disputes, of all months unless one is named."""
    from apportion.render.sheet import sheet_of
    from apportion.verbs.dispute import disputes

    return Answer(sheet_of(disputes(call.project(), call.period or "", status)))


def show(call: Call, number: Number) -> Answer:
    """Show a dispute: its thread, its evidence and how it ended."""
    from apportion.verbs.dispute import dispute, thread_sheet

    return Answer(thread_sheet(dispute(call.project(), number), evidence=True))


def settle(call: Call, number: Number, end: End) -> Answer:
    """End a dispute: reject it, credit it or re-attribute it.

    What is posted for it balances and is booked in the disputed month while that is open, else in the next open one. A dispute is settled once.
    """
    from apportion.cli.transfers import transfer_sheet
    from apportion.render.sheet import sheet_of
    from apportion.verbs.dispute import settle as decide

    project = call.project()
    done = decide(project, number, settlement(end))
    if done.posted is None:
        return Answer(sheet_of(done.dispute))
    title = f"Dispute {number} is {done.dispute.status}: booked in {done.booked}."
    return Answer(transfer_sheet(project, title, done, done.posted.run_id))


def settlement(end: End) -> "Settlement":
    from apportion.verbs.dispute import Settlement

    given = [name for name in ("reject", "credit", "reclass") if getattr(end, name)]
    if len(given) != 1 or (end.sponsor == "") == (given == ["credit"]):
        raise ProjectError(
            "unclear-settlement",
            "a dispute is rejected, credited or re-attributed",
            hint="give one of --reject WHY, --credit AMOUNT --sponsor TEAM --why TEXT, --reclass OWNER --why TEXT",
        )
    if end.reject:
        return Settlement("rejected", end.reject, approver=end.approver)
    if end.credit:
        return Settlement("credited", end.why, end.sponsor, end.credit, end.approver)
    return Settlement("reclassed", end.why, end.reclass, approver=end.approver)


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Open, discuss and settle disputes.")
    verb(group, "open", period=True)(open_)
    verb(group, "say")(say)
    verb(group, "list", period=True)(list_)
    verb(group, "show")(show)
    verb(group, "settle")(settle)
    app.add_typer(group, name="dispute")
