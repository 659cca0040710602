"""Bills of real vendors and of the specification: every line and every digit of every cost arrives."""

import csv
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from apportion.model.delivery import Delivery
from apportion.sources.focus import read

BILLS = Path(__file__).parents[2] / ".." / "shared" / "data" / "bills"
COSTS = ("BilledCost", "EffectiveCost", "ContractedCost", "ListCost")
FILES = (
    "focus/FOCUS-1.0_focus_sample_1000.csv",
    "focus/SYNTHETIC_our_attribution_focus14_0fail.csv",
    "focus/SYNTHETIC_our_attribution_focus14_0fail.parquet",
    "focus_toolkit_synthetic/consolidated_multi_provider_1_3.csv",
    "focus_toolkit_synthetic/focus_1_2_cost_and_usage_aws.csv",
    "focus_toolkit_synthetic/focus_1_2_cost_and_usage_azure.csv",
    "focus_toolkit_synthetic/focus_1_2_cost_and_usage_gcp.csv",
    "focus_toolkit_synthetic/focus_1_3_cost_and_usage_aws.csv",
    "focus_toolkit_synthetic/focus_1_3_cost_and_usage_azure.csv",
    "focus_toolkit_synthetic/focus_1_3_cost_and_usage_gcp.csv",
    "focus_toolkit_synthetic/synthetic_focus_1_4_cost_and_usage.csv",
)
FAULTS = {FILES[0]: ["unequal-cost"]}  # one credit of the real bill is rounded


def deliveries(name: str) -> list[Delivery]:
    if not BILLS.exists():
        pytest.skip("no ../shared/data/bills beside this checkout")
    return list(read({"name": "bills", "kind": "focus", "path": name}, BILLS, None))


def rows_of(name: str) -> list[dict[str, str | None]]:
    """Another reading of the same file, by other means."""
    if name.endswith(".parquet"):
        return [
            {key: None if value is None else str(value) for key, value in row.items()}
            for row in pq.read_table(BILLS / name).to_pylist()
        ]
    with (BILLS / name).open(encoding="utf-8-sig", newline="") as file:
        return [
            {key: None if value in ("", "NULL", "null") else value for key, value in row.items()}
            for row in csv.DictReader(file)
        ]


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_lost(name: str) -> None:
    found = deliveries(name)
    rows = rows_of(name)
    lines = [line for delivery in found for line in delivery.tables["cost_lines"].to_pylist()]
    assert len(lines) == len(rows)
    for cost in COSTS:
        assert sum((line[cost] for line in lines if line[cost] is not None), Decimal(0)) == sum(
            (Decimal(cell) for row in rows if (cell := row[cost]) is not None), Decimal(0)
        )
        assert sum(line[cost] is None for line in lines) == sum(row[cost] is None for row in rows)
    for column in ("ChargeCategory", "ServiceName", "BillingAccountId", "ResourceId", "InvoiceIssuerName"):
        assert Counter(line[column] for line in lines) == Counter(row[column] for row in rows)
    assert len({line["line_id"] for line in lines}) == len(lines)
    assert [problem.code for delivery in found for problem in delivery.problems] == FAULTS.get(name, [])
    assert {line["problem"] for line in lines} == {None}


def test_csv_and_parquet_of_one_bill_are_the_same_lines() -> None:
    text, columnar = (
        deliveries(f"focus/SYNTHETIC_our_attribution_focus14_0fail.{form}") for form in ("csv", "parquet")
    )
    ids = [
        sorted(line_id for one in found for line_id in one.tables["cost_lines"]["line_id"].to_pylist())
        for found in (text, columnar)
    ]
    assert ids[0] == ids[1]
