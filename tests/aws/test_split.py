"""Split cost allocation: pods take from their instance's line, and whatever the file says, nothing is counted twice or lost."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.model.delivery import Delivery
from apportion.sources.aws.look import in_proportion
from apportion.sources.aws.weights import unit_costs
from tests.aws import month as m
from tests.sources import making

COSTS = ("BilledCost", "EffectiveCost", "ContractedCost", "ListCost", "NetCost")
POD = f"arn:aws:eks:us-east-1:{m.ACCOUNT}:pod/prod/team-t/train-0/uid"


def read(base: Path, rows: list[m.Row], split: str = "pods", parts: int = 1) -> list[Delivery]:
    folder = base / split
    for number in range(parts):
        m.put(folder / f"part-{number}.snappy.parquet", m.cur2_parquet(rows[number::parts]))
    return making.read("aws", base, path=split, split=split)


def totals(found: list[Delivery]) -> dict[str, Decimal]:
    return {cost: making.total(found, cost) for cost in COSTS}


def instance(cost: str, kind: str = "Usage", **cells: Any) -> m.Row:
    """A line of i-1 on the first day."""
    drawn = m.Month(0)
    drawn.rows = []
    amount = Decimal(cost)
    return drawn.add(
        kind, 0, amount, amount, line_item_resource_id="i-1", line_item_operation="RunInstances", line_item_usage_type="BoxUsage:m5.xlarge",
        pricing_public_on_demand_cost=amount, **cells,
    )  # fmt: skip


def pod(split: str, unused: str = "0", **cells: Any) -> m.Row:
    row = instance("0", line_item_product_code="AmazonEKS")
    return row | {
        "line_item_operation": "EKSPod-EC2", "line_item_usage_type": "USE1-EKS-EC2-vCPU-Hours", "split_line_item_parent_resource_id": "i-1",
        "line_item_resource_id": POD, "split_line_item_split_usage": Decimal(1), "split_line_item_split_cost": Decimal(split),
        "split_line_item_unused_cost": Decimal(unused),
    } | cells  # fmt: skip


def test_weights_of_the_two_examples_in_awss_documentation() -> None:
    small = unit_costs(Fraction(1), Fraction(4), Fraction(16))
    assert small == {"vCPU": Fraction(9, 52), "GB": Fraction(1, 52)}
    assert [round(float(small[kind]), 5) for kind in ("vCPU", "GB")] == [0.17308, 0.01923]
    large = unit_costs(Fraction(10), Fraction(64), Fraction(488), Fraction(8))
    unit = Fraction(10) / Fraction("178.4")
    assert large == {"Accelerator": 9 * unit, "vCPU": unit * 9 / 10, "GB": unit / 10}
    assert [round(float(large[kind]), 6) for kind in large] == [0.504484, 0.050448, 0.005605]
    assert 8 * large["Accelerator"] + 64 * large["vCPU"] + 488 * large["GB"] == 10


@pytest.mark.parametrize("seed", range(4))
def test_totals_are_the_bills_with_the_split_and_without(seed: int, tmp_path: Path) -> None:
    drawn = m.Month(seed)
    plain, pods = read(tmp_path, drawn.rows, "parent", 3), read(tmp_path, drawn.rows, "pods", 3)
    assert totals(plain) == totals(pods)
    assert totals(pods)["BilledCost"] == drawn.truth.cash
    assert totals(pods)["EffectiveCost"] == drawn.truth.amortised
    lines = making.lines(pods)
    taken = {line["AllocatedResourceName"]: Decimal(0) for line in lines if line["AllocatedMethodId"]}
    for line in lines:
        if line["AllocatedMethodId"]:
            taken[line["AllocatedResourceName"]] += line["EffectiveCost"]
    for name in ("train-0", "eval-0"):
        expected = sum(
            row["split_line_item_split_cost"]
            for row in drawn.rows
            if f"/{name}/" in (row.get("line_item_resource_id") or "")
        )
        assert taken[f"prod/team-{name[0]}/{name}/uid"] == expected
    assert taken[None] == sum(row.get("split_line_item_unused_cost") or 0 for row in drawn.rows)
    rest = [
        line
        for line in lines
        if line["ResourceId"] == "i-node" and not line["AllocatedMethodId"] and line["SkuMeter"].startswith("USE1-Box")
    ]
    assert all(
        abs(line["EffectiveCost"]) < Decimal("0.0000001") for line in rest
    )  # the file's split adds up to the node


@pytest.mark.parametrize("seed", range(4))
def test_without_the_split_no_pod_carries_money_and_the_file_says_so(seed: int, tmp_path: Path) -> None:
    drawn = m.Month(seed)
    (found,) = read(tmp_path, drawn.rows, "parent")
    lines = making.lines([found])
    assert {line["EffectiveCost"] for line in lines if (line["SkuMeter"] or "").startswith("USE1-EKS")} == {Decimal(0)}
    assert making.codes(found) == ["split-not-taken"]


def test_rows_of_pods_are_lines_of_their_instance(tmp_path: Path) -> None:
    lines = making.lines(
        read(
            tmp_path,
            [
                instance("10"),
                pod("6", "3", resource_tags={"aws_eks_namespace": "vision", "aws_eks_cluster_name": "prod"}),
            ],
        )
    )
    parent, child, idle = sorted(
        lines, key=lambda line: (line["AllocatedMethodId"] is not None, line["AllocatedResourceId"] is None)
    )
    assert [line["EffectiveCost"] for line in (parent, child, idle)] == [1, 6, 3]
    assert {line["ResourceId"] for line in lines} == {"i-1"}
    assert (child["AllocatedResourceId"], child["AllocatedMethodId"]) == (POD, "aws:split-cost-allocation")
    assert dict(child["Tags"])["aws_eks_namespace"] == "vision"
    assert child["AllocatedTags"] == '{"aws_eks_cluster_name": "prod", "aws_eks_namespace": "vision"}'
    assert idle["AllocatedResourceId"] is None
    assert dict(idle["Tags"]) == {"aws_eks_cluster_name": "prod"}  # of the node, not of the pod


def test_only_what_runs_the_pods_gives(tmp_path: Path) -> None:
    """Traffic and disks of the same instance, its tax, and a plan's negation are none of the pods' business."""
    others = [
        instance("5") | {"line_item_operation": "InterZone-In"},
        instance("-4", "SavingsPlanNegation"),
        instance("3", "Tax"),
    ]
    found = read(tmp_path, [instance("10"), *others, pod("6", "4")])
    assert sorted(line["EffectiveCost"] for line in making.lines(found) if not line["AllocatedMethodId"]) == [
        0,
        0,
        3,
        5,
    ]


def test_a_pod_without_its_instance_carries_nothing_and_is_listed(tmp_path: Path) -> None:
    tomorrow = {"line_item_usage_start_date": m.at(1), "line_item_usage_end_date": m.at(2)}
    elsewhere = {"line_item_usage_account_id": "777788889999"}
    rows = [
        instance("10"),
        pod("6"),
        pod("5", "1", **tomorrow),
        pod("5", **elsewhere),
        pod("5", split_line_item_parent_resource_id="i-2"),
    ]
    (found,) = read(tmp_path, rows)
    assert making.total([found]) == 10
    assert sorted(line["EffectiveCost"] for line in making.lines([found])) == [0, 0, 0, 4, 6]
    assert making.codes(found) == ["split-without-parent"] * 3


def test_an_explicit_row_of_unused_capacity_counts_and_the_pods_share_of_it_does_not(tmp_path: Path) -> None:
    lines = making.lines(read(tmp_path, [instance("10"), pod("6", "4"), pod("4", line_item_resource_id=None)]))
    assert sorted(
        (line["EffectiveCost"], line["AllocatedResourceId"]) for line in lines if line["AllocatedMethodId"]
    ) == [(4, None), (6, POD)]
    assert sum(line["EffectiveCost"] for line in lines) == 10


def test_an_instance_half_covered_by_a_plan_gives_from_both_lines(tmp_path: Path) -> None:
    covered = instance("12", "SavingsPlanCoveredUsage", savings_plan_savings_plan_a_r_n=m.PLAN) | {
        "savings_plan_savings_plan_effective_cost": Decimal(3)
    }
    found = read(tmp_path, [covered, instance("6"), pod("2.4", "0.6")])
    lines = making.lines(found)
    own = {line["line_type"]: line for line in lines if not line["AllocatedMethodId"]}
    assert own["SavingsPlanCoveredUsage"]["EffectiveCost"] == 3 - 1  # a third of the 3 that the pod takes
    assert own["Usage"]["EffectiveCost"] == 6 - 2
    assert own["SavingsPlanCoveredUsage"]["BilledCost"] == 12  # not billed at its amortised cost: stays
    assert {line["BilledCost"] for line in lines if line["AllocatedMethodId"]} == {Decimal(0)}
    assert making.total(found, "BilledCost") == 18


def test_pods_that_take_more_than_there_is_are_told(tmp_path: Path) -> None:
    (found,) = read(tmp_path, [instance("10"), pod("11")])
    lines = making.lines([found])
    assert sorted((line["EffectiveCost"], line["problem"]) for line in lines) == [
        (-1, "split-exceeds-parent"),
        (11, None),
    ]
    assert making.codes(found) == ["split-exceeds-parent"]


def test_a_split_by_other_weights_is_told(tmp_path: Path) -> None:
    memory = {"line_item_usage_type": "USE1-EKS-EC2-GB-Hours"}
    (right,) = read(tmp_path / "a", [instance("10"), pod("9"), pod("1", **memory)])
    (wrong,) = read(tmp_path / "b", [instance("10"), pod("8"), pod("2", **memory)])
    assert (making.codes(right), making.codes(wrong)) == ([], ["odd-split-weights"])


@given(st.decimals(0, 10**6, places=18), st.lists(st.decimals(-5, 10**4, places=9), min_size=1, max_size=6))
def test_shares_add_up_to_the_last_place(whole: Decimal, weights: list[Decimal]) -> None:
    shares = in_proportion(whole, weights)
    assert sum(shares) == whole
    positive = sum(max(weight, Decimal(0)) for weight in weights)
    for share, weight in zip(shares, weights, strict=True):
        if positive:
            exact = Fraction(whole) * Fraction(max(weight, Decimal(0))) / Fraction(positive)
            assert abs(Fraction(share) - exact) < Fraction(1, 10**18)


@pytest.mark.parametrize("seed", range(6))
def test_drawn_splits_in_any_order_and_any_files_give_the_same_lines(seed: int, tmp_path: Path) -> None:
    """Whatever the rows say, even nonsense: totals stay, and neither order nor parts matter."""
    dice = Random(seed)
    rows: list[m.Row] = []
    for _ in range(12):
        day = dice.randrange(2)
        when = {"line_item_usage_start_date": m.at(day), "line_item_usage_end_date": m.at(day + 1)}
        cost = str(Decimal(dice.randrange(1, 10**6)).scaleb(-4))
        rows.append(
            instance(cost, **when)
            if dice.random() < 0.4
            else pod(cost, str(dice.randrange(3)), **when, line_item_resource_id=dice.choice([None, POD, POD + "2"]))
        )
    found = read(tmp_path / "a", rows)
    assert totals(found) == totals(read(tmp_path / "a", rows, "parent"))
    dice.shuffle(rows)
    again = read(tmp_path / "b", rows, parts=3)
    assert sorted(line["line_id"] for line in making.lines(again)) == sorted(
        line["line_id"] for line in making.lines(found)
    )
