"""A large bill: a month of hourly lines as AWS exports it (CUR 2.0, Parquet), into fresh books, against pyarrow reading and rewriting the file."""

import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from apportion.books.open import open_books
from apportion.sources.aws import read
from bench.measure import Clock, in_own_process, peak_gb

ROWS, FEW_ROWS, BLOCK = 5_000_000, 1_000_000, 250_000
HOUR_MS, MONTH_MS = 3_600_000, 1_790_812_800_000  # 2026-10-01
HOURS = 744
NODES, TEAMS = 4000, 60
DOLLARS = 1_000_000  # amounts are whole millionths
TEXT, NUMBER, MOMENT = pa.string(), pa.float64(), pa.timestamp("ms")
MAP = pa.map_(TEXT, TEXT)
# Columns of the export's table that hourly usage leaves empty: they are in the file all the same.
EMPTY_TEXT = (
    "bill_bill_type bill_billing_entity bill_invoice_id bill_invoicing_entity identity_line_item_id line_item_legal_entity line_item_tax_type "
    "pricing_lease_contract_length pricing_offering_class pricing_purchase_option pricing_rate_code pricing_rate_id pricing_term "
    "product_comment product_fee_code product_fee_description product_from_location product_from_location_type product_from_region_code "
    "product_instance_family product_location product_location_type product_operation product_pricing_unit product_product_family "
    "product_servicecode product_sku product_to_location product_to_location_type product_to_region_code product_usagetype "
    "reservation_availability_zone reservation_end_time reservation_modification_status reservation_number_of_reservations "
    "reservation_reservation_a_r_n reservation_start_time reservation_subscription_id reservation_total_reserved_units "
    "savings_plan_end_time savings_plan_instance_type_family savings_plan_offering_type savings_plan_payment_option savings_plan_purchase_term "
    "savings_plan_region savings_plan_savings_plan_a_r_n savings_plan_start_time split_line_item_parent_resource_id"
)
EMPTY_NUMBERS = (
    "line_item_blended_cost line_item_net_unblended_cost line_item_net_unblended_rate line_item_normalization_factor "
    "line_item_normalized_usage_amount reservation_amortized_upfront_cost_for_usage reservation_amortized_upfront_fee_for_billing_period "
    "reservation_effective_cost reservation_recurring_fee_for_usage reservation_unused_amortized_upfront_fee_for_billing_period "
    "reservation_unused_normalized_unit_quantity reservation_unused_quantity reservation_unused_recurring_fee reservation_upfront_value "
    "savings_plan_amortized_upfront_commitment_for_billing_period savings_plan_recurring_commitment_for_billing_period "
    "savings_plan_savings_plan_effective_cost savings_plan_savings_plan_rate savings_plan_total_commitment_to_date savings_plan_used_commitment "
    "split_line_item_actual_usage split_line_item_net_split_cost split_line_item_net_unused_cost split_line_item_public_on_demand_split_cost "
    "split_line_item_public_on_demand_unused_cost split_line_item_reserved_usage split_line_item_split_cost split_line_item_split_usage "
    "split_line_item_split_usage_ratio split_line_item_unused_cost"
)
PRODUCTS = ("AmazonEC2", "AmazonS3", "AmazonEFS", "AmazonCloudWatch", "AWSDataTransfer")
KINDS = ("p5.48xlarge", "p4d.24xlarge", "g6e.12xlarge", "c7i.24xlarge", "m7i.8xlarge")


def block(first: int, rows: int, dice: np.random.Generator) -> pa.Table:
    number = np.arange(first, first + rows)
    node = number % NODES
    hour = (number // NODES) % HOURS
    kind = node % len(KINDS)
    micros = 1 + dice.integers(0, 40 * DOLLARS, rows)
    cost = pa.array(micros / DOLLARS, NUMBER)
    start = pa.array(MONTH_MS + hour * HOUR_MS).cast(MOMENT)
    end = pa.array(MONTH_MS + (hour + 1) * HOUR_MS).cast(MOMENT)
    instance = names([f"i-{n:017x}" for n in range(NODES)], node)
    columns: dict[str, Any] = {
        "bill_payer_account_id": same("111122223333", rows),
        "bill_payer_account_name": same("payer", rows),
        "bill_billing_period_start_date": pa.repeat(pa.scalar(MONTH_MS, pa.int64()), rows).cast(MOMENT),
        "bill_billing_period_end_date": pa.repeat(pa.scalar(MONTH_MS + HOURS * HOUR_MS, pa.int64()), rows).cast(MOMENT),
        "identity_time_interval": names([interval(n) for n in range(HOURS)], hour),
        "line_item_usage_account_id": names([f"{444455550000 + n}" for n in range(40)], node % 40),
        "line_item_usage_account_name": names([f"account-{n}" for n in range(40)], node % 40),
        "line_item_line_item_type": same("Usage", rows),
        "line_item_product_code": names(PRODUCTS, number % len(PRODUCTS)),
        "line_item_usage_type": names([f"USE1-BoxUsage:{name}" for name in KINDS], kind),
        "line_item_operation": same("RunInstances", rows),
        "line_item_resource_id": instance,
        "line_item_usage_start_date": start,
        "line_item_usage_end_date": end,
        "line_item_usage_amount": pa.repeat(pa.scalar(1.0), rows),
        "line_item_currency_code": same("USD", rows),
        "line_item_unblended_rate": same("12.29", rows),
        "line_item_unblended_cost": cost,
        "line_item_availability_zone": names(["us-east-1a", "us-east-1b", "us-east-1c"], node % 3),
        "line_item_line_item_description": names([f"per On Demand Linux {name} Instance Hour" for name in KINDS], kind),
        "pricing_currency": same("USD", rows),
        "pricing_public_on_demand_cost": cost,
        "pricing_public_on_demand_rate": same("12.29", rows),
        "pricing_unit": same("Hrs", rows),
        "product_instance_type": names(KINDS, kind),
        "product_region_code": same("us-east-1", rows),
        "product": maps(
            ["gpu", "vcpu"], [names(["8", "8", "4", "0", "0"], kind), names(["192", "96", "48", "96", "32"], kind)]
        ),
        "resource_tags": maps(
            ["user_team", "user_cluster"],
            [names([f"team-{n}" for n in range(TEAMS)], node % TEAMS), names(["train", "serve"], node % 2)],
        ),
        "cost_category": maps(["unit"], [names(["research", "product"], node % 2)]),
        "discount": maps([], [], rows),
    }
    columns |= {name: pa.nulls(rows, TEXT) for name in EMPTY_TEXT.split()}
    columns |= {name: pa.nulls(rows, NUMBER) for name in EMPTY_NUMBERS.split()}
    return pa.table(columns)


def same(word: str, rows: int) -> pa.Array:
    return pa.repeat(pa.scalar(word), rows)


def names(words: list[str] | tuple[str, ...], which: Any) -> pa.Array:
    return pa.array(list(words), TEXT).take(pa.array(which))


def maps(keys: list[str], values: list[pa.Array], rows: int = 0) -> pa.Array:
    rows = len(values[0]) if values else rows
    count = len(keys)
    offsets = pa.array(np.arange(0, count * rows + 1, count, dtype=np.int32) if count else np.zeros(rows + 1, np.int32))
    if not count:
        return pa.MapArray.from_arrays(offsets, pa.array([], TEXT), pa.array([], TEXT))
    order = pa.array(np.arange(count * rows).reshape(count, rows).T.ravel())
    return pa.MapArray.from_arrays(
        offsets,
        pa.array(keys, TEXT).take(pa.array(np.tile(np.arange(count), rows))),
        pa.concat_arrays(values).take(order),
    )


def interval(hour: int) -> str:
    first, last = (np.datetime64(MONTH_MS + at * HOUR_MS, "ms").astype("datetime64[s]") for at in (hour, hour + 1))
    return f"{first}Z/{last}Z"


def write_bill(folder: Path, rows: int) -> Path:
    path = folder / f"cur_{rows}.parquet"
    if path.exists():
        return path
    dice = np.random.default_rng(5)
    part = path.with_suffix(".part")
    first = block(0, BLOCK, dice)
    with pq.ParquetWriter(part, first.schema, compression="snappy") as writer:
        writer.write_table(first)
        for start in range(BLOCK, rows, BLOCK):
            writer.write_table(block(start, BLOCK, dice))
    part.rename(path)
    return path


def rewrite(path: Path, copy: Path) -> None:
    """Group by group, so that both sides take little memory."""
    with pq.ParquetFile(path) as file, pq.ParquetWriter(copy, file.schema_arrow, compression="snappy") as writer:
        for number in range(file.num_row_groups):
            writer.write_table(file.read_row_group(number))


def take_in(path: Path, scratch: str, rows: int) -> None:
    books = open_books(f"sqlite:///{scratch}/books.db", f"{scratch}/warehouse", create=True)
    taken = sum(
        books.ingest(delivery).rows["cost_lines"]
        for delivery in read({"name": "aws", "kind": "aws", "path": path.name}, path.parent)
    )
    if taken != rows:
        raise SystemExit(f"{taken} lines of {rows} arrived")
    books.close()


def cur_5m(folder: Path) -> dict[str, Any]:
    """Five million lines of CUR 2.0 into the books, against pyarrow reading and rewriting the file; and the memory that a fifth of them takes."""
    path = write_bill(folder, ROWS)
    few = in_own_process("cur_1m", folder)
    clock = Clock()
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        clock.time("rewrite", lambda: rewrite(path, Path(scratch) / "copy.parquet"))
        clock.time("ingest", lambda: take_in(path, scratch, ROWS))
        clock.time("rewrite", lambda: rewrite(path, Path(scratch) / "copy.parquet"))
        books = open_books(f"sqlite:///{scratch}/books.db", f"{scratch}/warehouse")
        cost = books.scan("cost_lines", columns=["BilledCost"])["BilledCost"]
        check(path, pc.sum(cost).as_py())
    rewrites = clock.seconds["rewrite"]
    return {
        "rewrite_seconds": [round(each, 1) for each in rewrites],
        "ingest_seconds": round(clock.cold("ingest"), 1),
        "ratio": round(clock.cold("ingest") / (sum(rewrites) / len(rewrites)), 2),
        "peak_gb": round(peak_gb(), 2),
        "peak_gb_of_1m": few["peak_gb"],
        "memory_for_five_times_the_lines": round(peak_gb() / few["peak_gb"], 2),
        "file_mb": round(path.stat().st_size / 2**20),
    }


def check(path: Path, found: Decimal) -> None:
    """The amounts are whole millionths, so their sum is known."""
    cost = pq.read_table(path, columns=["line_item_unblended_cost"])["line_item_unblended_cost"].to_numpy()
    if Decimal(int(np.rint(cost * DOLLARS).astype(np.int64).sum())) / DOLLARS != found:
        raise SystemExit(f"the bill came to {found}")


def cur_1m(folder: Path) -> dict[str, Any]:
    """The same with one million lines, for its memory."""
    path = write_bill(folder, FEW_ROWS)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        take_in(path, scratch, FEW_ROWS)
    return {"peak_gb": round(peak_gb(), 2)}
