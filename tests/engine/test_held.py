"""Two views of what was charged: held and used, and the money of the difference."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from apportion.engine.backend import Backend
from apportion.engine.charges import charges_of
from apportion.engine.held import unit_of
from apportion.engine.plan import Plan, World, make_plan
from apportion.model.meters import METERS
from apportion.model.money import total_of
from apportion.model.times import parse_period
from apportion.policy.load import load_policy
from apportion.policy.pools import Pool
from tests.conftest import LONG
from tests.engine.golden_world import CASES, GOLDEN, read_world, rows_of
from tests.property.worlds import world as random_world

HELD = [case for case in CASES if (GOLDEN / case / "held.csv").exists()]
# Worlds in which some was held without use and counts as idle, under every rule, scope and slot, those of the long run once more; one
# in which the greater of both counts; and any others.
HOLDING = (61, 62, 63, 86, 96, 107, 112, 114, 164, 185, *((124, 152, 175, 179) if LONG else ()))
METHODS = ("capacity_rate", "proportional", "time", "rate_card", "temporal_shapley", "peak_shapley")
WORLDS = (*((seed, "capacity_rate") for seed in (*HOLDING, 6)), *enumerate(METHODS * (4 if LONG else 1)))
Key = tuple[str, ...]
QUANTITIES = ("held", "used", "unmeasured")


def rows_in(plan: Plan) -> list[dict[str, Any]]:
    return [row for batch in charges_of(plan) for row in batch.to_pylist()]


def hours(rows: Iterable[dict[str, Any]], name: str) -> Fraction | None:
    found = [Fraction(int(row[name]), int(row["per_unit"]) * 3600) for row in rows if row[name] is not None]
    return sum(found, Fraction(0)) if found else None


def money(rows: Iterable[dict[str, Any]], name: str) -> Fraction | None:
    found = [row[name] for row in rows if row[name] is not None]
    return Fraction(total_of(found)) if found else None


@pytest.mark.parametrize("case", HELD)
def test_held_used_and_waste_are_those_worked_out_by_hand(case: str, backend: Backend) -> None:
    by_work = defaultdict(list)
    for row in rows_in(make_plan(read_world(GOLDEN / case), backend)):
        by_work[row["workload"]].append(row)
    found = {
        name: [*(hours(rows, column) for column in QUANTITIES), money(rows, "amount"), money(rows, "waste")]
        for name, rows in by_work.items()
    }
    expected = {
        row["workload"]: [Fraction(row[name]) if row[name] else None for name in (*QUANTITIES, "charge", "waste")]
        for row in rows_of(GOLDEN / case / "held.csv")
    }
    assert found == expected


def test_slices_are_whole_fractions_of_a_gpu(backend: Backend) -> None:
    rows = rows_in(make_plan(read_world(GOLDEN / "slices"), backend))
    assert {row["workload"]: hours([row], "held") for row in rows} == {
        "vision-1": Fraction(3, 7),
        "speech-1": Fraction(1, 7),
        "bio-1": Fraction(1, 4),
    }


@pytest.mark.parametrize("case", ["flow-energy", "flow-network"])
def test_flows_have_no_two_views(case: str, backend: Backend) -> None:
    rows = rows_in(make_plan(read_world(GOLDEN / case), backend))
    assert rows
    assert {row[name] for row in rows for name in ("unit", *QUANTITIES, "waste")} == {None}


def test_several_meters_are_counted_by_their_weights(backend: Backend) -> None:
    plan = make_plan(read_world(GOLDEN / "meters-weighted"), backend)
    (pool,) = plan.trace.setting.policy.pools.values()
    unit = unit_of(pool)
    assert unit is not None
    assert [part.split()[1] for part in unit.name.split(" + ")] == [METERS[name].unit for name in pool.meter]
    assert {row["unit"] for row in rows_in(plan)} == {unit.name}


@pytest.fixture(scope="module")
def drawn(connected: Backend) -> list[tuple[Plan, list[dict[str, Any]]]]:
    """Random worlds with their charges."""
    found = []
    for seed, method in WORLDS:
        made = random_world(seed, size=3, methods=(method,))
        world = World(parse_period(made.period), made.policy, **made.tables(), previous=dict(made.previous))
        plan = make_plan(world, connected)
        found.append((plan, rows_in(plan)))
        connected.forget()
    return found


def beside_the_charge(pool: Pool) -> bool:
    return pool.method == "capacity_rate" and pool.driver.kind in ("used", "blend")


def test_random_worlds_waste_under_every_driver(drawn: list[tuple[Plan, list[dict[str, Any]]]]) -> None:
    wasted = {
        plan.trace.setting.policy.pools[row["pool"]].driver.kind for plan, rows in drawn for row in rows if row["waste"]
    }
    assert wasted == {"allocated", "used", "max", "blend"}


def test_waste_inside_a_charge_lies_between_nothing_and_all_of_it(
    drawn: list[tuple[Plan, list[dict[str, Any]]]],
) -> None:
    for plan, rows in drawn:
        for row in rows:
            wasted = row["waste"] or Decimal(0)
            if not beside_the_charge(plan.trace.setting.policy.pools[row["pool"]]):
                assert min(Decimal(0), row["amount"]) <= wasted <= max(Decimal(0), row["amount"])


def test_waste_beside_charges_for_use_is_the_idle_that_was_held(drawn: list[tuple[Plan, list[dict[str, Any]]]]) -> None:
    """By owner where the holders pay, else over the pool."""
    for plan, rows in drawn:
        pools = plan.trace.setting.policy.pools
        waste, held = defaultdict[Key, list[Decimal]](list), defaultdict[Key, list[Decimal]](list)
        for row in rows:
            if beside_the_charge(pools[row["pool"]]) and pools[row["pool"]].driver.kind == "used":
                waste[held_key(row, pools)].append(row["waste"] or Decimal(0))
        for row in plan.postings.to_pylist():
            if row["reason"] == "idle" and row["cause"] == "held" and held_key(row, pools) in waste:
                held[held_key(row, pools)].append(row["amount"])
        assert {key: total_of(found) for key, found in waste.items() if any(found)} == {
            key: total_of(found) for key, found in held.items()
        }


def held_key(row: dict[str, Any], pools: Mapping[str, Pool]) -> Key:
    owner = ("team", "project", "user") if pools[row["pool"]].idle["held"] == "holder" else ()
    return tuple(row[name] for name in ("bill", "component", "pool", *owner))


def test_quantities_stand_once_for_each_workload_pool_day_and_currency(
    drawn: list[tuple[Plan, list[dict[str, Any]]]],
) -> None:
    for plan, rows in drawn:
        currencies = plan.trace.setting.currencies
        counted = [row for row in rows if row["unit"] is not None]
        names = ("pool", "day", "team", "project", "user", "workload")
        seen = [(currencies.get(row["bill"]), *(row[name] for name in names)) for row in counted]
        assert len(seen) == len(set(seen))
        for row in counted:
            assert 0 <= row["unmeasured"] <= row["held"]
            assert (row["used"] is None) == (row["unmeasured"] == row["held"])


def test_hours_that_another_component_shares_again_are_named_apart() -> None:
    """The same GPU-hours may drive compute and licences: as one unit they would be counted twice."""
    text = (GOLDEN / "slices" / "policy.yaml").read_text(encoding="utf-8")
    again = '  seats: {costs: {ServiceName: Sim}, usage: {node: "*"}, meter: gpu, method: proportional, component: licence}\n'
    pools = load_policy(text + again).pools
    assert {name: unit.name for name, pool in pools.items() if (unit := unit_of(pool))} == {
        "gpus": "GPU",
        "seats": "GPU (licence)",
    }
