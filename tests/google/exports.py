"""A seeded export of two invoice months, as a schedule of rows that say what each of them costs; written as BigQuery's Parquet, JSON lines or flat CSV."""

import csv
import json
import random
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Row = dict[str, Any]
Field = dict[str, Any]


def field(name: str, kind: str = "STRING", *inner: Field, repeated: bool = False) -> Field:
    found: Field = {"name": name, "type": kind, "mode": "REPEATED" if repeated else "NULLABLE"}
    return found | ({"fields": list(inner)} if inner else {})


PAIR = (field("key"), field("value"))
SCHEMA = [  # as https://cloud.google.com/billing/docs/how-to/export-data-bigquery-tables/detailed-usage has it, in part
    field("billing_account_id"),
    field("service", "RECORD", field("id"), field("description")),
    field("sku", "RECORD", field("id"), field("description")),
    field("usage_start_time", "TIMESTAMP"),
    field("usage_end_time", "TIMESTAMP"),
    field("project", "RECORD", field("id"), field("name"), field("labels", "RECORD", *PAIR, repeated=True)),
    field("labels", "RECORD", *PAIR, repeated=True),
    field("system_labels", "RECORD", *PAIR, repeated=True),
    field("location", "RECORD", field("location"), field("country"), field("region"), field("zone")),
    field("tags", "RECORD", field("key"), field("value"), field("inherited", "BOOLEAN"), field("namespace"), repeated=True),
    field("resource", "RECORD", field("name"), field("global_name")),
    field("subscription", "RECORD", field("instance_id")),
    field("price", "RECORD", field("effective_price", "NUMERIC"), field("tier_start_amount", "NUMERIC")),
    field("export_time", "TIMESTAMP"),
    field("cost", "FLOAT"),
    field("currency"),
    field("currency_conversion_rate", "FLOAT"),
    field("usage", "RECORD", field("amount", "FLOAT"), field("unit"), field("amount_in_pricing_units", "FLOAT"), field("pricing_unit")),
    field("credits", "RECORD", field("name"), field("amount", "FLOAT"), field("full_name"), field("id"), field("type"), repeated=True),
    field("invoice", "RECORD", field("month")),
    field("cost_type"),
    field("adjustment_info", "RECORD", field("id"), field("description"), field("mode"), field("type")),
    field("cost_at_list", "FLOAT"),
    field("seller_name"),
]  # fmt: skip
ARROW = {
    "STRING": pa.string(), "FLOAT": pa.float64(), "NUMERIC": pa.decimal128(38, 9), "BOOLEAN": pa.bool_(),
    "TIMESTAMP": pa.timestamp("us", "UTC"),
}  # fmt: skip


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def credit(kind: str, amount: float, name: str = "", number: str = "") -> Row:
    return {"name": name or kind, "amount": amount, "full_name": "", "id": number or kind, "type": kind}


def row(start: datetime, cost: float, **more: Any) -> Row:
    """One row of an hour; `more` replaces whole fields."""
    return {
        "billing_account_id": "0123AB-4567CD-89EF01",
        "service": {"id": "6F81-5844-456A", "description": "Compute Engine"},
        "sku": {"id": "AAAA-0000-0001", "description": "Nvidia H100 80GB GPU running in Americas"},
        "usage_start_time": start,
        "usage_end_time": start + timedelta(hours=1),
        "project": {"id": "train", "name": "Training", "labels": [{"key": "env", "value": "prod"}]},
        "labels": [{"key": "team", "value": "vision"}],
        "system_labels": [{"key": "compute.googleapis.com/machine_spec", "value": "a3-highgpu-8g"}],
        "location": {"location": "us-central1-a", "country": "US", "region": "us-central1", "zone": "us-central1-a"},
        "tags": [{"key": "stage", "value": "live", "inherited": False, "namespace": "123"}],
        "resource": {"name": "node-1", "global_name": "//compute.googleapis.com/projects/1/zones/z/instances/9"},
        "subscription": {"instance_id": None},
        "price": {"effective_price": Decimal("2.939250000"), "tier_start_amount": Decimal("0.000000000")},
        "export_time": start + timedelta(hours=5),
        "cost": cost,
        "currency": "USD",
        "currency_conversion_rate": 1.0,
        "usage": {"amount": 3600.0, "unit": "seconds", "amount_in_pricing_units": 1.0, "pricing_unit": "hour"},
        "credits": [],
        "invoice": {"month": start.strftime("%Y%m")},
        "cost_type": "regular",
        "adjustment_info": {"id": None, "description": None, "mode": None, "type": None},
        "cost_at_list": round(cost * 1.25, 6),
        "seller_name": "Google",
    } | more


FEE = {"id": "FEE0-0000-0001", "description": "Commitment v1: Nvidia H100 80GB GPU in Americas for 1 Year"}
SPEND = {"id": "FEE0-0000-0002", "description": "Commitment - dollar based v1: GCE for 1 year"}
TAX = {"id": "TAX", "description": "Tax"}


def drawn(seed: int) -> list[Row]:
    """October and November 2026: discounts, promotions, fees, tax, usage of one month on the other's invoice, corrections and late rows."""
    chance = random.Random(seed)
    rows: list[Row] = []
    for number in range(200):
        start = at("2026-10-01") + timedelta(hours=chance.randrange(61 * 24))
        cost = round(chance.uniform(0, 30), chance.choice([2, 6, 12]))
        kinds = chance.sample(
            ["COMMITTED_USAGE_DISCOUNT", "COMMITTED_USAGE_DISCOUNT_DOLLAR_BASE", "SUSTAINED_USAGE_DISCOUNT", "DISCOUNT",
             "RESELLER_MARGIN", "SUBSCRIPTION_BENEFIT", "FREE_TIER", "PROMOTION", "SOMETHING_NEW"],
            chance.choice([0, 0, 1, 2, 3]),
        )  # fmt: skip
        credits_ = [credit(kind, -round(cost * chance.random() / 3, 9), number=f"{kind}-{number}") for kind in kinds]
        namespace = chance.choice(["", "vision", "speech", "kube:unallocated", "kube:system-overhead", None, None])
        labels = [{"key": "team", "value": chance.choice(["vision", "speech", ""])}]
        if namespace is not None:
            labels += [{"key": "k8s-namespace", "value": namespace}, {"key": "goog-k8s-cluster-name", "value": "c1"}]
        rows.append(row(start, cost, credits=credits_, labels=labels))
    rows += [
        row(at("2026-10-31T23:00:00"), 7.77, invoice={"month": "202611"}),  # used in October, invoiced in November
        row(at("2026-10-05"), 100.0, sku=FEE, subscription={"instance_id": "c-1"}),
        row(at("2026-10-05"), 50.0, sku=SPEND, credits=[credit("FEE_UTILIZATION_OFFSET", -42.5)]),
        row(at("2026-10-07"), -3.21, adjustment_info={"id": "a1", "description": "price", "mode": "PARTIAL_CORRECTION", "type": "PRICE_CORRECTION"}),
        row(at("2026-10-09"), 1.5, cost_type="adjustment", labels=[], project={"id": None, "name": None, "labels": []}),
        row(at("2026-10-31"), 19.000001, cost_type="tax", sku=TAX, export_time=at("2026-11-03"), resource={"name": None, "global_name": None}),
        row(at("2026-10-31"), -0.000001, cost_type="rounding_error", export_time=at("2026-11-04")),
    ]  # fmt: skip
    chance.shuffle(rows)
    return rows


def money(rows: Iterable[Row], month: str = "") -> tuple[Decimal, Decimal]:
    """Costs and credits of an invoice month, each number at its shortest text."""
    chosen = [one for one in rows if not month or one["invoice"]["month"] == month]
    given = [each["amount"] for one in chosen for each in one["credits"]]
    return sum((Decimal(repr(one["cost"])) for one in chosen), Decimal(0)), sum(
        (Decimal(repr(amount)) for amount in given), Decimal(0)
    )


def own_lines(rows: Iterable[Row]) -> int:
    """Rows, and a line for each credit that is no part of a price."""
    chosen = list(rows)
    return len(chosen) + sum(
        each["type"] in ("PROMOTION", "SOMETHING_NEW") for one in chosen for each in one["credits"]
    )


def arrow(found: Field) -> pa.Field:
    kind = pa.struct([arrow(each) for each in found["fields"]]) if "fields" in found else ARROW[found["type"]]
    return pa.field(found["name"], pa.list_(kind) if found["mode"] == "REPEATED" else kind)


def write_parquet(rows: Sequence[Row], file: Path, schema: Sequence[Field] = SCHEMA) -> None:
    pq.write_table(pa.Table.from_pylist(list(rows), pa.schema([arrow(each) for each in schema])), file)


def write_json(rows: Sequence[Row], file: Path) -> None:
    """As EXPORT DATA does it: times with UTC, exact numbers as text."""
    file.write_text("".join(json.dumps(one, default=plain) + "\n" for one in rows), "utf-8")


def plain(value: object) -> str:
    return value.strftime("%Y-%m-%d %H:%M:%S UTC") if isinstance(value, datetime) else str(value)


def write_csv(rows: Sequence[Row], file: Path) -> None:
    """Structs as columns with a dot, repeated fields as JSON."""
    names = [name for each in SCHEMA for name in paths(each)]
    with file.open("w", encoding="utf-8", newline="") as text:
        writer = csv.writer(text)
        writer.writerow(names)
        writer.writerows([cell(one, name) for name in names] for one in rows)


def paths(found: Field) -> list[str]:
    if "fields" not in found or found["mode"] == "REPEATED":
        return [found["name"]]
    return [f"{found['name']}.{name}" for each in found["fields"] for name in paths(each)]


def cell(one: Row, path: str) -> str:
    value: Any = one
    for name in path.split("."):
        value = value[name]
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, default=plain) if isinstance(value, list | float) else plain(value)
