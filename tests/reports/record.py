"""A small posted month to read reports from: two pools, every kind of owner, amounts with more digits than a cent."""

from datetime import date
from decimal import Decimal

import pyarrow as pa

from apportion.model.rows import POSTING_KEY, POSTINGS
from apportion.reports.report import Record

DEFAULTS = {
    "period": "2026-10",
    "bill": "acme 2026-10 USD",
    "currency": "USD",
    "component": "compute",
    "pool": "h100",
    "day": date(2026, 10, 1),
    "reason": "usage",
    "cause": "",
    "cost_centre": "",
    "department": "",
    "team": "vision",
    "project": "",
    "user": "",
}


def row(amount: str, **changes: object) -> dict[str, object]:
    return {**DEFAULTS, **changes, "amount": Decimal(amount)}


MONTH = (
    row("600.333333334", department="research", cost_centre="4711", project="p1", user="ann"),
    row("0.333333333", department="research", cost_centre="4711", project="p1", user="bob", day=date(2026, 10, 2)),
    row("-10.000000001", department="research", cost_centre="4711", reason="adjustment", project="p1", user="ann"),
    row("10.000000001", team="office", department="central", reason="subsidy"),
    row("250.333333333", team="speech", department="research", cost_centre="4712", pool="storage", component="storage"),
    row("40", team="speech", department="research", cost_centre="4712", reason="idle", cause="held"),
    row("99.5", team="_idle", reason="idle", cause="unsold"),
    row("9", team="_idle", reason="idle", cause="down", day=date(2026, 10, 3)),
    row("0.4", team="_unallocated", cause="no owner"),
    row("0.1", team="_unallocated", pool="", cause="no pool"),
    row("0.0000000001", team="_residual", pool="", reason="rounding", day=date(2026, 10, 31)),
)
BILL = "1000.0000000001"


def record(*rows: dict[str, object]) -> Record:
    chosen = rows or MONTH
    columns = {name: [line[name] for line in chosen] for name in (*POSTING_KEY, "amount")}
    return Record("2026-10", pa.table(columns, schema=POSTINGS), head="a" * 64, policies=("demo@1234567890ab",))
