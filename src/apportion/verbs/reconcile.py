"""What the vendor says, what was read and what was posted: gathered from the books for `report reconcile`."""

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from itertools import pairwise
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.exchange import exchange_of
from apportion.engine.late import same_bills, service_months
from apportion.engine.lines import Bill, bill_column, bills_of, line_amounts
from apportion.model.delivery import FileDigest
from apportion.model.kinds import kinds
from apportion.model.money import at_places
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.reports.reconcile import Files, Restated, Sides, reconcile, sums
from apportion.reports.report import Report
from apportion.reports.sums import ZERO, total
from apportion.verbs.agreement import basis_of, policy_for, policy_of_version, short
from apportion.verbs.conversions import conversion_text
from apportion.verbs.corrections import runs_of
from apportion.verbs.project import Project
from apportion.verbs.world import Pins, bill_lines, exchange_rates, known_month, pins_of, pins_of_run, reference_lines

UTC = ZoneInfo("UTC")
DAY_S = 86_400
FORMER = 5  # deliveries of a bill that are gone through
Sums = Mapping[tuple[str, tuple[str, str]], Decimal]  # (currency, (bill, service)) -> money


def reconciled(project: Project, period: Period | str | None = None, by: str = "bill") -> Report:
    """What the vendor says, what was read and what was posted, with every difference explained; `by` bill, invoice, service or day."""
    return reconcile(sides_of(project, known_month(project, period)), by)


def sides_of(project: Project, period: Period) -> Sides:
    runs = runs_of(project.books.runs(), str(period))
    policy = policy_of_version(project, runs[-1].policy_version) if runs else policy_for(project, period)
    now = pins_of(project)
    read = dressed(bill_lines(project, period, now), policy, period)
    counted = dressed(bill_lines(project, period, Pins(runs[-1].inputs)), policy, period) if runs else None
    bills = (
        bills_counted(project, period, policy, pins_of_run(project, runs[-1]), counted) if counted is not None else ()
    )
    return Sides(
        period=str(period),
        basis=basis_of(policy),
        read=read,
        counted=counted,
        posted=as_issued(project, period, bills),
        references=like_bills(dressed(reference_lines(project, period, now), None, period), read),
        files=tuple(files_of(project, read, period)),
        restated=tuple(restatements(project, period, policy)),
        notes=tuple(f"Posted {conversion_text(bill, bill.conversion)}." for bill in bills if bill.conversion),
        head=project.books.head(),
        policies=(short(policy),),
    )


def bills_counted(project: Project, period: Period, policy: Policy, pins: Pins, counted: pa.Table) -> tuple[Bill, ...]:
    """As the last run posted them: converted by the rates that it rests on, and late lines apart."""
    exchange = exchange_of(policy, period, exchange_rates(project, period, policy, pins, counted))
    months = service_months(counted, period, ZoneInfo(policy.time_zone))
    late = pa.array(list(pins.late or {}), pa.string())
    masks = [pc.invert(pc.is_in(months, late)), *(pc.equal(months, month) for month in late)]
    parts = [counted.filter(mask).combine_chunks() for mask in masks]
    return same_bills(
        bills_of(part, part["bill"].combine_chunks(), part["amount"].combine_chunks(), exchange)[0] for part in parts
    )


def as_issued(project: Project, period: Period, bills: Iterable[Bill]) -> dict[str, Decimal]:
    """What the ledger has of each bill, corrections with it; of a converted one what it asked for, where its conversion is what the ledger has."""
    posted = project.books.believed(str(period)).group_by(["bill"]).aggregate([("amount", "sum")]).to_pylist()
    issued = {(bill.id, bill.total): bill.conversion.total for bill in bills if bill.conversion}
    return {row["bill"]: issued.get((row["bill"], row["amount_sum"]), row["amount_sum"]) for row in posted}


def dressed(lines: pa.Table, policy: Policy | None, period: Period) -> pa.Table:
    """With the bill, the day on which the charge begins, and what the line counts for."""
    amounts = lines["EffectiveCost"] if policy is None else line_amounts(lines, policy)
    days = pc.cast(pc.cast(pc.divide(lines["charge_start_s"], DAY_S), pa.int32()), pa.date32())
    dressed = lines.append_column("bill", bill_column(lines, period))
    return dressed.append_column("day", pc.cast(days, pa.string())).append_column("amount", amounts)


def like_bills(references: pa.Table, read: pa.Table) -> pa.Table:
    """A reference that calls the issuer otherwise speaks of the bill that has its account and currency, where only one has."""
    known = set(pc.unique(read["bill"]).to_pylist())
    keys = ["bill", "BillingAccountId", "BillingCurrency"]
    by_account: dict[tuple[str, str], set[str]] = {}
    for row in read.select(keys).group_by(keys).aggregate([]).to_pylist():
        by_account.setdefault((row["BillingAccountId"], row["BillingCurrency"]), set()).add(row["bill"])
    few = kinds((references[key] for key in keys), len(references))
    names = []
    for row in references.select(keys).take(few.first).to_pylist():
        bills = by_account.get((row["BillingAccountId"], row["BillingCurrency"]), set())
        names.append(row["bill"] if row["bill"] in known or len(bills) != 1 else next(iter(bills)))
    named = pa.array(names, pa.string()).take(pa.array(few.of))
    return references.set_column(references.column_names.index("bill"), "bill", named)


def files_of(project: Project, read: pa.Table, period: Period) -> Iterator[Files]:
    """Per source and currency. A file that speaks of several months is only compared when all of them are this one's."""
    last = {row["source"]: row for row in project.books.deliveries() if speaks(row, period)}
    for source in sorted(set(pc.unique(read["source"]).to_pylist()) & set(last)):
        own = read.filter(pc.equal(read["source"], source))
        currencies = pc.unique(own["BillingCurrency"]).to_pylist()
        files = project.books.delivered_files(last[source]["delivery_id"])
        if len(currencies) > 1 or not files or not one_month(project, files, source, last[source]["delivery_id"]):
            continue
        yield Files(
            source, currencies[0], len(files), sum(file.rows for file in files), len(own),
            at_places(total(Decimal(file.control) for file in files)), total(own["EffectiveCost"].drop_null().to_pylist()),
        )  # fmt: skip


def one_month(project: Project, files: list[FileDigest], source: str, delivery: str) -> bool:
    """Whether no other delivery that counts was read from one of these files, too."""
    mine = {file.sha256 for file in files}
    others = (
        row["delivery_id"]
        for row in project.books.deliveries()
        if row["source"] == source and row["superseded_by"] is None and row["delivery_id"] != delivery
    )
    return not any(mine & {file.sha256 for file in project.books.delivered_files(other)} for other in others)


def speaks(row: Mapping[str, object], period: Period) -> bool:
    """Whether a delivery brought cost lines of the month, and still counts."""
    return "cost_lines" in row["tables"] and row["superseded_by"] is None and overlaps(row, period)  # type: ignore[operator]


def overlaps(row: Mapping[str, object], period: Period) -> bool:
    month = period.interval(UTC)
    middle = (int(str(row["start_s"])) + int(str(row["end_s"]))) // 2
    return month.start_s <= middle < month.end_s


def restatements(project: Project, period: Period, policy: Policy) -> Iterator[Restated]:
    """What each later delivery of the month changed, service by service."""
    by_source: dict[str, list[str]] = {}
    for row in project.books.deliveries():
        if "cost_lines" in row["tables"] and overlaps(row, period):
            by_source.setdefault(row["source"], []).append(row["delivery_id"])
    for source, deliveries in sorted(by_source.items()):
        known = [(name, at) for name in deliveries if (at := project.books.snapshot_of("cost_lines", name)) is not None]
        told = []
        for name, snapshot in known[-FORMER:]:
            lines = bill_lines(project, period, Pins({"cost_lines": snapshot}))
            own = lines.filter(pc.equal(lines["source"], source))
            told.append((name, sums(dressed(own, policy, period), "ServiceName")))
        for (_, before), (name, after) in pairwise(told):
            yield from changes(before, after, source, name)


def changes(before: Sums, after: Sums, source: str, delivery: str) -> Iterator[Restated]:
    for currency, (bill, service) in sorted({*before, *after}):
        was, now = (each.get((currency, (bill, service)), ZERO) for each in (before, after))
        if was != now:
            yield Restated(bill, currency, source, delivery, service, was, now)
