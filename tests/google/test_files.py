"""Google's billing export from files: every row once, every credit once, the same lines whatever the format; other files are refused."""

import csv
import json
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import apportion
from apportion.errors import InputError
from apportion.model.delivery import Delivery
from apportion.sources.google import read
from tests.google.exports import (
    FEE,
    SCHEMA,
    SPEND,
    Row,
    at,
    credit,
    drawn,
    money,
    own_lines,
    row,
    write_csv,
    write_json,
    write_parquet,
)

SAMPLE = Path(__file__).parents[2].parent / "shared/data/bills/nise_synthetic/gcp_bigquery_flat.csv"
WRITERS: dict[str, Callable[[Sequence[Row], Path], None]] = {
    "parquet": write_parquet, "json": write_json, "jsonl": write_json, "csv": write_csv,
}  # fmt: skip
POLICY = """\
policy: p
effective: 2026-09-01
currency: EUR
time_zone: UTC
teams: {a: {}}
pools: {all: {costs: otherwise, method: fixed, shares: {a: 100}}}
"""


def deliveries(folder: Path, path: str, **more: Any) -> list[Delivery]:
    found = read({"name": "g", "kind": "google", "path": path, **more}, folder)
    return [one for one in found if isinstance(one, Delivery)]


def made(folder: Path, *rows: Row, ending: str = "parquet") -> list[Row]:
    """The cost lines of some rows."""
    WRITERS[ending](rows, folder / f"rows.{ending}")
    found = [one for each in deliveries(folder, f"rows.{ending}") for one in each.tables["cost_lines"].to_pylist()]
    return sorted(found, key=lambda line: (line["charge_start_s"], line["ChargeCategory"], str(line["line_type"])))


def total(lines: pa.Table, name: str = "BilledCost") -> Decimal:
    return Decimal(pc.sum(lines[name]).as_py())


def test_the_sample_keeps_its_rows_its_costs_and_its_credits(tmp_path: Path) -> None:
    if not SAMPLE.exists():
        pytest.skip(f"no ../shared beside the project: {SAMPLE.name}")
    with SAMPLE.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    given = [json.loads(one["credits"].replace("'", '"'), parse_float=Decimal) for one in rows]
    months = sorted({one["invoice.month"] for one in rows})
    found = deliveries(SAMPLE.parent, SAMPLE.name)
    assert len(found) == len(months)
    truths = []
    for name, delivery in zip(months, found, strict=True):
        own = [(one, gifts) for one, gifts in zip(rows, given, strict=True) if one["invoice.month"] == name]
        costs = sum((Decimal(one["cost"]) for one, _ in own), Decimal(0))
        gifts = [each for _, gifts in own for each in gifts]
        truths.append(costs + sum((each["amount"] for each in gifts), Decimal(0)))
        lines = delivery.tables["cost_lines"]
        assert lines.num_rows == len(own) + sum(each["type"] == "PROMOTION" for each in gifts)
        assert total(lines) == total(lines, "EffectiveCost") == truths[-1]
        assert total(lines.filter(pc.field("ChargeCategory") == "Usage")) == costs
    assert {problem.code for one in found for problem in one.problems} == {"no-resources"}
    (tmp_path / "bill.csv").write_bytes(SAMPLE.read_bytes())
    (tmp_path / "policy.yaml").write_text(POLICY, "utf-8")
    stanza = '[[sources]]\nname = "g"\nkind = "google"\npath = "bill.csv"\n'
    (tmp_path / "apportion.toml").write_text(stanza, "utf-8")
    project = apportion.open_project(tmp_path)
    apportion.ingest(project)
    for name, truth in zip(("2026-09", "2026-10"), truths, strict=True):
        planned = apportion.plan(project, name)
        assert sum(bill.total for bill in planned.bills) == truth
        apportion.apply(project, name)
        assert total(project.books.posted(name), "amount") == truth


@pytest.mark.parametrize("seed", range(3))
def test_all_formats_give_the_same_lines_and_the_money_of_the_schedule(seed: int, tmp_path: Path) -> None:
    rows = drawn(seed)
    for ending, write in WRITERS.items():
        write(rows, tmp_path / f"rows.{ending}")
    found = {ending: deliveries(tmp_path, f"rows.{ending}") for ending in WRITERS}
    for number, name in enumerate(("202610", "202611")):
        lines = {ending: each[number].tables["cost_lines"].sort_by("line_id") for ending, each in found.items()}
        assert all(table == lines["parquet"] for table in lines.values())
        costs, credits_ = money(rows, name)
        assert total(lines["csv"]) == total(lines["csv"], "EffectiveCost") == costs + credits_
        assert lines["csv"].num_rows == own_lines(one for one in rows if one["invoice"]["month"] == name)
        usage = lines["csv"].filter(pc.field("ChargeCategory") != "Credit")
        assert total(usage, "ContractedCost") == costs
    assert all(not one.problems for each in found.values() for one in each)


@pytest.mark.parametrize("ending", WRITERS)
def test_discounts_are_part_of_the_price_and_promotions_are_lines(ending: str, tmp_path: Path) -> None:
    gifts = [
        credit("SUSTAINED_USAGE_DISCOUNT", -0.1),
        credit("FREE_TIER", -0.2),
        credit("PROMOTION", -0.3, "Trial", "t1"),
    ]
    given, used = made(tmp_path, row(at("2026-10-01"), 1.1, credits=gifts), ending=ending)
    assert used["BilledCost"] == used["EffectiveCost"] == Decimal("0.8")
    assert (used["ContractedCost"], used["ListCost"]) == (Decimal("1.1"), Decimal("1.375"))
    assert (given["ChargeCategory"], given["BilledCost"], given["line_type"]) == (
        "Credit",
        Decimal("-0.3"),
        "PROMOTION",
    )
    assert given["ChargeDescription"] == "Trial (t1)"
    assert {given[name] == used[name] for name in ("Tags", "ResourceId", "SkuId", "SubAccountId")} == {True}
    assert given["ConsumedQuantity"] is None


def test_commitments_are_bought_used_or_left_unused(tmp_path: Path) -> None:
    bought, left, used = made(
        tmp_path,
        row(at("2026-10-01"), 100.0, sku=FEE, subscription={"instance_id": "c-1"}),
        row(at("2026-10-02"), 50.0, sku=SPEND, credits=[credit("FEE_UTILIZATION_OFFSET", -42.5)]),
        row(at("2026-10-03"), 9.0, credits=[credit("COMMITTED_USAGE_DISCOUNT", -9.0, "CUD", "c-1")]),
    )
    names = ("ChargeCategory", "CommitmentDiscountStatus", "CommitmentDiscountCategory", "EffectiveCost")
    assert [tuple(line[name] for name in names) for line in (bought, left, used)] == [
        ("Purchase", None, "Usage", Decimal(100)),
        ("Usage", "Unused", "Spend", Decimal("7.5")),
        ("Usage", "Used", "Usage", Decimal(0)),
    ]
    assert bought["CommitmentDiscountId"] == used["CommitmentDiscountId"] == "c-1"


def test_what_is_not_usage_is_told_by_the_cost_type(tmp_path: Path) -> None:
    kinds = {"tax": "Tax", "adjustment": "Adjustment", "rounding_error": "Adjustment", "regular": "Usage"}
    fix = {"id": "a1", "description": None, "mode": "COMPLETE_NEGATION", "type": "USAGE_CORRECTION"}
    lines = made(tmp_path, *(row(at("2026-10-01"), 1.0, cost_type=kind, adjustment_info=fix) for kind in kinds))
    assert {line["line_type"]: line["ChargeCategory"] for line in lines} == kinds
    assert {line["ChargeClass"] for line in lines} == {"Correction"}
    assert dict(lines[0]["Tags"])["adjustment.mode"] == "COMPLETE_NEGATION"


def test_the_invoice_month_is_the_bill_and_the_usage_time_the_charge(tmp_path: Path) -> None:
    start = at("2026-10-31T23:00:00")
    (line,) = made(tmp_path, row(start, 1.0, invoice={"month": "202611"}))
    assert line["charge_start_s"] == start.timestamp()
    assert (line["billing_start_s"], line["billing_end_s"]) == (
        at("2026-11-01").timestamp(),
        at("2026-12-01").timestamp(),
    )
    write_parquet([row(start, 1.0, invoice={"month": None})], tmp_path / "none.parquet")
    (found,) = deliveries(tmp_path, "none.parquet")
    assert found.window.start_s == at("2026-10-01").timestamp()
    assert [problem.code for problem in found.problems] == ["no-invoice-month"]


@pytest.mark.parametrize(("day", "status"), [("2026-11-05", "estimated"), ("2026-11-06", "final")])
def test_a_month_is_final_when_the_export_went_on_for_five_days(day: str, status: str, tmp_path: Path) -> None:
    lines = made(tmp_path, row(at("2026-10-01"), 1.0), row(at("2026-10-02"), 2.0, export_time=at(day)))
    assert {line["status"] for line in lines} == {status}


def test_no_label_is_lost(tmp_path: Path) -> None:
    twice = [{"key": "team", "value": value} for value in ("a", "b", "")] + [{"key": "env", "value": "x"}]
    (line,) = made(tmp_path, row(at("2026-10-01"), 1.0, labels=twice))
    assert dict(line["Tags"]) == {
        "team": "a", "team#2": "b", "team#3": "", "env": "x", "project.env": "prod", "resource.123/stage": "live",
        "system.compute.googleapis.com/machine_spec": "a3-highgpu-8g",
    }  # fmt: skip


@pytest.mark.parametrize("ending", WRITERS)
def test_gke_says_what_a_namespace_requested_and_what_nobody_did(ending: str, tmp_path: Path) -> None:
    def pod(namespace: str | None, **more: str) -> Row:
        labels = {"goog-k8s-cluster-name": "c1", "k8s-namespace": namespace, **more}
        pairs = [{"key": key, "value": value} for key, value in labels.items() if value is not None]
        return row(at("2026-10-01"), 1.0, labels=pairs)

    named = {"k8s-workload-type": "apps/v1-Deployment", "k8s-workload-name": "train"}
    rows = [pod("vision", **named), pod("vision"), pod("kube:unallocated"), pod("kube:system-overhead"), pod(None)]
    rows += [pod("goog-k8s-unknown"), pod("goog-k8s-unsupported-sku"), pod("")]
    lines = made(tmp_path, *rows, ending=ending)
    found = {(dict(line["Tags"]).get("gke.bucket"), line["AllocatedResourceId"]) for line in lines}
    assert found == {
        ("allocated", "c1/vision/apps/v1-Deployment/train"), ("allocated", "c1/vision"), (None, None), ("unallocated", None),
        ("system-overhead", None), ("unknown", None), ("unsupported-sku", None), ("blank", None),
    }  # fmt: skip
    methods = {line["AllocatedMethodId"] for line in lines if "gke.bucket" in dict(line["Tags"])}
    assert methods == {"GKE cost allocation"}
    assert sum(line["EffectiveCost"] for line in lines) == 8


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("ChargePeriodStart,ChargeCategory,BilledCost\n1,2,3\n", "another-vendors-file", "focus"),
        ("lineItem/UnblendedCost,lineItem/LineItemType\n1,2\n", "another-vendors-file", "aws"),
        ("billing_account_id,service.id,usage_start_time,usage_end_time,price,currency\n", "missing-columns", "export"),
        ("{HEAD}\n{ROW},1,USD,[{{'amount': -0.1\n", "invalid-number", "fetch"),
        ("{HEAD}\n{ROW},1,USD,\"[{{'amount': 'much'}}]\"\n", "invalid-number", "fetch"),
        ("{HEAD}\n{ROW},one,USD,[]\n", "invalid-number", "fetch"),
    ],
)
def test_wrong_files_are_refused(text: str, code: str, said: str, tmp_path: Path) -> None:
    head = "billing_account_id,service.description,usage_start_time,usage_end_time,cost,currency,credits"
    start = "a,Compute Engine,2026-10-01T00:00:00,2026-10-01T01:00:00"
    (tmp_path / "x.csv").write_text(text.format(HEAD=head, ROW=start) if "{HEAD}" in text else text, "utf-8")
    with pytest.raises(InputError, match=code) as caught:
        deliveries(tmp_path, "x.csv")
    assert said in caught.value.hint


def test_the_standard_export_is_read_and_noted(tmp_path: Path) -> None:
    standard = [each for each in SCHEMA if each["name"] not in ("resource", "tags", "price", "cost_at_list")]
    write_parquet([row(at("2026-10-01"), 2.5)], tmp_path / "x.parquet", standard)
    (found,) = deliveries(tmp_path, "x.parquet")
    assert [problem.code for problem in found.problems] == ["no-resources"]
    assert total(found.tables["cost_lines"]) == Decimal("2.5")


def test_a_list_of_objects_is_read_as_json_lines_are(tmp_path: Path) -> None:
    write_json(drawn(5), tmp_path / "lines.jsonl")
    objects = [json.loads(line) for line in (tmp_path / "lines.jsonl").read_text("utf-8").splitlines()]
    (tmp_path / "list.json").write_text(json.dumps(objects), "utf-8")
    lines, listed = ([one.tables for one in deliveries(tmp_path, name)] for name in ("lines.jsonl", "list.json"))
    assert lines == listed
