"""A drawn month, in every form that AWS writes: its money is the schedule's, whatever line it stands on."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.aws import month as m
from tests.sources import making

FORMS: dict[str, Callable[[list[m.Row]], bytes]] = {
    "cur2.csv": m.cur2_csv,
    "cur2.csv.gz": lambda rows: m.packed(m.cur2_csv(rows)),
    "cur2.snappy.parquet": m.cur2_parquet,
    "legacy.csv": m.legacy_csv,
    "legacy.snappy.parquet": m.legacy_parquet,
}
NEW = ("cur2.csv", "cur2.csv.gz", "cur2.snappy.parquet")


def read(base: Path, found: m.Month, name: str, **settings: Any) -> list[dict[str, Any]]:
    m.put(base / name, FORMS[name](found.rows))
    return making.lines(making.read("aws", base, path=name, **settings))


def total(lines: list[dict[str, Any]], cost: str) -> Decimal:
    return sum((line[cost] for line in lines if line[cost] is not None), Decimal(0))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("name", FORMS)
def test_every_total_is_the_schedules(name: str, seed: int, tmp_path: Path) -> None:
    drawn = m.Month(seed)
    truth = drawn.truth
    lines = read(tmp_path, drawn, name)
    assert len(lines) == len(drawn.rows)
    assert total(lines, "BilledCost") == truth.cash
    assert total(lines, "EffectiveCost") == truth.amortised == truth.cash - truth.paid_ahead + truth.amortised_in
    assert total(lines, "ListCost") == truth.listed
    assert {line["problem"] for line in lines} == {None}
    unused = [line for line in lines if line["CommitmentDiscountStatus"] == "Unused"]
    assert total(unused, "EffectiveCost") == truth.unused
    by_type: dict[str, Decimal] = {}
    for line in lines:
        by_type[line["line_type"]] = by_type.get(line["line_type"], Decimal(0)) + line["EffectiveCost"]
    assert by_type == truth.by_type


@pytest.mark.parametrize("seed", range(3))
def test_the_same_month_is_the_same_lines_in_csv_gzip_and_parquet(seed: int, tmp_path: Path) -> None:
    drawn = m.Month(seed)
    ids = [sorted(line["line_id"] for line in read(tmp_path, drawn, name)) for name in NEW]
    assert ids[0] == ids[1] == ids[2]
    assert len(set(ids[0])) == len(drawn.rows)


def test_old_and_new_reports_tell_the_same(tmp_path: Path) -> None:
    drawn = m.Month(7)
    names = (
        "line_type",
        "EffectiveCost",
        "BilledCost",
        "NetCost",
        "ServiceName",
        "ServiceCategory",
        "SkuPriceDetails",
        "ResourceId",
    )
    told = [
        sorted(
            (*(str(line[name]) for name in names), str([tag for tag in line["Tags"] if not tag[0].startswith("aws")]))
            for line in read(tmp_path, drawn, name)
        )
        for name in ("cur2.csv", "legacy.csv", "legacy.snappy.parquet")
    ]
    assert told[0] == told[1] == told[2]


def test_net_costs_follow_the_same_rules(tmp_path: Path) -> None:
    """Nine tenths of everything, but for the unused part of a savings plan, of which AWS tells no net cost."""
    drawn = m.Month(1)
    lines = read(tmp_path, drawn, "cur2.csv")
    gross = {"SavingsPlanRecurringFee", "RIFee"}
    for line in lines:
        expected = line["EffectiveCost"] if line["line_type"] in gross else line["EffectiveCost"] * m.EDP
        assert line["NetCost"] == expected, line["line_type"]
    for row in drawn.rows:
        row["line_item_net_unblended_cost"] = None
    assert {line["NetCost"] for line in read(tmp_path, drawn, "cur2.csv")} == {None}


def test_what_a_line_is_follows_from_its_type(tmp_path: Path) -> None:
    lines = read(tmp_path, m.Month(0), "cur2.csv")
    names = (
        "ChargeCategory",
        "ChargeClass",
        "ChargeFrequency",
        "PricingCategory",
        "CommitmentDiscountType",
        "CommitmentDiscountCategory",
        "CommitmentDiscountStatus",
    )
    found = {
        line["line_type"]: tuple(line[name] for name in names) for line in lines if line["ServiceProviderName"] == "AWS"
    }
    usage, bought = ("Usage", None, "Usage-Based"), ("Purchase", None)
    plan, reserved = ("Savings Plan", "Spend"), ("Reserved Instance", "Usage")
    assert found["Usage"] == (*usage, "Standard", None, None, None)
    assert found["SavingsPlanCoveredUsage"] == (*usage, "Committed", *plan, "Used")
    assert found["SavingsPlanNegation"] == (*usage, "Committed", *plan, None)
    assert found["SavingsPlanUpfrontFee"] == (*bought, "One-Time", "Standard", *plan, None)
    assert found["SavingsPlanRecurringFee"] == (*bought, "Recurring", "Standard", *plan, "Unused")
    assert found["DiscountedUsage"] == (*usage, "Committed", *reserved, "Used")
    assert found["RIFee"] == (*bought, "Recurring", "Standard", *reserved, "Unused")
    assert found["Fee"] == (*bought, "One-Time", "Standard", *reserved, None)
    assert found["Tax"][:2] == ("Tax", None)
    assert found["Credit"][:3] == ("Credit", None, "One-Time")
    assert found["Refund"][:2] == ("Adjustment", "Correction")
    assert {found[kind][0] for kind in found if kind.endswith("Discount")} == {"Adjustment"}
    ids = {line["line_type"]: line["CommitmentDiscountId"] for line in lines}
    assert (ids["SavingsPlanCoveredUsage"], ids["RIFee"], ids["Tax"]) == (m.PLAN, m.RESERVED, None)


def test_who_bills_who_pays_and_what_for(tmp_path: Path) -> None:
    lines = read(tmp_path, m.Month(0), "cur2.csv")
    seller = next(line for line in lines if line["SkuId"] is None and line["ServiceName"] == "A seller's tool")
    assert (seller["ServiceProviderName"], seller["InvoiceIssuerName"], seller["HostProviderName"]) == (
        "Seller LLC",
        m.ISSUER,
        "AWS",
    )
    assert seller["EffectiveCost"] == seller["BilledCost"] > 0  # a fee without a reservation is no commitment
    assert seller["CommitmentDiscountType"] is None
    assert {line["BillingAccountId"] for line in lines} == {m.PAYER}
    assert {line["SubAccountId"] for line in lines} == {m.ACCOUNT}
    kinds = {(line["SkuMeter"] or "").partition(":")[0]: (line["ServiceCategory"], line["component"]) for line in lines}
    assert kinds["USE1-BoxUsage"] == ("Compute", "compute")
    assert kinds["USE1-EBS"] == ("Storage", "storage")
    assert kinds["USE1-DataTransfer-Regional-Bytes"] == ("Networking", "network")
    node = next(line for line in lines if line["SkuMeter"] == "USE1-BoxUsage:p3.16xlarge")
    assert node["SkuPriceDetails"] == '{"CoreCount": 64, "GpuCount": 8, "MemorySize": 488}'
    assert dict(node["Tags"]) == {"team": "platform", "aws_eks_cluster_name": "prod"}
    covered = next(line for line in lines if line["line_type"] == "SavingsPlanCoveredUsage")
    assert dict(covered["Tags"]) == {"team": "vision", "cost_category.Centre": "ML"}


def test_a_bill_is_an_estimate_until_it_has_an_invoice(tmp_path: Path) -> None:
    assert {line["status"] for line in read(tmp_path, m.Month(0), "cur2.csv")} == {"estimated"}
    final = read(tmp_path, m.Month(0, invoice="2026-0042"), "cur2.csv")
    assert {(line["status"], line["InvoiceId"]) for line in final} == {("final", "2026-0042")}


def test_an_unknown_type_keeps_its_money_and_is_marked(tmp_path: Path) -> None:
    drawn = m.Month(0)
    credit = next(row for row in drawn.rows if row["line_item_line_item_type"] == "Credit")
    credit["line_item_line_item_type"] = "Gift"
    lines = read(tmp_path, drawn, "cur2.csv")
    (gift,) = [line for line in lines if line["line_type"] == "Gift"]
    assert (gift["problem"], gift["EffectiveCost"]) == ("unknown-line-type", credit["line_item_unblended_cost"])
    assert total(lines, "BilledCost") == drawn.truth.cash


@pytest.mark.parametrize("gone", ["savings_plan_used_commitment", "reservation_effective_cost"])
def test_without_the_columns_for_it_commitments_stay_at_what_was_billed(gone: str, tmp_path: Path) -> None:
    drawn = m.Month(0)
    text = m.cur2_csv(drawn.rows).decode().replace(gone, "x_" + gone, 1)
    (found,) = making.read("aws", tmp_path, path=m.put(tmp_path / "a.csv", text.encode()).name)
    lines = making.lines([found])
    family = "SavingsPlan" if gone.startswith("savings") else "RI"
    own = [line for line in lines if line["line_type"].startswith(family)]
    assert [line["EffectiveCost"] for line in own] == [line["BilledCost"] for line in own]
    assert "not-amortised" in making.codes(found)
    assert total(lines, "BilledCost") == drawn.truth.cash


def test_covered_usage_without_its_cost_keeps_what_was_billed_and_is_marked(tmp_path: Path) -> None:
    drawn = m.Month(0)
    row = next(row for row in drawn.rows if row["line_item_line_item_type"] == "SavingsPlanCoveredUsage")
    row["savings_plan_savings_plan_effective_cost"] = None
    (line,) = [line for line in read(tmp_path, drawn, "cur2.csv") if line["problem"]]
    assert (line["problem"], line["EffectiveCost"]) == ("not-amortised", row["line_item_unblended_cost"])


def test_tags_that_would_be_one_keep_their_prefix(tmp_path: Path) -> None:
    drawn = m.Month(0)
    drawn.rows[0]["resource_tags"] = {"user_team": "a", "team": "b", "user_aws_x": "c", "user_empty": ""}
    lines = [dict(line["Tags"]) for line in read(tmp_path, drawn, "cur2.csv")]
    assert {"user_team": "a", "team": "b", "user_aws_x": "c"} in lines


def test_amounts_that_a_double_holds_in_more_than_18_places(tmp_path: Path) -> None:
    """As AWS writes them in CSV; in Parquet they are doubles, and the lines are the same."""
    drawn = m.Month(0)
    drawn.rows[0]["line_item_unblended_cost"] = Decimal("0.00010404000000000001")
    ids = [sorted(line["line_id"] for line in read(tmp_path, drawn, name)) for name in NEW]
    assert ids[0] == ids[1] == ids[2]
    costs = [line["BilledCost"] for line in read(tmp_path, drawn, "cur2.csv")]
    assert Decimal("0.000104040000000000") in costs


def test_the_pages_figures(tmp_path: Path) -> None:
    """What the how-to says of its six rows."""
    page = (Path(__file__).parents[2] / "docs/how-to/read-aws-bills.md").read_text("utf-8")
    bill = page.partition("```csv\n")[2].partition("```")[0]
    m.put(tmp_path / "bill.csv", bill.encode())
    lines = making.lines(making.read("aws", tmp_path, path="bill.csv"))
    assert len(lines) == 6
    assert total(lines, "EffectiveCost") == total(lines, "BilledCost") == Decimal("870.4724")
    by_type = {line["line_type"]: line["EffectiveCost"] for line in lines}
    assert [by_type[f"SavingsPlan{kind}"] for kind in ("CoveredUsage", "Negation", "RecurringFee")] == [
        Decimal("3.3"),
        0,
        Decimal("1.5"),
    ]
    split = making.lines(making.read("aws", tmp_path, path="bill.csv", split="pods"))
    assert total(split, "EffectiveCost") == Decimal("870.4724")
    own = sorted(line["EffectiveCost"] for line in split if line["ResourceId"] == "i-1")
    assert own == [0, Decimal("262.1808"), Decimal("524.3616")]
