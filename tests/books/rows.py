"""Small deliveries and runs for the tests of the books."""

import datetime as dt
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import pyarrow as pa

from apportion.books.open import Books, Run
from apportion.model.delivery import Delivery, Scope
from apportion.model.meters import GPU
from apportion.model.rows import BILL_DAYS, CAPACITY, CHARGES, COST_LINES, POSTINGS, USAGE, WORKLOADS
from apportion.model.times import Interval

MONTH = Interval(1_790_812_800, 1_793_491_200)  # 2026-10 in UTC
DAY = dt.date(2026, 10, 1)
Usage = tuple[str, str, str, int, int, int, int | None]  # workload, meter, resource, start, end, allocated, used


def usage(rows: Iterable[Usage], source: str = "slurm") -> pa.Table:
    return pa.Table.from_pylist([dict(zip(USAGE.names, (source, *row), strict=False)) for row in rows], USAGE)


def gpu_hours(count: int, start_s: int = MONTH.start_s, source: str = "slurm") -> pa.Table:
    """One row per job, an hour each, one after the other."""
    return usage(
        [(f"job-{i}", "gpu", f"n{i % 7}", start_s + i * 60, start_s + i * 60 + 3600, GPU, None) for i in range(count)],
        source,
    )


def workloads(rows: Iterable[tuple[str, str, dict[str, str]]], source: str = "slurm") -> pa.Table:
    """Workload, outcome, labels."""
    records = [
        {
            "source": source,
            "workload": name,
            "run": name,
            "name": None,
            "start_s": 0,
            "end_s": 60,
            "outcome": outcome,
            "labels": list(labels.items()),
        }
        for name, outcome, labels in rows
    ]
    return pa.Table.from_pylist(records, WORKLOADS)


def capacity(rows: Iterable[tuple[str, str, int, int, int, str]], source: str = "slurm") -> pa.Table:
    """Resource, meter, start, end, amount, state."""
    named = [dict(zip(("resource", "meter", "start_s", "end_s", "amount", "state"), row, strict=True)) for row in rows]
    return pa.Table.from_pylist(
        [{"source": source, "labels": [("node", row["resource"])], **row} for row in named], CAPACITY
    )


def cost_line(line_id: str, cost: str, source: str = "aws", **columns: Any) -> dict[str, Any]:
    start_s = columns.get("billing_start_s", MONTH.start_s)
    return {
        "source": source, "line_id": line_id, "charge_start_s": start_s, "charge_end_s": start_s + 3600,
        "billing_start_s": start_s, "billing_end_s": MONTH.end_s, "component": "compute",
        "BilledCost": Decimal(cost), "EffectiveCost": Decimal(cost), "BillingCurrency": "USD", "InvoiceIssuerName": "AWS",
        "BillingAccountId": "1", "ServiceName": "EC2", "ChargeCategory": "Usage", "Tags": [("team", "vision")], **columns,
    }  # fmt: skip


def cost_lines(rows: Iterable[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), COST_LINES)


def scope(
    issuer: str = "AWS",
    role: str = "bill",
    accounts: Sequence[str] = (),
    services: Sequence[str] = (),
    billing: Interval = MONTH,
) -> Scope:
    return Scope(issuer, tuple(accounts), tuple(services), (billing,), role=role)


def delivery(window: Interval = MONTH, source: str = "slurm", **tables: pa.Table) -> Delivery:
    return Delivery(source, window, tables)


def postings(
    rows: Iterable[tuple[str, str]], period: str = "2026-10", bill: str = "AWS 2026-10 USD", day: dt.date = DAY
) -> pa.Table:
    """Team and amount."""
    records = [
        {
            "period": period, "bill": bill, "currency": "USD", "component": "compute", "pool": "h100", "day": day, "reason": "usage",
            "cause": "", "cost_centre": "4711", "department": "research", "team": team, "project": "", "user": "", "amount": Decimal(amount),
        }
        for team, amount in rows
    ]  # fmt: skip
    return pa.Table.from_pylist(records, POSTINGS)


def bill_days(amount: str, bill: str = "AWS 2026-10 USD", day: dt.date = DAY) -> pa.Table:
    row = {"bill": bill, "currency": "USD", "component": "compute", "day": day, "amount": Decimal(amount)}
    return pa.Table.from_pylist([row], BILL_DAYS)


def run(books: Books, rows: Iterable[tuple[str, str]], total: str, **fields: Any) -> Run:
    """A run on the books as they are now, under a policy that is saved with it."""
    books.save_policy("v1", "policy: test\n", "policy.yaml", "test", "2026-01-01")
    period = fields.get("period", "2026-10")
    said: dict[str, Any] = {
        "run_id": "run-1", "period": period, "plan_digest": "plan-1", "policy_version": "v1",
        "inputs": {name: version.snapshot_id for name, version in books.inputs().items()},
        "postings": postings(rows, period), "bill_days": bill_days(total), "expected_head": books.head(),
    }  # fmt: skip
    return Run(**{**said, **fields})


def charges(period: str, rows: Iterable[tuple[str, str]]) -> list[pa.RecordBatch]:
    """Workload and amount."""
    records = [
        {
            "period": period, "bill": "AWS 2026-10 USD", "component": "compute", "pool": "h100", "day": DAY, "reason": "usage",
            "team": "vision", "project": "", "user": "", "workload": workload, "unit_seconds": Decimal(3600), "amount": Decimal(amount),
        }
        for workload, amount in rows
    ]  # fmt: skip
    return list(pa.Table.from_pylist(records, CHARGES).to_batches())


def jobs(table: pa.Table) -> list[tuple[Any, ...]]:
    """Usage rows without their source, sorted, for comparison."""
    columns = ["workload", "meter", "resource", "start_s", "end_s", "allocated", "used"]
    found = zip(*(table[name].to_pylist() for name in columns), strict=True)
    return sorted(found, key=str)
