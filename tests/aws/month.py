"""A month of one AWS organisation, drawn from a seed: what was bought, used and granted. Its truth is the schedule, not what is read.

Amounts have at most eight places, so that a double holds each of them to its last digit, as text and in binary.
"""

import csv
import gzip
import io
import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

PAYER, ACCOUNT = "000011112222", "444455556666"
PLAN = "arn:aws:savingsplans::000011112222:savingsplan/p1"
RESERVED = "arn:aws:ec2:us-east-1:000011112222:reserved-instances/r1"
ISSUER = "Amazon Web Services, Inc."
START = datetime(2026, 10, 1, tzinfo=UTC)
DAYS = 4
EDP = Decimal("0.9")  # of every net amount
Row = dict[str, Any]
MAPS = ("resource_tags", "product", "cost_category")
NUMBERS = (
    "line_item_usage_amount", "line_item_unblended_cost", "line_item_net_unblended_cost", "line_item_blended_cost",
    "pricing_public_on_demand_cost",
    "reservation_effective_cost", "reservation_net_effective_cost", "reservation_unused_amortized_upfront_fee_for_billing_period",
    "reservation_unused_recurring_fee", "savings_plan_savings_plan_effective_cost", "savings_plan_net_savings_plan_effective_cost",
    "savings_plan_total_commitment_to_date", "savings_plan_used_commitment",
    "split_line_item_split_usage", "split_line_item_split_cost", "split_line_item_unused_cost",
    "split_line_item_net_split_cost", "split_line_item_net_unused_cost",
    "split_line_item_public_on_demand_split_cost", "split_line_item_public_on_demand_unused_cost",
)  # fmt: skip
TIMES = (
    "bill_billing_period_start_date",
    "bill_billing_period_end_date",
    "line_item_usage_start_date",
    "line_item_usage_end_date",
)
TEXTS = (
    "bill_invoice_id", "bill_invoicing_entity", "bill_billing_entity", "bill_payer_account_id", "line_item_usage_account_id",
    "line_item_line_item_type", "line_item_product_code", "line_item_usage_type", "line_item_operation", "line_item_resource_id",
    "line_item_currency_code", "line_item_line_item_description", "line_item_legal_entity", "pricing_term", "pricing_unit",
    "product_product_family", "product_region_code", "reservation_reservation_a_r_n", "savings_plan_savings_plan_a_r_n",
    "split_line_item_parent_resource_id",
)  # fmt: skip
NET_OF = {
    "SavingsPlanCoveredUsage": "savings_plan_net_savings_plan_effective_cost",
    "DiscountedUsage": "reservation_net_effective_cost",
}


@dataclass
class Truth:
    """What the schedule adds up to."""

    cash: Decimal = Decimal(0)
    paid_ahead: Decimal = Decimal(0)  # upfront fees of the month
    amortised_in: Decimal = Decimal(0)  # the month's part of such fees
    unused: Decimal = Decimal(0)  # of commitments
    listed: Decimal = Decimal(0)
    by_type: dict[str, Decimal] = field(default_factory=dict)  # amortised

    @property
    def amortised(self) -> Decimal:
        return self.cash - self.paid_ahead + self.amortised_in


def at(day: int) -> str:
    return (START + timedelta(days=day)).strftime("%Y-%m-%dT%H:%M:%S.000Z")


@dataclass
class Month:
    seed: int
    invoice: str = ""
    rows: list[Row] = field(default_factory=list)
    truth: Truth = field(default_factory=Truth)

    def __post_init__(self) -> None:
        self.dice = Random(self.seed)
        self.plan()
        self.reservation()
        self.on_demand()
        self.other()
        self.dice.shuffle(self.rows)

    def money(self, most: int) -> Decimal:
        return Decimal(self.dice.randrange(1, most * 10**6)).scaleb(-6)

    def add(self, kind: str, day: int, cash: Decimal, amortised: Decimal, **cells: Any) -> Row:
        """One row; its unblended cost and what it is amortised."""
        self.truth.cash += cash
        self.truth.by_type[kind] = self.truth.by_type.get(kind, Decimal(0)) + amortised
        self.truth.listed += Decimal(cells.get("pricing_public_on_demand_cost") or 0)
        row: Row = {
            "bill_invoice_id": self.invoice, "bill_invoicing_entity": ISSUER, "bill_billing_entity": "AWS", "bill_payer_account_id": PAYER,
            "bill_billing_period_start_date": at(0), "bill_billing_period_end_date": at(31),
            "line_item_usage_account_id": ACCOUNT, "line_item_line_item_type": kind, "line_item_product_code": "AmazonEC2",
            "line_item_usage_start_date": at(day), "line_item_usage_end_date": at(day + 1), "line_item_currency_code": "USD",
            "line_item_unblended_cost": cash, "line_item_blended_cost": cash, "line_item_net_unblended_cost": cash * EDP, "line_item_legal_entity": ISSUER,
            "line_item_usage_amount": Decimal(24), "pricing_unit": "Hrs", "product_region_code": "us-east-1",
            "product": {"product_name": "Amazon Elastic Compute Cloud"}, "resource_tags": {}, "cost_category": {}, **cells,
        }  # fmt: skip
        if kind in NET_OF:
            row[NET_OF[kind]] = amortised * EDP
        self.rows.append(row)
        return row

    def plan(self) -> None:
        """A savings plan with part of it paid ahead: each day covers some usage, and the rest of the day's commitment is unused."""
        upfront, recurring = Decimal("0.25"), Decimal("1.5")  # of a day
        self.add(
            "SavingsPlanUpfrontFee", 0, upfront * 365, Decimal(0), savings_plan_savings_plan_a_r_n=PLAN,
            line_item_product_code="ComputeSavingsPlans", line_item_usage_amount=Decimal(1),
        )  # fmt: skip
        self.truth.paid_ahead += upfront * 365
        for day in range(DAYS):
            used = min(self.money(2), upfront + recurring)
            demand = used * 2
            shared = {"savings_plan_savings_plan_a_r_n": PLAN, "line_item_usage_type": "BoxUsage:m5.xlarge"}
            self.add(
                "SavingsPlanCoveredUsage", day, demand, used, **shared, savings_plan_savings_plan_effective_cost=used,
                line_item_operation="RunInstances", line_item_resource_id="i-plan", pricing_public_on_demand_cost=demand,
                resource_tags={"user_team": "vision"}, cost_category={"Centre": "ML"},
            )  # fmt: skip
            self.add("SavingsPlanNegation", day, -demand, Decimal(0), **shared)
            unused = upfront + recurring - used
            self.add(
                "SavingsPlanRecurringFee", day, recurring, unused, savings_plan_savings_plan_a_r_n=PLAN,
                savings_plan_total_commitment_to_date=upfront + recurring, savings_plan_used_commitment=used,
                line_item_product_code="ComputeSavingsPlans",
            )  # fmt: skip
            self.truth.unused += unused
            self.truth.amortised_in += upfront

    def reservation(self) -> None:
        """A reserved instance: a fee ahead, a fee of the month, and half of it unused."""
        ahead, monthly = Decimal(120), Decimal(31)
        share = ahead / 12
        self.add("Fee", 0, ahead, Decimal(0), reservation_reservation_a_r_n=RESERVED, line_item_usage_amount=Decimal(1))
        for day in range(DAYS):
            effective = (share + monthly) / 2 / DAYS
            self.add(
                "DiscountedUsage", day, Decimal(0), effective, reservation_reservation_a_r_n=RESERVED, reservation_effective_cost=effective,
                line_item_usage_type="BoxUsage:c5.large", line_item_operation="RunInstances", line_item_resource_id="i-reserved",
                pricing_public_on_demand_cost=Decimal(9),
            )  # fmt: skip
        self.add(
            "RIFee", 0, monthly, (share + monthly) / 2, reservation_reservation_a_r_n=RESERVED,
            reservation_unused_amortized_upfront_fee_for_billing_period=share / 2, reservation_unused_recurring_fee=monthly / 2,
            line_item_usage_end_date=at(31),
        )  # fmt: skip
        self.truth.paid_ahead += ahead
        self.truth.amortised_in += share
        self.truth.unused += (share + monthly) / 2

    def on_demand(self) -> None:
        """A GPU node shared by pods, its disk and its traffic."""
        for day in range(DAYS):
            cost = self.money(800)
            node = {
                "line_item_resource_id": "i-node",
                "resource_tags": {"user_team": "platform", "aws_eks_cluster_name": "prod"},
            }
            self.add(
                "Usage", day, cost, cost, **node, line_item_operation="RunInstances", line_item_usage_type="USE1-BoxUsage:p3.16xlarge",
                pricing_public_on_demand_cost=cost, pricing_term="OnDemand", product_product_family="Compute Instance",
                product={"product_name": "Amazon Elastic Compute Cloud", "gpu": "8", "vcpu": "64", "memory": "488 GiB"},
            )  # fmt: skip
            traffic = self.money(3)
            self.add(
                "Usage", day, traffic, traffic, **node, line_item_operation="InterZone-In", line_item_usage_type="USE1-DataTransfer-Regional-Bytes",
                pricing_public_on_demand_cost=traffic, product_product_family="Data Transfer", pricing_unit="GB",
            )  # fmt: skip
            disk = self.money(2)
            self.add(
                "Usage",
                day,
                disk,
                disk,
                line_item_resource_id="vol-1",
                line_item_usage_type="USE1-EBS:VolumeUsage.gp3",
                pricing_unit="GB-Mo",
            )
            self.pods(day, cost)

    def pods(self, day: int, cost: Decimal) -> None:
        """By AWS's rule: 8 x 9 + 64 x 0.9 + 488 x 0.1 = 178.4 units; what no pod asks for is the pods' unused cost, by their share."""
        of_unit = Fraction(cost) / Fraction("178.4") / 24
        asked = {"train-0": (4, 32, 200), "eval-0": (2, 8, 100)}
        have = (8, 64, 488)
        for kind, weight, number in (("Accelerator", "9", 0), ("vCPU", "0.9", 1), ("GB", "0.1", 2)):
            all_asked = sum(amounts[number] for amounts in asked.values())
            free = (have[number] - all_asked) * 24 * of_unit * Fraction(weight)
            for pod, amounts in asked.items():
                usage = amounts[number] * 24
                split = self.double(usage * of_unit * Fraction(weight))
                unused = self.double(free * amounts[number] / all_asked)
                self.add(
                    "Usage", day, Decimal(0), Decimal(0), line_item_product_code="AmazonEKS", line_item_operation="EKSPod-EC2",
                    line_item_usage_type=f"USE1-EKS-EC2-{kind}-Hours", split_line_item_parent_resource_id="i-node",
                    line_item_resource_id=f"arn:aws:eks:us-east-1:{ACCOUNT}:pod/prod/team-{pod[:1]}/{pod}/uid",
                    line_item_usage_amount=Decimal(usage), split_line_item_split_usage=Decimal(usage), pricing_public_on_demand_cost=Decimal(0),
                    split_line_item_split_cost=split, split_line_item_unused_cost=unused,
                    split_line_item_net_split_cost=split * EDP, split_line_item_net_unused_cost=unused * EDP,
                    split_line_item_public_on_demand_split_cost=split, split_line_item_public_on_demand_unused_cost=unused,
                    resource_tags={"aws_eks_cluster_name": "prod", "aws_eks_namespace": f"team-{pod[:1]}"}, product={},
                )  # fmt: skip

    @staticmethod
    def double(amount: Fraction) -> Decimal:
        return round(Decimal(amount.numerator) / amount.denominator, 9)

    def other(self) -> None:
        """Tax, credits, refunds, discounts and a seller of the marketplace."""
        for kind, cash, day in (
            ("Tax", self.money(40), 0), ("Credit", -self.money(20), 1), ("Refund", -self.money(5), 2), ("EdpDiscount", -self.money(60), 0),
            ("BundledDiscount", -self.money(2), 3), ("PrivateRateDiscount", -self.money(2), 3), ("RiVolumeDiscount", -self.money(2), 3),
            ("SppDiscount", -self.money(2), 3),
        ):  # fmt: skip
            self.add(kind, day, cash, cash, line_item_usage_end_date=at(31), line_item_usage_amount=Decimal(1))
        fee = self.money(50)
        self.add(
            "Fee", 0, fee, fee, bill_billing_entity="AWS Marketplace", line_item_legal_entity="Seller LLC", line_item_product_code="8xyz",
            line_item_usage_end_date=at(31), product={"product_name": "A seller's tool"},
        )  # fmt: skip


def columns(rows: list[Row]) -> list[str]:
    return [*TEXTS, *TIMES, *NUMBERS, *MAPS]


def text(value: Any) -> str:
    if isinstance(value, dict):
        return json.dumps(value)
    return "" if value is None else format(value, "f") if isinstance(value, Decimal) else str(value)


def table(names: list[str], rows: list[dict[str, str]]) -> bytes:
    out = io.StringIO()
    writer = csv.DictWriter(out, names, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def cur2_csv(rows: list[Row]) -> bytes:
    names = columns(rows)
    return table(names, [{name: text(row.get(name)) for name in names} for row in rows])


def cur2_parquet(rows: list[Row]) -> bytes:
    arrays: dict[str, pa.Array] = {
        name: pa.array([row.get(name) or None for row in rows], pa.string()) for name in TEXTS
    }
    for name in TIMES:
        moments = [datetime.fromisoformat(row[name]).replace(tzinfo=None) for row in rows]
        arrays[name] = pa.array(moments, pa.timestamp("ms"))
    for name in NUMBERS:
        arrays[name] = pa.array([None if row.get(name) is None else float(row[name]) for row in rows], pa.float64())
    for name in MAPS:
        arrays[name] = pa.array([list(row[name].items()) for row in rows], pa.map_(pa.string(), pa.string()))
    return parquet(pa.table(arrays))


def parquet(found: pa.Table) -> bytes:
    out = io.BytesIO()
    pq.write_table(found, out, compression="snappy")
    return out.getvalue()


GROUPS = ("split_line_item", "savings_plan", "line_item", "reservation", "pricing", "product", "bill")
SPELT = {
    "public_on_demand_cost": "publicOnDemandCost",
    "unit": "unit",
    "term": "term",
    "product_family": "productFamily",
    "region_code": "regionCode",
}


def slashed(name: str) -> str:
    """`line_item_unblended_cost` as the older report has it in CSV: `lineItem/UnblendedCost`."""
    group = next(found for found in GROUPS if name.startswith(found + "_"))
    words = group.split("_")
    rest = name.removeprefix(group + "_")
    camel = "".join(word.capitalize() for word in rest.split("_"))
    return words[0] + "".join(word.capitalize() for word in words[1:]) + "/" + SPELT.get(rest, camel)


def flat(row: Row) -> dict[str, str]:
    """Tags, product and cost categories as columns of their own."""
    found = {
        f"resourceTags/user:{key[5:]}": value for key, value in row["resource_tags"].items() if key.startswith("user_")
    }
    found |= {
        f"resourceTags/aws:{key[4:]}": value for key, value in row["resource_tags"].items() if key.startswith("aws_")
    }
    found |= {f"costCategory/{key}": value for key, value in row["cost_category"].items()}
    spelt = {"product_name": "ProductName", "gpu": "gpu", "vcpu": "vcpu", "memory": "memory"}
    return found | {f"product/{spelt[key]}": value for key, value in row["product"].items()}


def legacy_csv(rows: list[Row]) -> bytes:
    names = [name for name in columns(rows) if name not in MAPS]
    spread = [{slashed(name): text(row.get(name)) for name in names} | flat(row) for row in rows]
    return table(list(dict.fromkeys(name for row in spread for name in row)), spread)


def legacy_parquet(rows: list[Row]) -> bytes:
    found = pq.read_table(io.BytesIO(cur2_parquet(rows)))
    extra = [
        {
            **{f"resource_tags_{key}": value for key, value in row["resource_tags"].items()},
            **{f"cost_category_{key}": value for key, value in row["cost_category"].items()},
            **{
                f"product_{key}" if key != "product_name" else "product_product_name": value
                for key, value in row["product"].items()
            },
        }
        for row in rows
    ]
    kept = found.drop_columns(list(MAPS))
    for name in dict.fromkeys(name for one in extra for name in one):
        kept = kept.append_column(name, pa.array([one.get(name) for one in extra], pa.string()))
    return parquet(kept)


def packed(data: bytes) -> bytes:
    return gzip.compress(data, mtime=0)


def put(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
