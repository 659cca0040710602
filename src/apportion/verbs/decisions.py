"""What people decided of a month, applied again whenever the month is computed anew.

A decision is kept by what it decides: a job, a posting or a statement, all of it or an amount. So a job that was moved is moved as it is now, and a
sponsor pays what a job comes to now. What follows is posted with the run that computes the month, as a run of the decision's own kind.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import (
    ALL,
    CREDIT,
    LOWERED,
    RECLASS,
    TRANSFERS,
    Dispute,
    Following,
    Run,
    Transfer,
)
from apportion.engine.charges import charges_of
from apportion.engine.label_sets import are_named
from apportion.engine.plan import Plan
from apportion.errors import ProjectError
from apportion.model.money import plain
from apportion.model.owner import Owner
from apportion.model.rows import CHARGES, POSTINGS
from apportion.model.times import Period
from apportion.reports.sums import ZERO, less, total
from apportion.reports.words import counted, shown
from apportion.verbs.difference import add_postings, difference
from apportion.verbs.disputing.parts import JOB, STATEMENT, left_rows, plain_rows
from apportion.verbs.project import Project
from apportion.verbs.run_rows import owners_side
from apportion.verbs.transfers import (
    LEAF,
    Desk,
    Row,
    cause_of,
    credit_rows,
    desk_of,
    in_currency,
    named,
    owed,
    path_of,
    places_of,
    reclass_rows,
    rows_of_owner,
    run_of,
    spread,
    table_of,
    without_owner,
)

Charges = Callable[[tuple[str, ...]], pa.Table]  # of workloads


@dataclass(frozen=True, slots=True)
class Basis:
    """A month as it is computed: its postings, and the charges of workloads."""

    postings: pa.Table
    charges: Charges


@dataclass(frozen=True, slots=True)
class Decision:
    """`made` as it was first posted, of `kind` credit or reclass; `posted` is all that was posted for it so far, as rows of the month."""

    made: Transfer
    kind: str
    posted: pa.Table
    dispute: Dispute | None = None
    lowered: bool = False

    @property
    def is_whole(self) -> bool:
        """All of what stands. Books made before that was kept say it by the amount."""
        made, dispute = self.made, self.dispute
        if made.extent or dispute is None:
            return made.extent == ALL
        return not dispute.part and (self.kind == RECLASS or made.amount == dispute.amount)

    @property
    def is_fixed(self) -> bool:
        """A credit of books made before bill and pool were kept: nobody knows what it was for, so it stays as it is."""
        return not self.made.extent and self.dispute is None

    @property
    def name(self) -> str:
        return f"dispute {self.made.dispute}" if self.made.dispute else self.made.run_id

    @property
    def text(self) -> str:
        """`dispute 1 (job j2, from b to c)`."""
        made, dispute = self.made, self.dispute
        what = f"{dispute.kind} {dispute.name}" if dispute else f"what {made.owner} owes"
        how = (
            f"from {made.owner} to {made.other}"
            if self.kind == RECLASS
            else f"credited to {made.owner}, paid by {made.other}"
        )
        return f"{self.name} ({what}, {how})"


@dataclass(frozen=True, slots=True)
class Effect:
    """What a decision moves of a month. `left` is what there is to move, where an amount is decided that is larger; else None."""

    rows: pa.Table
    left: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Follow:
    """A decision that moves another amount than before: `rows` are to be added. `left` where its amount is larger than what is left now."""

    decision: Decision
    rows: pa.Table
    was: Decimal
    now: Decimal
    left: Decimal | None = None

    @property
    def text(self) -> str:
        currency = self.decision.made.currency
        stops = "" if self.left is None else "; apply stops: more than that was decided"
        return f"{self.decision.text}: {shown(self.was, currency)} became {shown(self.now, currency)}{stops}"


def follow(project: Project, month: Period, new: Basis, old: Basis | None = None) -> list[Follow]:
    """Every decision of a month that what is computed now changes, in the order in which they were made.

    `old`: the month without what came, by the same rules as `new`, where it was posted by others; else what was posted counts.
    """
    decisions = read_decisions(project, month)
    if not decisions:
        return []
    desk = replace(desk_of(project, month), booked=month)
    others = difference(
        desk.rows, pa.concat_tables([project.books.believed(str(month)), *(one.posted for one in decisions)])
    )
    after = effects(replace(desk, rows=add_postings(new.postings, others)), decisions, new.charges)
    before = [Effect(one.posted) for one in decisions]
    if old is not None:
        before = effects(replace(desk, rows=add_postings(old.postings, others)), decisions, old.charges)
    found = [compared(*each) for each in zip(decisions, before, after, strict=True)]
    return [one for one in found if len(one.rows) or one.left is not None]


def compared(one: Decision, before: Effect, after: Effect) -> Follow:
    too_large = after.left if before.left is None and not one.lowered else None
    return Follow(
        one, difference(after.rows, before.rows), moved_by(one, before.rows), moved_by(one, after.rows), too_large
    )


def has_decisions(project: Project, month: Period) -> bool:
    return any(run.kind in TRANSFERS and (run.about or run.period) == str(month) for run in project.books.runs())


def read_decisions(project: Project, month: Period) -> list[Decision]:
    """Oldest first."""
    about = {
        run.run_id: run
        for run in project.books.runs()
        if run.kind in TRANSFERS and (run.about or run.period) == str(month)
    }
    made = [one for one in project.books.transfers() if one.run_id in about]
    disputes = {one.number: one for one in project.books.disputes()} if any(one.dispute for one in made) else {}
    found = []
    for one in (one for one in made if not one.follows):
        since = [later for later in made if later.follows == one.run_id]
        rows = owners_side(project, [one.run_id, *(later.run_id for later in since)])
        found.append(
            Decision(
                one,
                about[one.run_id].kind,
                in_month(rows.select(POSTINGS.names).cast(POSTINGS), str(month)),
                disputes.get(one.dispute),
                any(later.extent == LOWERED for later in since),
            )
        )
    return found


def in_month(rows: pa.Table, period: str) -> pa.Table:
    place = POSTINGS.names.index("period")
    return rows.set_column(place, POSTINGS.field(place), pa.repeat(pa.scalar(period), len(rows)))


def effects(desk: Desk, decisions: Sequence[Decision], charges: Charges) -> list[Effect]:
    """Of all decisions in their order: each sees what those before it left."""
    found: list[Effect] = []
    for one in decisions:
        found.append(effect_of(desk, one, charges))
        desk = replace(desk, rows=add_postings(desk.rows, found[-1].rows))
    return found


def effect_of(desk: Desk, one: Decision, charges: Charges) -> Effect:
    rows = rows_decided(one, desk.rows, charges)
    return reclass_again(desk, one, rows) if one.kind == RECLASS else credit_again(desk, one, rows)


def rows_decided(one: Decision, rows: pa.Table, charges: Charges) -> pa.Table:
    """What stands of it among all that the month comes to."""
    if one.dispute is None:
        mine = rows_of_owner(rows, one.made.owner)
        for name, value in (("bill", one.made.bill), ("pool", one.made.pool)):
            mine = mine.filter(pc.equal(mine[name], value)) if value else mine
        return mine
    if one.dispute.kind == JOB:
        return table_of(list(left_rows(charges(one.dispute.key), rows)))
    return plain_rows(one.dispute, rows)


def reclass_again(desk: Desk, one: Decision, rows: pa.Table) -> Effect:
    other = owner_of(desk, one, one.made.other, "owner")
    rows = without_owner(rows, other)
    if one.is_whole:
        return Effect(reclass_rows(desk, rows.to_pylist(), one.made, other))
    money = in_currency(rows, one.made.currency)
    amount, left = bounded(one, owed(money))
    parts = [{**row, "amount": part} for row, part in spread(money.to_pylist(), amount)] if amount else []
    return Effect(reclass_rows(desk, parts, one.made, other), left)


def credit_again(desk: Desk, one: Decision, rows: pa.Table) -> Effect:
    made = one.made
    money = in_currency(rows, made.currency)
    most = min(owed(money), owed(in_currency(rows_of_owner(desk.rows, made.owner), made.currency)))
    amount, left = (max(most, ZERO), None) if one.is_whole else bounded(one, most)
    if not amount:
        return Effect(POSTINGS.empty_table(), left)
    sponsor, lowered = owner_of(desk, one, made.other, "sponsor"), replace(made, amount=Decimal(plain(amount)))
    return Effect(credit_rows(desk, credit_places(desk, one, money), lowered, sponsor), left)


def credit_places(desk: Desk, one: Decision, money: pa.Table) -> list[Row]:
    """Where a credit is spread to: what is owed, by bill, component and pool; of one that is fixed, where it was posted."""
    if one.is_fixed:
        posted = one.posted.filter(pc.equal(one.posted["reason"], "credit"))
        return [{**row, "amount": row["amount"].copy_negate()} for row in posted.to_pylist()]
    apart = one.dispute is not None and one.dispute.kind != STATEMENT
    return places_of(money, None if apart else owner_of(desk, one, one.made.owner, "team"), desk)


def bounded(one: Decision, most: Decimal) -> tuple[Decimal, Decimal | None]:
    """The amount that was decided, at most what there is; and what there is, where that is less."""
    left = max(most, ZERO)
    return (one.made.amount, None) if one.made.amount <= left else (left, left)


def owner_of(desk: Desk, one: Decision, path: str, what: str) -> Owner:
    """As it was posted: departments and cost centres of today are no part of what was decided then."""
    for row in moved_rows(one, one.posted).to_pylist() if what != "team" else one.posted.to_pylist():
        if path_of(row) == path:
            return Owner(**{name: row[name] for name in LEAF})
    return named(desk, path, what)


def moved_rows(one: Decision, rows: pa.Table) -> pa.Table:
    """The side of a transfer that names who pays now."""
    mine = rows.filter(pc.equal(rows["cause"], cause_of(one.made)))
    return mine.filter(pc.equal(mine["reason"], "subsidy")) if one.kind == CREDIT else mine


def moved_by(one: Decision, rows: pa.Table) -> Decimal:
    return total(in_currency(moved_rows(one, rows), one.made.currency)["amount"].to_pylist())


def refuse_large(found: Sequence[Follow], month: Period) -> None:
    large = [(one.decision, one.left) for one in found if one.left is not None]
    if not large:
        return
    parts = [
        f"{one.text}: {shown(one.made.amount, one.made.currency)} was decided, {shown(left, one.made.currency)} is left"
        for one, left in large
    ]
    raise ProjectError(
        "decision-too-large",
        f"{counted(len(large), 'decision')} on {month} would move more than is left: {'; '.join(parts)}",
        hint=f"apportion apply --period {month} --lower WHY takes each down to what is left, and keeps why",
    )


def following(project: Project, month: Period, found: Sequence[Follow], run_id: str) -> Following:
    """What is posted with a run, of the same books."""
    head = project.books.head()
    if not found:
        return Following(head)
    refuse_large(found, month)
    desk = desk_of(project, month)
    return Following(head, tuple(run_again(desk, one, run_id) for one in found))


def run_again(desk: Desk, one: Follow, run_id: str) -> tuple[Transfer, Run]:
    first = one.decision.made
    made = replace(
        first,
        run_id=f"{first.run_id}-{hashlib.sha256(run_id.encode()).hexdigest()[:12]}",
        amount=Decimal(plain(less(one.now, one.was))),
        extent="",
        follows=first.run_id,
    )
    run = run_of(desk, made, one.decision.kind, in_month(one.rows, str(desk.booked)))
    return made, replace(run, cause=f"{one.decision.name} follows what {desk.month} comes to now: {made.why}")


def lowered_run(desk: Desk, one: Decision, why: str) -> tuple[Transfer, Run]:
    """A decision of its own, which moves nothing by itself: from now on at most what there is moves."""
    own = f"{one.made.run_id}-lowered"
    made = replace(one.made, run_id=own, amount=Decimal(0), why=why, extent=LOWERED, follows=one.made.run_id)
    return made, run_of(desk, made, one.kind, POSTINGS.empty_table())


def basis_from(plan: Plan) -> Basis:
    """Its charges are made once, when somebody asks."""
    known: list[pa.Table] = []

    def charges(workloads: tuple[str, ...]) -> pa.Table:
        if not known:
            known.append(pa.Table.from_batches(charges_of(plan), schema=CHARGES))
        return known[0].filter(are_named(known[0]["workload"], workloads))

    return Basis(plan.postings, charges)
