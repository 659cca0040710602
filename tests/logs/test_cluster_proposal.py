"""A policy proposed from a cluster's tables and its bill: what it says it covers is what a plan then posts."""

import random
import re
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from apportion.model.delivery import Delivery, Scope
from apportion.model.meters import METERS
from apportion.model.rows import COSTS, TABLES
from apportion.model.times import Interval, Period, zone_named
from apportion.policy.load import load_policy
from apportion.verbs.init import Wishes, init, stanza_of
from apportion.verbs.plan import compute
from apportion.verbs.project import open_project
from apportion.verbs.proposing.cluster import propose_cluster
from apportion.verbs.proposing.owners import rank
from apportion.verbs.proposing.rate_card import About, Proposal
from apportion.verbs.world import pins_of

OCTOBER = Period(2026, 10).interval(zone_named("UTC"))
GROUP = "k8s.node_label.eks.amazonaws.com/nodegroup"
NODES = {
    "ip-10-0-1-1": ("a100", "gpu", 8),
    "ip-10-0-1-2": ("a100", "gpu", 8),
    "ip-10-0-2-1": ("a100-big", "gpu", 8),
    "ip-10-0-9-1": ("general", "cpu", 64),
}
MONEY = {"a100": Decimal(8000), "a100-big": Decimal(9000), "general": Decimal(500)}  # in October
ABOUT = About("mine", "USD", "UTC", "Prometheus")


def table(name: str, rows: list[dict[str, Any]]) -> pa.Table:
    whole = [{field.name: row.get(field.name) for field in TABLES[name]} for row in rows]
    return pa.Table.from_pylist(whole, TABLES[name])


def capacity(labelled: bool = True) -> pa.Table:
    return table("capacity", [
        {"source": "k", "resource": node, "meter": meter, "start_s": OCTOBER.start_s, "end_s": OCTOBER.end_s, "amount": amount * METERS[meter].base,
         "state": "up", "labels": [(GROUP, group), ("node", node)] if labelled else []}
        for node, (group, meter, amount) in NODES.items()
    ] + [{"source": "k", "resource": "storage/pvc", "meter": "storage", "start_s": OCTOBER.start_s, "end_s": OCTOBER.end_s, "amount": 1,
          "state": "up", "labels": []}])  # fmt: skip


def bill() -> Delivery:
    """The general nodes are named nowhere."""
    base = {"source": "b", "charge_start_s": OCTOBER.start_s, "charge_end_s": OCTOBER.end_s, "billing_start_s": OCTOBER.start_s,
            "billing_end_s": OCTOBER.end_s, "component": "compute", "BillingCurrency": "USD", "ChargeCategory": "Usage", "ServiceCategory": "Compute",
            "ServiceName": "EC2", "InvoiceIssuerName": "Acme", "BillingAccountId": "1"}  # fmt: skip
    lines = [
        {**base, "line_id": "1", **dict.fromkeys(COSTS, MONEY["a100"]), "Tags": [("eks:nodegroup-name", "a100")]},
        {
            **base,
            "line_id": "2",
            **dict.fromkeys(COSTS, MONEY["a100-big"]),
            "Tags": [("eks:nodegroup-name", "a100-big")],
        },
        {**base, "line_id": "3", **dict.fromkeys(COSTS, MONEY["general"]), "Tags": []},
        {
            **base,
            "line_id": "4",
            **dict.fromkeys(COSTS, Decimal(100)),
            "ServiceCategory": "Storage",
            "ServiceName": "S3",
            "Tags": [],
        },
    ]
    scope = Scope("Acme", ("1",), ("EC2", "S3"), (OCTOBER,))
    return Delivery("b", OCTOBER, {"cost_lines": table("cost_lines", lines)}, scopes=(scope,))


def pods(seed: int, *, labels: bool = True) -> tuple[Delivery, dict[str, Fraction]]:
    """Pods one after the other on each node, each with all that the node has or half of it; and what each owner's use is worth, by hand."""
    dice = random.Random(seed)
    usage, workloads = [], []
    worth: dict[str, Fraction] = defaultdict(Fraction)
    for node, (group, meter, amount) in NODES.items():
        second = OCTOBER.start_s
        offered = sum(size for one, _, size in NODES.values() if one == group) * (OCTOBER.end_s - OCTOBER.start_s)
        while (second := second + dice.randint(0, 50) * 3600) < OCTOBER.end_s - 100 * 3600:
            hours, part = dice.randint(1, 90), dice.choice([1, 2])
            team = dice.choice(["vision", "speech", ""]) if labels else ""
            namespace = dice.choice(["ns-a", "ns-b", "kube-system"])
            name = f"k8s/c/{node}-{second}"
            known = {"k8s.namespace": namespace, "k8s.pod": name}
            known |= {"k8s.label.pod-template-hash": str(second % 7)} if labels else {}
            known |= {"k8s.label.example.com/team": team} if team else {}
            span = {"start_s": second, "end_s": second + hours * 3600}
            workloads.append(
                {
                    "source": "k",
                    "workload": name,
                    "run": name,
                    "outcome": "completed",
                    "labels": sorted(known.items()),
                    **span,
                }
            )
            usage.append(
                {
                    "source": "k",
                    "workload": name,
                    "meter": meter,
                    "resource": node,
                    "allocated": amount * METERS[meter].base // part,
                    **span,
                }
            )
            owner = "platform" if namespace == "kube-system" else team or namespace
            worth[owner] += Fraction(MONEY[group]) * Fraction(amount, part) * hours * 3600 / offered
            second += hours * 3600
    tables = {"usage": table("usage", usage), "workloads": table("workloads", workloads), "capacity": capacity()}
    return Delivery("k", OCTOBER, tables), worth


def propose(usage: Delivery) -> Proposal:
    return propose_cluster([usage], [bill()], ABOUT)


def sentences(found: Proposal, what: str) -> list[str]:
    return [one.text for one in found.findings if one.what == what]


@pytest.mark.parametrize("seed", [71, 72])
def test_the_proposed_policy_posts_what_use_is_worth(seed: int, tmp_path: Path) -> None:
    usage, worth = pods(seed)
    found = propose(usage)
    init(tmp_path, Wishes("mine", Period(2026, 1).first_day, "USD"), rules=found.policy)
    project = open_project(tmp_path)
    project.books.ingest(usage)
    project.books.ingest(bill())
    plan = compute(project, Period(2026, 10), load_policy(found.policy), pins_of(project)).plan
    posted: dict[str, Decimal] = defaultdict(Decimal)
    for row in plan.postings.to_pylist():
        if row["reason"] == "usage":
            posted[row["team"]] += row["amount"]
    assert set(posted) == set(worth)
    for owner, money in worth.items():
        assert abs(Fraction(posted[owner]) - money) < Fraction(1, 1000), owner
    assert not plan.problems


def test_pools_follow_the_groups_that_the_bill_tells_apart() -> None:
    found = propose(pods(73)[0])
    policy = load_policy(found.policy)
    assert not policy.warnings
    assert list(policy.pools) == ["a100", "a100-big", "compute", "rest"]
    assert (list(policy.pools["a100"].meter), list(policy.pools["compute"].meter)) == (["gpu"], ["cpu"])
    assert "costs: {tag.eks:nodegroup-name: a100}" in found.policy.replace(
        '"tag.eks:nodegroup-name"', "tag.eks:nodegroup-name"
    )
    assert sentences(found, "pools") == [f"3 groups of nodes by {GROUP}; the bill tells 2 of them apart"]


def test_coverage_is_stated_in_money() -> None:
    usage, worth = pods(74)
    found = propose(usage)
    owners = sentences(found, "owners")
    assert [text.split(" of ")[0].split(" gives")[0] for text in owners] == [
        "kube-system", "k8s.label.example.com/team", "k8s.namespace",
    ]  # fmt: skip
    stated = [Decimal(re.findall(r"([0-9,.]+) USD of", text)[0].replace(",", "")) for text in owners]
    by_hand = [worth["platform"], worth["vision"] + worth["speech"], worth["ns-a"] + worth["ns-b"]]
    for money, expected in zip(stated, by_hand, strict=True):
        assert abs(Fraction(money) - expected) < Fraction(1, 100)
    (idle,) = sentences(found, "idle")
    assert idle.startswith("capacity that nobody asked for is ")
    assert "of 17,500.00 USD" in idle


def test_what_kube_state_metrics_does_not_tell_is_named_with_its_flag() -> None:
    bare, _ = pods(75, labels=False)
    plain = Delivery("k", OCTOBER, {**bare.tables, "capacity": capacity(labelled=False)})
    (said,) = [one for one in propose(plain).findings if one.what == "kube-state-metrics"]
    assert said.text == "no pod and no namespace and no node has a label that could tell"
    assert "--metric-labels-allowlist=pods=[*],namespaces=[*],nodes=[*]" in said.fix
    policy = load_policy(propose(plain).policy)
    assert list(policy.pools) == ["compute", "rest"]
    assert [rule.team for rule in policy.owners] == ["platform", "{k8s.namespace}"]


def test_pools_without_capacity_are_shared_by_use() -> None:
    usage, _ = pods(76)
    found = propose(Delivery("k", OCTOBER, {name: rows for name, rows in usage.tables.items() if name != "capacity"}))
    policy = load_policy(found.policy)
    assert not policy.warnings
    assert policy.pools["compute"].method == "proportional"
    assert sentences(found, "capacity") == ["nobody states how much compute has: shared by use"]
    assert sentences(found, "idle") == []


@pytest.mark.parametrize(
    ("kind", "method"), [("", "proportional"), ("usage", "proportional"), ("slurm", "capacity_rate")]
)
def test_a_first_policy_shows_idle_where_a_source_states_capacity(kind: str, method: str, tmp_path: Path) -> None:
    init(tmp_path, Wishes("mine", Period(2026, 1).first_day, "USD"), [stanza_of(kind)] if kind else [])
    policy = load_policy((tmp_path / "policy.yaml").read_text("utf-8"))
    assert (policy.pools["gpu"].method, policy.warnings) == (method, ())


def test_without_any_tables_the_policy_is_still_valid() -> None:
    nothing = Delivery("k", Interval(0, 86_400), {})
    assert list(load_policy(propose_cluster([nothing], [], ABOUT).policy).pools) == ["compute", "rest"]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("k8s.label.team", "k8s.label.project"),
        ("k8s.label.example.com/cost-center", "k8s.label.user"),
        ("k8s.namespace_label.team", "k8s.label.app.kubernetes.io/name"),
        ("k8s.label.kueue.x-k8s.io/cluster-queue-name", "k8s.label.batch.kubernetes.io/job-name"),
    ],
)
def test_some_labels_name_owners_rather_than_others(better: str, worse: str) -> None:
    assert rank(better) < rank(worse)
