"""Small bills and logs for tests, and what a source makes of them as plain values."""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa

from apportion.model.delivery import Delivery
from apportion.model.money import plain
from apportion.model.times import Interval, instant_text
from apportion.sources.registry import reader, source_named

LINE = {
    "BilledCost": "10.00",
    "EffectiveCost": "10.00",
    "ContractedCost": "10.00",
    "ListCost": "12.50",
    "BillingCurrency": "USD",
    "BillingAccountId": "0042",
    "BillingPeriodStart": "2026-10-01T00:00:00Z",
    "BillingPeriodEnd": "2026-11-01T00:00:00Z",
    "ChargePeriodStart": "2026-10-05T00:00:00Z",
    "ChargePeriodEnd": "2026-10-05T01:00:00Z",
    "ChargeCategory": "Usage",
    "InvoiceIssuerName": "Nimbus",
    "ServiceProviderName": "Nimbus",
    "ServiceCategory": "Compute",
    "ServiceName": "Virtual Machines",
    "ResourceId": "node-1",
    "Tags": '{"team":"vision"}',
}
STANZA: dict[str, Any] = {
    "columns": {"workload": "job", "resource": "node", "start": "start", "end": "end", "outcome": "state"},
    "meters": {"gpu": "gpus"},
    "labels": {"slurm.account": "account"},
}
JOB = {
    "job": "17",
    "node": "n1",
    "start": "2026-10-05T00:00:00Z",
    "end": "2026-10-05T02:00:00Z",
    "gpus": "4",
    "state": "COMPLETED",
    "account": "vision",
}


def csv_text(rows: Iterable[Mapping[str, Any]]) -> str:
    whole = list(rows)
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(name for row in whole for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(whole)
    return out.getvalue()


def bill_text(*changes: Mapping[str, Any]) -> str:
    return csv_text({**LINE, **change} for change in changes)


def log_text(*changes: Mapping[str, Any]) -> str:
    return csv_text({**JOB, **change} for change in changes)


def read(kind: str, base: Path, asked: Interval | None = None, /, **settings: Any) -> list[Delivery]:
    found = reader(source_named(kind))({"name": "it", "kind": kind, **settings}, base, asked)
    return [item for item in found if isinstance(item, Delivery)]


def read_bill(base: Path, text: str | bytes, name: str = "bill.csv", **settings: Any) -> list[Delivery]:
    put(base / name, text)
    return read("focus", base, path=name, **settings)


def read_log(base: Path, text: str | bytes, name: str = "log.csv", **settings: Any) -> Delivery:
    put(base / name, text)
    (delivery,) = read("usage", base, path=name, **{**STANZA, **settings})
    return delivery


def put(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def lines(deliveries: Iterable[Delivery]) -> list[dict[str, Any]]:
    return [row for delivery in deliveries for row in delivery.tables["cost_lines"].to_pylist()]


def total(deliveries: Iterable[Delivery], column: str = "EffectiveCost") -> Decimal:
    return sum((row[column] for row in lines(deliveries) if row[column] is not None), Decimal(0))


def codes(delivery: Delivery) -> list[str]:
    return sorted(problem.code for problem in delivery.problems)


def canonical(deliveries: Iterable[Delivery], most: int = 40) -> list[dict[str, Any]]:
    """Deliveries as JSON values; a long table as its count and digest."""
    return [
        {
            "source": found.source,
            "window": window_text(found.window),
            "tables": {name: canonical_table(table, most) for name, table in sorted(found.tables.items())},
            "problems": [
                {"where": one.where, "code": one.code, "message": one.message, "money": one.money}
                | {name: text for name, text in (("quantity", one.quantity), ("meter", one.meter)) if text}
                for one in found.problems
            ],
            "files": [
                {"name": file.name, "sha256": file.sha256, "rows": file.rows, "control": file.control}
                for file in found.files
            ],
            "scopes": [
                {
                    "issuer": scope.issuer,
                    "accounts": scope.accounts,
                    "services": scope.services,
                    "billing": [window_text(one) for one in scope.billing],
                    "role": scope.role,
                }
                for scope in found.scopes
            ],
        }
        for found in deliveries
    ]


def window_text(window: Interval) -> str:
    return f"{instant_text(window.start_s)}/{instant_text(window.end_s)}"


def canonical_table(table: pa.Table, most: int) -> Any:
    rows = sorted((canonical_row(row) for row in table.to_pylist()), key=lambda row: json.dumps(row, sort_keys=True))
    if len(rows) <= most:
        return rows
    return {"rows": len(rows), "sha256": hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest()}


def canonical_row(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: canonical_cell(name, value) for name, value in row.items() if value is not None and value != []}


def canonical_cell(name: str, value: Any) -> Any:
    if isinstance(value, list):
        return dict(value)
    if isinstance(value, Decimal):
        return plain(value)
    if isinstance(value, date):
        return value.isoformat()
    return instant_text(value) if name.endswith("_s") else value
