"""Shared boards: whatever was asked of a board, its users and its idle pay for it once, be there one price or one for each board."""

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.engine.backend import Backend
from apportion.engine.plan import World, make_plan
from apportion.model.meters import GPU
from apportion.model.rows import TABLES
from apportion.model.times import Period, parse_instant, zone_named
from apportion.policy.load import load_policy
from tests.conftest import LONG

START = parse_instant("2026-10-02T00:00:00Z", zone_named("UTC"))
HOUR = 3600
NANO = Fraction(1, 10**9)
PARTS = (7, 4, 8, 3, 10, 100, 1000)  # MIG, replicas, shards, MPS percents, milli-GPUs
POLICY = """
policy: boards
effective: 2026-10-01
currency: USD
time_zone: UTC
teams: {TEAMS}
owners:
  - {when: {team: "*"}, team: "{team}"}
pools:
  gpus: {costs: {ServiceName: EC2}, usage: {node: "*"}, meter: gpu, scope: SCOPE}
"""


@dataclass(frozen=True)
class Share:
    """Base units of a board from one hour until another."""

    units: int
    first: int
    last: int


shares = st.builds(
    lambda parts, taken, first, hours: Share(GPU * min(taken, parts) // parts, first, first + hours),
    st.sampled_from(PARTS), st.integers(1, 8), st.integers(0, 3), st.integers(1, 3),
)  # fmt: skip
boards = st.tuples(st.decimals("0.01", 50, places=2), st.lists(shares, max_size=6))


def world(found: list[tuple[Decimal, list[Share]]], scope: str, *, named: bool) -> World:
    """Board n is paid for six hours, on a line that may name it; each of its users is a team of its own."""
    spans = {"source": "test", "start_s": START, "end_s": START + 6 * HOUR}
    month = Period(2026, 10).interval(zone_named("UTC"))
    lines, capacity, usage, workloads = [], [], [], []
    for n, (money, held) in enumerate(found):
        lines.append({
            "source": "test", "line_id": str(n), "charge_start_s": START, "charge_end_s": START + 6 * HOUR, "billing_start_s": month.start_s,
            "billing_end_s": month.end_s, "component": "compute", "EffectiveCost": money, "BillingCurrency": "USD", "InvoiceIssuerName": "Cloud",
            "BillingAccountId": "1", "ChargeCategory": "Usage", "ServiceName": "EC2", "ResourceId": f"b{n}" if named else None, "Tags": [],
        })  # fmt: skip
        capacity.append(spans | {"resource": f"b{n}", "meter": "gpu", "amount": GPU, "state": "up", "labels": []})
        for m, share in enumerate(held):
            when = {"source": "test", "start_s": START + share.first * HOUR, "end_s": START + share.last * HOUR}
            job = {
                "workload": f"b{n}-{m}",
                "run": f"b{n}-{m}",
                "outcome": "completed",
                "labels": [("team", f"b{n}-{m}")],
            }
            usage.append(
                when | {"workload": job["workload"], "resource": f"b{n}", "meter": "gpu", "allocated": share.units}
            )
            workloads.append(when | job)
    teams = ", ".join(f"{job['workload']}: {{}}" for job in workloads)
    rows = {"cost_lines": lines, "usage": usage, "capacity": capacity, "workloads": workloads, "reservations": []}
    tables = {name: pa.Table.from_pylist(each, schema=TABLES[name]) for name, each in rows.items()}
    return World(
        Period(2026, 10), load_policy(POLICY.replace("TEAMS", teams).replace("SCOPE", scope), "policy.yaml"), **tables
    )


def asked(held: list[Share], hour: int) -> int:
    return sum(share.units for share in held if share.first <= hour < share.last)


def used(money: Fraction, held: list[Share]) -> Fraction:
    """Hour by hour, a sixth of a board's money each: the part that was asked for, at most all of it."""
    return sum((money / 6 * min(Fraction(asked(held, hour), GPU), Fraction(1)) for hour in range(6)), Fraction(0))


@pytest.mark.parametrize(
    ("scope", "named"), [("resource", True), ("resource", False), ("pool", True)], ids=["own", "unnamed", "one price"]
)
@settings(max_examples=300 if LONG else 8, deadline=None)
@given(found=st.lists(boards, min_size=1, max_size=3))
def test_a_board_is_paid_for_once(
    found: list[tuple[Decimal, list[Share]]], scope: str, named: bool, connected: Backend
) -> None:
    paid: dict[str, Fraction] = {}
    connected.forget()
    plan = make_plan(world(found, scope, named=named), connected)
    for row in plan.postings.to_pylist():
        board = row["team"].partition("-")[0]
        paid[board] = paid.get(board, Fraction(0)) + Fraction(row["amount"])
    whole = sum((Fraction(money) for money, _ in found), Fraction(0))
    assert sum(paid.values()) == whole, "teams and idle together are the bill"
    own = scope == "resource" and named
    worth = [Fraction(money) if own else whole / len(found) for money, _ in found]
    for n, (money, (_, held)) in enumerate(zip(worth, found, strict=True)):
        owed = paid.get(f"b{n}", Fraction(0))
        assert abs(owed - used(money, held)) <= NANO * max(len(held), 1), "by hand, to a nano for each user"
        assert owed <= money + NANO * len(held), "never more than the board"
    idle = sum((money - used(money, held) for money, (_, held) in zip(worth, found, strict=True)), Fraction(0))
    assert abs(paid.get("_idle", Fraction(0)) - idle) <= 6 * NANO * len(found)
    crowded = any(shared(held) and asked(held, hour) > GPU for _, held in found for hour in range(6))
    assert [problem.code for problem in plan.problems] == ["overcommitted-board"] * crowded


def shared(held: list[Share]) -> bool:
    return any(share.units % GPU for share in held)


def test_whole_boards_above_a_capacity_are_a_stale_inventory(backend: Backend) -> None:
    """What runs there counts as it was asked for, under one price."""
    found = [(Decimal(12), [Share(GPU, 0, 6), Share(GPU, 0, 6)]), (Decimal(12), [Share(GPU, 0, 6)])]
    plan = make_plan(world(found, "pool", named=True), backend)
    assert {row["team"]: row["amount"] for row in plan.postings.to_pylist()} == {"b0-0": 8, "b0-1": 8, "b1-0": 8}
    assert plan.problems == ()
