"""Disputes: somebody doubts a posting, a job's cost or a statement. It is opened with the evidence of that moment, talked about, and settled once:

rejected, credited (a sponsor pays) or reclassed (another owner owes it). What is posted for it balances, in an open month; nothing is edited.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import pyarrow as pa

from apportion.books.shapes import (
    ALL,
    AMOUNT,
    CREDIT,
    CREDITED,
    RECLASS,
    RECLASSED,
    REJECTED,
    Dispute,
    DisputeNote,
    Posted,
    Run,
    Transfer,
)
from apportion.errors import BooksError, ProjectError
from apportion.model.currencies import is_money
from apportion.model.money import plain
from apportion.model.result import Result
from apportion.model.times import Period, instant_text, parse_period
from apportion.render.json import dumps
from apportion.render.listing import Listing
from apportion.render.sheet import Sheet, Table, sheet_of
from apportion.reports.report import Column
from apportion.reports.statement.shape import money
from apportion.reports.sums import total
from apportion.reports.words import counted, shown
from apportion.verbs.disputing.parts import JOB, STATEMENT
from apportion.verbs.disputing.target import Target, find_target, rows_of
from apportion.verbs.explain import explain
from apportion.verbs.explaining.story import drawn, revived
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.statement import Wanted, statements
from apportion.verbs.steps import Step, silent
from apportion.verbs.transfers import (
    EVERY,
    Desk,
    Row,
    amount_of,
    credit_rows,
    desk_of,
    in_currency,
    named,
    owed,
    path_of,
    places_of,
    reclass_rows,
    refuse_more,
    rows_of_owner,
    run_of,
    spread,
    without_owner,
)

STATED = ("team", "project")  # by how many names lead to the owner: the levels whose statements a dispute can name


@dataclass(frozen=True, slots=True)
class Doubt:
    """`what` is a posting's number or hash, a job, or an owner; `amount` where only a part is doubted."""

    what: str
    why: str
    amount: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Opened(Result):
    """`also` are other things of the same name."""

    dispute: Dispute
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settlement:
    """How a dispute ends: `rejected`, `credited` (with a sponsor and an amount, or `all`) or `reclassed` (to another owner)."""

    outcome: str
    why: str
    other: str = ""
    amount: str = ALL
    approver: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Settled(Result):
    dispute: Dispute
    booked: str = ""  # the month that holds what was posted, if anything was
    posted: Posted | None = None


def open_dispute(project: Project, period: Period | str, doubt: Doubt, step: Step = silent) -> Opened:
    """Doubt a posting, a job's cost or a statement; kept with what `explain` says of it now."""
    refuse_silent(doubt.why)
    target = find_target(project, doubt.what, as_period(period))
    head = project.books.head()
    rows = rows_of(project, target, project.books.believed(str(target.month), EVERY))
    if not len(rows):
        raise nothing_left(target)
    currency = currency_of(rows, project.policy.currency)
    whole = figure_of(project, target, currency, owed(in_currency(rows, currency)))
    part = amount_of(doubt.amount, currency) if doubt.amount else whole
    if doubt.amount:
        refuse_more(part, whole, currency, f"what {target.kind} {target.name} comes to")
    made = Dispute(
        period=str(target.month),
        kind=target.kind,
        name=target.name,
        key=target.key,
        owner=target.name if target.kind == STATEMENT else path_of(rows.to_pylist()[0]),
        currency=currency,
        amount=Decimal(plain(part)),
        part=part != whole,
        evidence=evidence_of(project, target, step),
        head=head,
    )
    return Opened(project.books.open_dispute(made, doubt.why), target.also)


def figure_of(project: Project, target: Target, currency: str, stands: Decimal) -> Decimal:
    """Of a statement the figure that is printed on it; of anything else, and of an owner who has no statement, what stands of it."""
    parts = target.name.split("/")
    if target.kind != STATEMENT or len(parts) > len(STATED):
        return stands
    found = statements(project, Wanted(target.month, STATED[len(parts) - 1], target.name))
    return next((money(made.owed, made.digits) for made in found if made.currency == currency), stands)


def evidence_of(project: Project, target: Target, step: Step) -> str:
    """What `explain` says now. Where it cannot say anything, what it said instead: nobody is kept from disputing by that."""
    try:
        return dumps(explain(project, target.explained, target.booked, step))
    except BooksError as error:
        return dumps({"title": error.message, "steps": []})


def currency_of(rows: pa.Table, usual: str) -> str:
    some = sorted(name for name in set(rows["currency"].to_pylist()) if is_money(name))
    if not some:
        raise ProjectError(
            "no-money", "there is no money in it to dispute", hint="grams and kWh follow the money's owner"
        )
    return usual if usual in some else some[0]


def say(project: Project, number: int, text: str) -> Dispute:
    """Add to the thread of a dispute."""
    refuse_silent(text)
    return project.books.say(number, text)


def disputes(project: Project, period: str = "", status: str = "") -> Listing[Dispute]:
    """What is disputed: all of them, or those of a month or of one status."""
    found = [one for one in project.books.disputes() if period in ("", one.period) and status in ("", one.status)]
    return Listing(found, lambda: dispute_list(found, f"{counted(len(found), 'dispute')}."))


def dispute(project: Project, number: int) -> Dispute:
    """One of them, with its thread."""
    return project.books.dispute(number)


def settle(project: Project, number: int, end: Settlement) -> Settled:
    """End a dispute: reject, credit or re-attribute it, once. What is posted is of the disputed month, in it while it is open, else in the next open one."""
    refuse_silent(end.why)
    known = project.books.dispute(number)
    said = DisputeNote(0, "", end.outcome, end.why)
    if end.outcome == REJECTED:
        return Settled(project.books.settle(number, said, None)[0])
    desk = desk_of(project, parse_period(known.period))
    rows = rows_of(project, known, desk.rows)
    refuse_settled_before(project, known)
    make = credited if end.outcome == CREDITED else reclassed
    made = make(desk, known, rows, end)
    done, posted = project.books.settle(number, said, made)
    return Settled(done, str(desk.booked), posted)


def credited(desk: Desk, known: Dispute, rows: pa.Table, end: Settlement) -> tuple[Transfer, Run]:
    mine = in_currency(rows, known.currency)
    others = in_currency(rows_of_owner(desk.rows, known.owner), known.currency)  # what else it was spared counts, too
    most = min(owed(mine), owed(others), *([known.amount] if known.part else []))
    amount = most if end.amount == ALL else amount_of(end.amount, known.currency)
    refuse_more(amount, most, known.currency, f"what dispute {known.number} is about")
    if amount <= 0:
        raise nothing_left(known)
    sponsor = named(desk, end.other, "sponsor")
    if path_of(sponsor) == known.owner:
        raise ProjectError("same-owner", f"{known.owner} cannot pay for itself", hint="name another sponsor")
    made = replace(transfer_of(known, end, path_of(sponsor), amount), extent=extent_of(known, end))
    leaf = named(desk, known.owner, "team") if known.kind == STATEMENT else None
    return made, run_of(desk, made, CREDIT, credit_rows(desk, places_of(mine, leaf, desk), made))


def reclassed(desk: Desk, known: Dispute, rows: pa.Table, end: Settlement) -> tuple[Transfer, Run]:
    """All that stands of it, carbon and energy with the money; of a doubted part, that amount of the money."""
    other = named(desk, end.other, "owner")
    rows = without_owner(rows, other)
    if not len(rows):
        raise nothing_left(known)
    moved = part_of(in_currency(rows, known.currency), known.amount) if known.part else rows.to_pylist()
    amount = total(row["amount"] for row in moved if row["currency"] == known.currency)
    made = replace(transfer_of(known, end, path_of(other), amount), extent=AMOUNT if known.part else ALL)
    return made, run_of(desk, made, RECLASS, reclass_rows(desk, moved, made))


def part_of(rows: pa.Table, amount: Decimal) -> list[Row]:
    refuse_more(amount, owed(rows), rows["currency"][0].as_py(), "what stands of it now")
    return [{**row, "amount": part} for row, part in spread(rows.to_pylist(), amount)]


def transfer_of(known: Dispute, end: Settlement, other: str, amount: Decimal) -> Transfer:
    return Transfer(
        run_id=f"dispute-{known.number}",
        owner=known.owner,
        other=other,
        currency=known.currency,
        amount=Decimal(plain(amount)),
        why=end.why,
        approver=end.approver,
        dispute=known.number,
    )


def extent_of(known: Dispute, end: Settlement) -> str:
    """Of a doubted part, and where an amount is said, that amount; else all that stands of it, whatever it comes to later."""
    return AMOUNT if known.part or end.amount != ALL else ALL


def refuse_settled_before(project: Project, known: Dispute) -> None:
    """A credit leaves its posting as it is, and a job's charges lie inside postings of others, too: only the disputes tell that they were settled.

    What a statement comes to holds all that was booked of it.
    """
    if known.kind == STATEMENT:
        return
    for other in project.books.disputes():
        same = other.name == known.name or (known.kind == JOB and not set(known.key).isdisjoint(other.key))
        if (other.period, other.kind) == (known.period, known.kind) and same and other.status in (CREDITED, RECLASSED):
            raise ProjectError(
                "nothing-left",
                f"{known.kind} {known.name} was {other.status} before, by dispute {other.number}",
                hint="dispute a posting that this made, or the statement of who owes it now",
            )


def nothing_left(what: Target | Dispute) -> ProjectError:
    return ProjectError(
        "nothing-left",
        f"nothing of {what.kind} {what.name} is left to dispute: it was re-attributed, credited or corrected",
        hint="apportion dispute list, or explain, shows what happened to it",
    )


def refuse_silent(why: str) -> None:
    if not why.strip():
        raise ProjectError("no-reason", "a dispute needs words", hint="say what is wrong, or why it ends as it does")


def dispute_list(found: Sequence[Dispute], title: str) -> Sheet:
    names = ("number", "status", "period", "what", "owner", "amount", "why")
    rows = tuple(
        (str(one.number), one.status, one.period, f"{one.kind} {one.name}", one.owner, shown(one.amount, one.currency), one.notes[0].text)
        for one in found
    )  # fmt: skip
    return Sheet(title, (Table(tuple(Column(name, name) for name in names), rows),), {"disputes": found})


@sheet_of.register
def thread_sheet(found: Dispute, *, evidence: bool = False) -> Sheet:
    names = ("when", "who", "status", "text", "run")
    rows = tuple((instant_text(one.at_s), one.who, one.status, one.text, one.run_id or None) for one in found.notes)
    what = f"{shown(found.amount, found.currency)} of {found.kind} {found.name} in {found.period}"
    title = f"Dispute {found.number} is {found.status}: {what}, owed by {found.owner}."
    said = json.loads(found.evidence)
    notes = (
        said["title"],
        "\n".join(drawn(tuple(map(revived, said["steps"])))),
        f"as explained at ledger head {found.head}",
    )
    return Sheet(
        title,
        (Table(tuple(Column(name, name, quiet=name == "run") for name in names), rows),),
        found,
        notes if evidence else (),
    )
