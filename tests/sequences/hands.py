"""Two ways to do the same: by the verbs, as a person does it, and on the books themselves, which is quicker and reaches further."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Protocol

import pyarrow as pa

import apportion
from apportion.books.open import Books
from apportion.books.shapes import CORRECTION, PLAN, Close, Run
from apportion.engine.plan import RULES
from apportion.model.minor import minor_units
from apportion.model.rows import BILL_DAYS, POSTINGS
from apportion.model.times import Interval
from apportion.verbs.lower import lower
from apportion.verbs.project import Project
from tests.books import rows
from tests.sequences.model import Amounts, Model, following
from tests.sources import making

SETTINGS = '[[sources]]\nname = "cloud"\nkind = "focus"\npath = "bills/*.csv"\n'
POLICY = """\
policy: small
effective: 2025-01-01
currency: USD
time_zone: UTC
teams: {vision: {cost_centre: "1"}, speech: {cost_centre: "2"}, bio: {cost_centre: "2"}}
owners:
  - {when: {tag.team: [vision, speech, bio]}, team: "{tag.team}"}
pools:
  all: {costs: otherwise, method: direct}
journal:
  clearing: "2400"
  central: {cost_centre: "0", account: "6900"}
  accounts: {compute: "6100"}
"""
CENTRES = {"vision": "1", "speech": "2", "bio": "2"}
NOTHING = BILL_DAYS.empty_table()


class Hand(Protocol):
    books: Books

    def deliver(self, month: str, amounts: Amounts) -> None: ...

    def apply(self, model: Model, month: str) -> None: ...

    def lower(self, month: str) -> None: ...

    def close(self, month: str) -> None: ...


def issued_bill(month: str, currency: str = "USD") -> str:
    return f"Nimbus {month} {currency}"


def month_of(bill: str) -> str:
    return bill.split(" ")[1]


def start_s(month: str) -> int:
    return int(datetime.fromisoformat(f"{month}-01").replace(tzinfo=UTC).timestamp())


def new_project(folder: Path, policy: str = POLICY, settings: str = SETTINGS) -> Project:
    making.put(folder / "apportion.toml", settings)
    making.put(folder / "policy.yaml", policy)
    return apportion.open_project(folder)


class ByVerbs:
    def __init__(self, project: Project) -> None:
        self.project = project
        self.books = project.books

    def deliver(self, month: str, amounts: Mapping[str, Decimal], **columns: str) -> None:
        times = {
            "BillingPeriodStart": f"{month}-01T00:00:00Z", "BillingPeriodEnd": f"{following(month)}-01T00:00:00Z",
            "ChargePeriodStart": f"{month}-05T00:00:00Z", "ChargePeriodEnd": f"{month}-06T00:00:00Z",
        }  # fmt: skip
        lines = [
            {
                **times,
                "EffectiveCost": f"{amount:f}",
                "BilledCost": f"{amount:f}",
                "Tags": f'{{"team":"{team}"}}',
                **columns,
            }
            for team, amount in amounts.items()
        ]
        making.put(self.project.folder / "bills" / f"{month}.csv", making.bill_text(*lines))
        apportion.ingest(self.project)

    def apply(self, _: Model, month: str) -> None:
        planned = apportion.plan(self.project, month)
        apportion.apply(self.project, month, made=planned.plan)

    def lower(self, month: str) -> None:
        assert lower(self.project, month, "agreed")

    def close(self, month: str) -> None:
        assert apportion.close(self.project, month, override="agreed").closed is not None


class OnBooks:
    """The differences are the model's: what is looked at is how the books take them."""

    def __init__(self, books: Books) -> None:
        self.books = books
        books.save_policy("v1", "policy: test\n", "policy.yaml", "test", "2025-01-01")

    def deliver(self, month: str, amounts: Mapping[str, Decimal]) -> None:
        begin, end = start_s(month), start_s(following(month))
        lines = [
            rows.cost_line(
                team, f"{amount:f}", "cloud", billing_start_s=begin, billing_end_s=end, Tags=[("team", team)]
            )
            for team, amount in amounts.items()
        ]
        self.books.ingest(rows.delivery(Interval(begin, end), "cloud", cost_lines=rows.cost_lines(lines)))

    def apply(self, model: Model, month: str) -> None:
        post_late(self.books, model, month)

    def lower(self, month: str) -> None:
        raise AssertionError(f"nothing was decided of {month}: only the verbs decide")

    def close(self, month: str) -> None:
        minor = minor_units(self.books.posted(month))
        self.books.close_period(Close(month, "v1", minor, {"over": "yes"}, self.books.head(), "agreed"))


def post_late(books: Books, model: Model, month: str) -> None:
    """What a month's bill says and the ledger does not, as the verbs would post it."""
    place, late = model.place(month), model.late(month)
    correcting = place != month
    if correcting and not late:
        return
    said = dict(sorted(model.said[month].items()))
    own = hashlib.sha256(f"{said} {books.head()}".encode()).hexdigest()
    inputs = {name: version.snapshot_id for name, version in books.inputs().items()}
    run = replace(decided(books, place, postings(place, month, late), own), plan_digest=own, inputs=inputs)
    run = replace(run, engine=f"duckdb/{RULES}")
    if correcting:
        books.post(replace(run, kind=CORRECTION, about=month, cause="restated", bill_days=bill_days(month, late)))
    else:
        books.post(replace(run, kind=PLAN, cause="", bill_days=bill_days(month, said)))


def decided(books: Books, place: str, moved: pa.Table, run_id: str) -> Run:
    """A run by people, which rests on no evidence."""
    version = books.policies()[-1].version
    return Run(run_id, place, "", version, {}, moved, NOTHING, books.head(), cause="agreed")


def transfer(hand: Hand, kind: str, month: str, teams: tuple[str, str], amount: Decimal) -> None:
    giver, taker = teams
    moved = postings(month, month, {giver: -amount, taker: amount})
    run_id = hashlib.sha256(f"{kind} {month} {teams} {amount} {hand.books.head()}".encode()).hexdigest()
    hand.books.post(replace(decided(hand.books, month, moved, run_id), kind=kind))


def postings(place: str, bill: str, amounts: Amounts, currency: str = "USD") -> pa.Table:
    records = [
        {
            "period": place, "bill": issued_bill(bill, currency), "currency": currency, "component": "compute", "pool": "all",
            "day": date.fromisoformat(f"{bill}-05"), "reason": "usage", "cause": "", "cost_centre": CENTRES[team], "department": "", "team": team,
            "project": "", "user": "", "amount": amount,
        }
        for team, amount in amounts.items() if amount
    ]  # fmt: skip
    return pa.Table.from_pylist(records, POSTINGS)


def bill_days(bill: str, amounts: Amounts, currency: str = "USD") -> pa.Table:
    total = sum(amounts.values(), Decimal(0))
    row = {
        "bill": issued_bill(bill, currency),
        "currency": currency,
        "component": "compute",
        "day": date.fromisoformat(f"{bill}-05"),
    }
    return pa.Table.from_pylist([{**row, "amount": total}] if total else [], BILL_DAYS)
