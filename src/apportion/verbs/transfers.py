"""What people decide, as rows that balance: an amount moves from one owner to another inside each bill, so that every bill stays what it was.

A month's transfer is booked in it while it is open, else in the next open month, as what comes late is.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import COMPUTED, PLAN, TRANSFERS, Run, Transfer
from apportion.books.transfers import transfer_digest
from apportion.engine.workloads import declared
from apportion.errors import ProjectError
from apportion.model.currencies import MINOR_DIGITS
from apportion.model.money import GRAIN, plain, share, to_decimal, to_grains
from apportion.model.numbers import parse_decimal
from apportion.model.owner import Owner
from apportion.model.rows import BILL_DAYS, POSTINGS, SYSTEM_OWNERS
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.reports.sums import total
from apportion.reports.words import shown
from apportion.verbs.agreement import keep, policy_for, policy_of_version
from apportion.verbs.asked import nothing_posted
from apportion.verbs.correct import open_after
from apportion.verbs.project import Project
from apportion.verbs.settings import nearest

EVERY = (*COMPUTED, *TRANSFERS)
LEAF = ("cost_centre", "department", "team", "project", "user")
PLACE = ("bill", "component", "pool", "day")
PATH = ("team", "project", "user")
LONGEST = 80
Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Desk:
    """Where a month's transfers are decided: `rows` is what the month came to, all that was booked of it later included, at `head`."""

    month: Period
    booked: Period
    policy: Policy
    head: str
    rows: pa.Table

    @property
    def about(self) -> str:
        return "" if self.booked == self.month else str(self.month)


def desk_of(project: Project, month: Period) -> Desk:
    head = project.books.head()
    rows = project.books.believed(str(month), EVERY)
    if not len(rows):
        raise nothing_posted(project, [month])
    booked = open_after(project, month) if project.books.closed_by(str(month)) else month
    return Desk(month, booked, policy_of(project, booked), head, rows)


def policy_of(project: Project, booked: Period) -> Policy:
    """The one that the month was planned with; of a month without a plan, the one in force, which the books then keep."""
    planned = [run.policy_version for run in project.books.runs(PLAN) if run.period == str(booked)]
    if planned:
        return policy_of_version(project, planned[-1])
    policy = policy_for(project, booked)
    keep(project, policy)
    return policy


def named(desk: Desk, path: str, what: str) -> Owner:
    """An owner by TEAM, TEAM/PROJECT or TEAM/PROJECT/USER; the team must be known."""
    team, project, user = (*path.split("/", 2), "", "")[:3]
    policy = desk.policy
    given = {rule.sponsor for rule in policy.adjustments} | {str(name) for name in policy.carried_by.values()}
    known = sorted({*policy.teams, *given, *desk.rows["team"].to_pylist()} - {*SYSTEM_OWNERS, ""})
    if team not in known:
        raise ProjectError(
            "unknown-owner", f"{what} {team!r} is no team of {desk.month}", hint=nearest(team, known, "teams")
        )
    return declared(team, policy, project, user)


def path_of(leaf: Owner | Row) -> str:
    names = [getattr(leaf, name) for name in PATH] if isinstance(leaf, Owner) else [leaf[name] for name in PATH]
    while names[1:] and not names[-1]:
        names.pop()
    return "/".join(names)


def rows_of_owner(rows: pa.Table, path: str) -> pa.Table:
    """A team's rows hold those of its projects, and theirs those of their users."""
    for name, value in zip(PATH, path.split("/", 2), strict=False):
        rows = rows.filter(pc.equal(rows[name], value))
    return rows


def in_currency(rows: pa.Table, currency: str) -> pa.Table:
    return rows.filter(pc.equal(rows["currency"], currency))


def owed(rows: pa.Table) -> Decimal:
    return total(rows["amount"].to_pylist())


def amount_of(text: str, currency: str) -> Decimal:
    """What a person writes: above 0, and no finer than the currency's coins."""
    amount = parse_decimal(text)
    if amount <= 0:
        raise ProjectError(
            "invalid-amount",
            f"{text} is not above 0",
            hint="the amount is what moves; who gives and who receives is said by name",
        )
    digits = MINOR_DIGITS[currency]
    if places(amount) > digits:
        raise ProjectError(
            "invalid-amount",
            f"{text} {currency} has more than {digits} decimal places",
            hint="write whole minor units, such as 120.00",
        )
    return amount


def places(amount: Decimal) -> int:
    return len(plain(amount).partition(".")[2])


def refuse_more(amount: Decimal, most: Decimal, currency: str, what: str) -> None:
    if amount > most:
        raise ProjectError(
            "credit-too-large",
            f"{plain(amount)} {currency} is more than {what}: {shown(most, currency)} ({plain(most)})",
            hint="a credit is at most what is owed; what is to hold every month belongs in the policy's adjustments",
        )


def without_owner(rows: pa.Table, owner: Owner) -> pa.Table:
    """Those that stand with others."""
    stay = [pc.equal(rows[name], getattr(owner, name)) for name in PATH]
    return rows.filter(pc.invert(pc.and_(pc.and_(stay[0], stay[1]), stay[2])))


def spread(rows: Sequence[Row], amount: Decimal) -> Iterator[tuple[Row, Decimal]]:
    """An amount over rows in proportion to what each owes: whole units of its own last place, largest remainder; what owes nothing gets nothing."""
    unit = GRAIN // 10 ** max(2, places(amount))
    parts = share(
        to_grains(amount) // unit,
        [max(0, to_grains(row["amount"])) for row in rows],
        ["\t".join(str(row[name]) for name in (*PLACE, *LEAF)) for row in rows],
    )
    yield from ((row, to_decimal(part * unit)) for row, part in zip(rows, parts, strict=True) if part)


def places_of(rows: pa.Table, leaf: Owner | None, desk: Desk) -> list[Row]:
    """What is owed by bill, component and pool: of one owner as a whole, or of each of the rows' owners. It counts for the month's last day."""
    keys = ["bill", "currency", "component", "pool", *([] if leaf else LEAF)]
    summed = rows.group_by(keys).aggregate([("amount", "sum")]).sort_by([(key, "ascending") for key in keys])
    day = desk.month.next.first_day - timedelta(days=1)
    whose = {name: getattr(leaf, name) for name in LEAF} if leaf else {}
    return [{**row, **whose, "day": day, "amount": row["amount_sum"]} for row in summed.to_pylist()]


def credit_rows(desk: Desk, rows: Sequence[Row], made: Transfer, other: Owner | None = None) -> pa.Table:
    """The owner is spared, the sponsor pays: in each bill, component and pool what its part comes to. `other`: the sponsor, where it is known."""
    sponsor, cause = other or named(desk, made.other, "sponsor"), cause_of(made)
    found: list[Row] = []
    for row, part in spread(rows, made.amount):
        base = {**row, "period": str(desk.booked), "cause": cause}
        found.append({**base, "reason": "credit", "amount": part.copy_negate()})
        found.append({**base, "reason": "subsidy", "amount": part, **asdict(sponsor)})
    return table_of(found)


def reclass_rows(desk: Desk, rows: Sequence[Row], made: Transfer, other: Owner | None = None) -> pa.Table:
    """What stood with one owner stands with another: the first side cancels the postings key by key, the other names the decision."""
    other, cause = other or named(desk, made.other, "owner"), cause_of(made)
    found: list[Row] = []
    for row in rows:
        base = {**row, "period": str(desk.booked)}
        found.append({**base, "amount": row["amount"].copy_negate()})
        found.append({**base, "cause": cause, **asdict(other)})
    return table_of(found)


def table_of(rows: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist([{name: row[name] for name in POSTINGS.names} for row in rows], POSTINGS)


def cause_of(made: Transfer) -> str:
    """On both sides' postings: short, and of this transfer alone."""
    text = f"{f'dispute {made.dispute}' if made.dispute else made.run_id}: {made.why}"
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def run_of(desk: Desk, made: Transfer, kind: str, postings: pa.Table) -> Run:
    approved = f" (approved by {made.approver})" if made.approver else ""
    return Run(
        run_id=made.run_id,
        period=str(desk.booked),
        plan_digest=transfer_digest(asdict(made)),
        policy_version=desk.policy.version,
        inputs={},
        postings=postings,
        bill_days=BILL_DAYS.empty_table(),
        expected_head=desk.head,
        engine="",
        kind=kind,
        about=desk.about,
        cause=f"{f'dispute {made.dispute}: ' if made.dispute else ''}{made.why}{approved}",
    )
