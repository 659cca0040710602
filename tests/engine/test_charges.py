"""Charges of workloads: inside what their owners' postings say, to the nano, and in the right proportions."""

from collections import defaultdict
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import pytest

from apportion.engine.backend import Backend
from apportion.engine.charges import charges_of
from apportion.engine.plan import Plan, World, make_plan
from apportion.engine.tallies import units_in
from apportion.model.rows import CHARGES
from apportion.model.times import parse_period
from apportion.policy.methods import PARTED, SERVICES
from tests.conftest import LONG
from tests.engine.golden_world import GOLDEN, read_world
from tests.property.worlds import World as Drawn
from tests.property.worlds import world as random_world

OF_WORK = ("proportional", "time", "capacity_rate", "rate_card", "two_part", *PARTED)
SHARED_BY_WORK = (
    "time-3-to-1", "weights-of-resources", "idle-slot-hour", "half-hour-zone", "scope-resource", "late-correction", "follow-whole-bill",
    "rate-card-with-a-bill", "free-hours", "driver-blend", "meters-weighted", "slices", "flow-energy", "storage-petabytes",
    "unowned-workload", "two-currencies", "two-components", "usage-by-team-over-a-change", "charges-beside-no-demand",
    "overcommitted-board", "overcommitted-board-without-resource-id", "overcommitted-board-grows", "overcommitted-board-price-list", "flow-network",
)  # fmt: skip
Key = tuple[object, ...]


def used(plan: Plan) -> dict[Key, Decimal]:
    """Usage postings of pools that work shares. Money that found no work at all has no workload to charge."""
    pools = plan.trace.setting.policy.pools
    sums: dict[Key, Decimal] = defaultdict(Decimal)
    for row in plan.postings.to_pylist():
        of_work = row["pool"] in pools and pools[row["pool"]].method in OF_WORK
        if of_work and row["reason"] in ("usage", "burst") and row["cause"] in ("", "no owner"):
            sums[key_of(row)] += row["amount"]
    return {key: amount for key, amount in sums.items() if amount}


def key_of(row: dict[str, object]) -> Key:
    return tuple(row[name] for name in ("bill", "component", "pool", "day", "team", "project", "user"))


def rows_of(plan: Plan) -> list[dict[str, Any]]:
    batches = list(charges_of(plan))
    assert all(batch.schema.equals(CHARGES) for batch in batches)
    return [row for batch in batches for row in batch.to_pylist()]


def charged(rows: Iterable[dict[str, Any]]) -> dict[Key, Decimal]:
    sums: dict[Key, Decimal] = defaultdict(Decimal)
    for row in rows:
        sums[key_of(row)] += row["amount"]
    return {key: amount for key, amount in sums.items() if amount}


def tallied(plan: Plan) -> dict[Key, int]:
    """Units without a look at single workloads, as a back-test counts them. Where nobody is charged, they have no price to be told of."""
    charging = {pool for _, _, pool, *_ in used(plan)}
    return {key: units for key, units in units_in(plan).items() if units and key[-1] in charging}


def counted(plan: Plan, rows: Iterable[dict[str, Any]]) -> dict[Key, int]:
    """The same by the charges themselves, of bills that are posted."""
    currencies = {row["bill"]: row["currency"] for row in plan.postings.select(["bill", "currency"]).to_pylist()}
    charging = {pool for _, _, pool, *_ in used(plan)}
    sums: dict[Key, int] = defaultdict(int)
    for row in rows:
        if row["bill"] in currencies and row["pool"] in charging:
            sums[currencies[row["bill"]], row["team"], row["pool"]] += int(row["unit_seconds"] or 0)
    return {key: units for key, units in sums.items() if units}


def of_workloads(case: str, backend: Backend) -> dict[str, Decimal]:
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for batch in charges_of(make_plan(read_world(GOLDEN / case), backend)):
        for row in batch.to_pylist():
            sums[row["workload"]] += row["amount"]
    return dict(sums)


@pytest.mark.parametrize("case", SHARED_BY_WORK)
def test_charges_add_up_to_the_postings_of_golden_worlds(case: str, backend: Backend) -> None:
    plan = make_plan(read_world(GOLDEN / case), backend)
    rows = rows_of(plan)
    assert charged(rows) == used(plan) != {}
    assert tallied(plan) == counted(plan, rows)


def shares_evenly(drawn: Drawn) -> bool:
    return any(pool.on_zero == "even" for pool in drawn.policy.pools.values())


@pytest.mark.parametrize("boards", [False, True], ids=["", "boards"])
@pytest.mark.parametrize("seed", range(60 if LONG else 6))
def test_charges_add_up_to_the_postings_of_random_worlds(seed: int, boards: bool, backend: Backend) -> None:
    drawn = random_world(seed, seed % 3, boards=boards)
    if shares_evenly(drawn):
        return  # a share of money that nobody used has no workload
    world = World(parse_period(drawn.period), drawn.policy, **drawn.tables(), previous=dict(drawn.previous))
    plan = make_plan(world, backend)
    rows = rows_of(plan)
    assert charged(rows) == used(plan)
    assert tallied(plan) == counted(plan, rows)


@pytest.mark.parametrize("method", ["two_part", *PARTED, *SERVICES])
@pytest.mark.parametrize("seed", range(1, 20) if LONG else (1, 4))
def test_charges_add_up_whatever_the_method(seed: int, method: str, backend: Backend) -> None:
    drawn = random_world(seed, seed % 3, (method,))
    if shares_evenly(drawn):
        return
    world = World(parse_period(drawn.period), drawn.policy, **drawn.tables(), previous=dict(drawn.previous))
    plan = make_plan(world, backend)
    rows = rows_of(plan)
    assert charged(rows) == used(plan)
    assert tallied(plan) == counted(plan, rows)


@pytest.mark.parametrize(
    ("case", "expected"),
    [
        ("charges-3-to-1", {"vision-ann-1": 30, "vision-ann-2": 10}),
        ("charges-at-two-prices", {"job-1": 8, "job-2": 2}),
        ("charges-of-nodes-by-time", {"vision-1": 30, "vision-2": 10}),
        ("charges-beside-no-demand", {"job-1": 10}),
        ("charges-without-resource-ids", {"vision-1": 30, "vision-2": 20}),
        ("charges-on-a-crowded-board", {"vision-ann-1": 6, "vision-ann-2": 6, "speech-1": 6}),
        ("owner-from-a-day", {"job-1": 100}),
        ("weights-reshare-used", {"vision-1": 15, "speech-1": 15}),
        ("flow-network", {"vision-1": 30, "speech-1": 10}),
        ("follow-account-and-service", {"vision-1": 78, "speech-1": 52}),
        ("charges-of-measures", {"a-1": 475, "a-2": Decimal("12.5")}),
        ("charges-of-energy", {"a-1": Decimal("22.5"), "a-2": Decimal("77.5")}),
        ("charges-of-the-dominant", {"a-1": 50, "a-2": 0, "b-1": 50}),
        ("two-part-burst-price", {"a-1": 20, "b-1": 40, "c-1": 90}),
    ],
)
def test_each_workload_owes_what_its_own_use_cost(case: str, expected: dict[str, int], backend: Backend) -> None:
    assert of_workloads(case, backend) == expected
