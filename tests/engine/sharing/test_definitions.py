"""Closed forms against definitions, on random games with ties, zeros and unequal sizes."""

import random
from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from typing import Any

import pytest

from apportion.engine.sharing import METHODS, solve
from tests.engine.sharing import definitions

GAMES = 120
Game = tuple[dict[str, Any], dict[str, Any]]
Maker = Callable[[random.Random, list[str]], Game]


def numbers(chance: random.Random, names: list[str], most: int = 6) -> dict[str, int]:
    return {name: chance.choice([0, chance.randint(0, most), chance.randint(1, 2)]) for name in names}


def series(chance: random.Random, owners: list[str]) -> dict[str, Any]:
    slots = chance.randint(1, 4)
    return {"series": {owner: [chance.choice([0, 1, chance.randint(0, 5)]) for _ in range(slots)] for owner in owners}}


def series_with_weights(chance: random.Random, owners: list[str]) -> Game:
    inputs = series(chance, owners)
    slots = len(inputs["series"][owners[0]])
    return {}, {**inputs, "slot_weights": [chance.randint(0, 3) for _ in range(slots)]}


def places(chance: random.Random, owners: list[str]) -> Game:
    return {}, {"capacity": chance.randint(0, 20), "usage": numbers(chance, owners)}


def reservations(chance: random.Random, owners: list[str]) -> Game:
    """Sold up to the capacity, and used up to it."""
    reserved, usage = numbers(chance, owners), numbers(chance, owners)
    least = max(sum(reserved.values()), sum(usage.values()), 1)
    return {}, {"capacity": least + chance.randint(0, 5), "reserved": reserved, "usage": usage}


def demands(chance: random.Random, owners: list[str]) -> Game:
    tiers: dict[str, Any] = {"tiers": [[chance.randint(1, 5), chance.randint(1, 9)], [None, chance.randint(1, 9)]]}
    return {}, {"demand": numbers(chance, owners), **chance.choice([tiers, {"cost": "q^2"}])}


def coalitions(chance: random.Random, owners: list[str]) -> dict[str, Any]:
    groups = [group for size in range(1, len(owners) + 1) for group in combinations(owners, size)]
    return {"coalition_cost": {"+".join(group): chance.randint(len(group), 9 * len(group)) for group in groups}}


def benefits(chance: random.Random, owners: list[str]) -> Game:
    """Joining saves, so that there is a joint gain to share."""
    need = {owner: chance.randint(2, 9) for owner in owners}
    groups = [group for size in range(1, len(owners) + 1) for group in combinations(owners, size)]
    costs = {"+".join(group): 3 + sum(need[o] for o in group) for group in groups}
    return {}, {"coalition_cost": costs, "benefits": {owner: chance.randint(need[owner] + 1, 20) for owner in owners}}


def service_pools(chance: random.Random, owners: list[str]) -> Game:
    pools = ["P", "Q", "R"][: chance.randint(1, 3)]
    shares = {pool: {**numbers(chance, pools), **numbers(chance, owners), owners[0]: 1} for pool in pools}
    costs = numbers(chance, [*pools, *owners], 500)
    return {}, {"costs": costs, "shares": shares, "order": chance.sample(pools, len(pools))}


def resources(chance: random.Random, owners: list[str]) -> Game:
    usage = {owner: numbers(chance, ["gpu", "cpu"]) for owner in owners}
    capacity = {r: sum(used[r] for used in usage.values()) + chance.randint(1, 4) for r in ("gpu", "cpu")}
    inputs = {
        "usage": usage,
        "demand": usage,
        "capacity": capacity,
        "weights": {"gpu": chance.randint(1, 9), "cpu": chance.randint(0, 3)},
    }
    return {}, {**inputs, "node": {"gpu": chance.randint(1, 3), "cpu": chance.randint(1, 3)}}


def energy(chance: random.Random, owners: list[str]) -> Game:
    drivers = {"alloc_hours": numbers(chance, owners), "dynamic_joules": numbers(chance, owners[1:])}
    return {}, {**drivers, "static_share": f"0.{chance.randint(0, 9)}"}


def subsidies(chance: random.Random, owners: list[str]) -> Game:
    return {}, {
        "drivers": numbers(chance, owners),
        "subsidy_pct": {owner: chance.randint(0, 100) for owner in owners[1:]},
    }


def caps(chance: random.Random, owners: list[str]) -> Game:
    return {}, {"allocation": numbers(chance, owners, 900), "caps": numbers(chance, owners[1:], 900)}


MAKERS: dict[str, Maker] = {
    "proportional": lambda chance, owners: ({}, {"drivers": numbers(chance, owners)}),
    "capacity_rate": places,
    "two_part": reservations,
    "coincident_peak": lambda chance, owners: ({"k": chance.randint(1, 5)}, series(chance, owners)),
    "noncoincident_peak": lambda chance, owners: ({}, series(chance, owners)),
    "time_of_use": series_with_weights,
    "airport_shapley": lambda chance, owners: ({"step": chance.randint(1, 3)}, {"peaks": numbers(chance, owners)}),
    "peak_shapley": lambda chance, owners: ({}, series(chance, owners)),
    "temporal_shapley": lambda chance, owners: ({"weighted": chance.random() < 0.5}, series(chance, owners)),
    "serial": demands,
    "average_cost": demands,
    "shapley_table": lambda chance, owners: ({}, coalitions(chance, owners)),
    "incremental": lambda chance, owners: (
        {},
        {**coalitions(chance, owners), "order": chance.sample(owners, len(owners))},
    ),
    "scrb": benefits,
    "reciprocal": service_pools,
    "step_down": service_pools,
    "direct_method": service_pools,
    "resource_weighted": resources,
    "dominant_share": resources,
    "aumann_shapley_binding": resources,
    "energy_two_part": energy,
    "percent_subsidy": subsidies,
    "cap_and_sponsor": caps,
}
TRIVIAL = {"even", "fixed_weights", "max_request_usage", "blend", "rate_card", "floor", "smooth", "fx"}


def test_every_method_has_a_definition() -> None:
    assert set(MAKERS) | TRIVIAL == {name for name, method in METHODS.items() if method.share}


@pytest.mark.parametrize("name", MAKERS)
def test_closed_form_agrees_with_the_definition(name: str) -> None:
    chance = random.Random(f"{name} 1")
    define = getattr(definitions, name)
    charged = 0
    for _ in range(GAMES):
        owners = ["a", "b", "é", "B", "_x"][: chance.randint(2, 5)]
        params, inputs = MAKERS[name](chance, owners)
        fixed = inputs.get("costs") or inputs.get("allocation")
        bill = sum(fixed.values()) if fixed else chance.choice([1, 100, -700, chance.randint(-(10**6), 10**6)])
        solution = solve({"method": name, "bill_minor": bill, "params": params, "inputs": inputs})
        expected = definitions.drop_zero_system(define(bill, inputs, **params))
        assert definitions.drop_zero_system(solution.exact) == expected, (params, inputs)
        assert solution.minor == definitions.largest_remainder(bill, solution.exact)
        charged += any(share for owner, share in expected.items() if not owner.startswith("_"))
    assert charged > GAMES // 2


@pytest.mark.parametrize("bill", [0, 7, -7, 10**30])
def test_rounding_of_mixed_signs_keeps_to_the_bill_and_within_one_unit(bill: int) -> None:
    chance = random.Random(bill)
    for _ in range(GAMES):
        quantity = {owner: f"{chance.randint(0, 99)}/7" for owner in ("a", "b", "c")}
        solution = solve(
            {"method": "rate_card", "bill_minor": bill, "inputs": {"price_minor": "1/3", "quantity": quantity}}
        )
        assert sum(solution.minor.values()) == bill
        assert all(abs(solution.minor[owner] - share) < 1 for owner, share in solution.exact.items())
        assert solution.minor == definitions.largest_remainder(bill, solution.exact)


def test_rounding_breaks_ties_by_bytes_of_the_composed_name() -> None:
    decomposed = "e\u0301"  # its bytes begin with those of e, its composed form sorts after z
    solution = solve({"method": "proportional", "bill_minor": 1, "inputs": {"drivers": {decomposed: 1, "z": 1}}})
    assert solution.minor == {decomposed: 0, "z": 1}


def test_exact_peak_shapley_of_fourteen_owners() -> None:
    rows = {f"t{n:02d}": [int(slot == n) * (n + 1) for slot in range(14)] for n in range(14)}
    airport = solve(
        {
            "method": "airport_shapley",
            "bill_minor": 10**6,
            "inputs": {"peaks": {o: max(row) for o, row in rows.items()}},
        }
    )
    assert solve({"method": "peak_shapley", "bill_minor": 10**6, "inputs": {"series": rows}}).exact == airport.exact


def test_shares_do_not_depend_on_the_order_of_input() -> None:
    drivers = {"a": 3, "b": 1, "c": 2, "d": 1}
    forth = solve({"method": "proportional", "bill_minor": 101, "inputs": {"drivers": drivers}})
    back = solve({"method": "proportional", "bill_minor": 101, "inputs": {"drivers": dict(reversed(drivers.items()))}})
    assert list(forth.minor.items()) == list(back.minor.items())
    assert forth.exact["a"] == Fraction(303, 7)
