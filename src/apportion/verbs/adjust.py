"""A one-off credit: a sponsor pays an amount of what a team owes, once. What is to hold every month belongs in the policy's adjustments."""

import hashlib
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.chain import canonical
from apportion.books.shapes import AMOUNT, CREDIT, Transfer
from apportion.errors import ProjectError
from apportion.model.currencies import is_money
from apportion.model.money import plain
from apportion.model.numbers import parse_decimal
from apportion.model.result import Result
from apportion.model.times import Period
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.settings import nearest
from apportion.verbs.transfers import (
    Desk,
    amount_of,
    credit_rows,
    desk_of,
    in_currency,
    named,
    owed,
    path_of,
    places_of,
    refuse_more,
    rows_of_owner,
    run_of,
)


@dataclass(frozen=True, slots=True)
class Wish:
    """`owner` is TEAM, TEAM/PROJECT or TEAM/PROJECT/USER. `bill` and `pool` narrow what the credit is for; `reference` makes the same again another."""

    owner: str
    sponsor: str
    amount: str
    why: str
    approver: str = ""
    bill: str = ""
    pool: str = ""
    reference: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Adjusted(Result):
    """`posted` is False where the same had been posted before. `booked` is the month that holds it."""

    transfer: Transfer
    period: str
    booked: str
    posted: bool
    head: str


def adjust(project: Project, period: Period | str, wish: Wish) -> Adjusted:
    """Credit an owner once, paid by a sponsor. Of a closed month it is booked in the next open one."""
    period = as_period(period)
    refuse_silent(wish)
    run_id = run_id_of(period, wish)
    known = known_before(project, run_id, str(period))
    if known is not None:
        return known
    desk = desk_of(project, period)
    owner, sponsor = named(desk, wish.owner, "team"), named(desk, wish.sponsor, "sponsor")
    if owner == sponsor:
        raise ProjectError("same-owner", f"{wish.owner} cannot pay for itself", hint="name another sponsor")
    rows, currency = chosen(desk, wish)
    amount = amount_of(wish.amount, currency)
    refuse_more(amount, owed(rows), currency, f"what {wish.owner} owes of it in {period}")
    made = Transfer(
        run_id=run_id,
        owner=path_of(owner),
        other=path_of(sponsor),
        currency=currency,
        amount=Decimal(plain(amount)),
        why=wish.why,
        approver=wish.approver,
        reference=wish.reference,
        extent=AMOUNT,
        bill=wish.bill,
        pool=wish.pool,
    )
    postings = credit_rows(desk, places_of(rows, owner, desk), made)
    posted = project.books.transfer(made, run_of(desk, made, CREDIT, postings))
    return Adjusted(made, str(period), str(desk.booked), posted.posted, posted.head)


def refuse_silent(wish: Wish) -> None:
    if not wish.why.strip():
        raise ProjectError("no-reason", "a credit needs a reason", hint="say why, for those who ask later")


def run_id_of(period: Period, wish: Wish) -> str:
    """By what is asked, so that the same twice is one."""
    amount = plain(parse_decimal(wish.amount))
    said = canonical(
        [period, wish.owner, wish.sponsor, amount, wish.why, wish.approver, wish.bill, wish.pool, wish.reference]
    )
    return f"credit-{hashlib.sha256(said).hexdigest()[:12]}"


def known_before(project: Project, run_id: str, period: str) -> Adjusted | None:
    """Wherever it was booked: its month may have been closed since."""
    for made in project.books.transfers():
        if made.run_id == run_id:
            run = next(run for run in project.books.runs(CREDIT) if run.run_id == run_id)
            return Adjusted(made, period, run.period, posted=False, head=project.books.head())
    return None


def chosen(desk: Desk, wish: Wish) -> tuple[pa.Table, str]:
    """What the owner owes of the bill and pool that were named, in one currency: the bill's, or the policy's."""
    rows = rows_of_owner(desk.rows, wish.owner)
    for name, value in (("bill", wish.bill), ("pool", wish.pool)):
        if value:
            some = sorted(set(rows[name].to_pylist()))
            if value not in some:
                raise ProjectError(
                    "nothing-owed",
                    f"{wish.owner} owes nothing of {name} {value!r} in {desk.month}",
                    hint=nearest(value, some, f"{name}s"),
                )
            rows = rows.filter(pc.equal(rows[name], value))
    currency = rows["currency"][0].as_py() if wish.bill else desk.policy.currency
    if not is_money(currency):
        raise ProjectError(
            "no-money", f"bill {wish.bill!r} counts {currency}, which nobody can pay for", hint="name a bill in money"
        )
    return in_currency(rows, currency), currency
