"""Random problems for every method: a few owners, small whole numbers, many ties and zeros, and every option that a method reads."""

import random
from collections.abc import Callable
from itertools import combinations
from typing import Any

Problem = dict[str, Any]
Given = dict[str, Any]
Maker = Callable[[random.Random, list[str]], Given]

OWNERS = ("a", "b", "é", "B", "_x", "c d")
PARAMS = {"k", "weighted", "step", "idle", "on_zero", "alpha", "lend_credit", "burst_rate", "burst_price_minor"}


def numbers(chance: random.Random, names: list[str], most: int = 6) -> dict[str, int]:
    return {name: chance.choice([0, chance.randint(0, most), chance.randint(1, 2)]) for name in names}


def some(chance: random.Random, **values: Any) -> Given:
    """Each of them, or not."""
    return {name: value for name, value in values.items() if chance.random() < 0.5}


def on_zero(chance: random.Random) -> Given:
    return some(chance, on_zero=chance.choice(["even", "unallocated"]))


def drivers(chance: random.Random, owners: list[str]) -> Given:
    classes = {
        "class_weights": {"gold": 3, "free": 0},
        "classes": dict.fromkeys(owners[1:3], "gold") | {owners[0]: "free"},
    }
    return {"drivers": numbers(chance, owners), **on_zero(chance), **chance.choice([{}, classes])}


def percents(chance: random.Random, owners: list[str]) -> Given:
    most = 100 // len(owners)
    return {"weights_pct": {owner: chance.choice([most, chance.randint(0, most)]) for owner in owners}}


def slots(chance: random.Random, owners: list[str]) -> Given:
    count = chance.randint(1, 5)
    rows = {owner: [chance.choice([0, 1, chance.randint(0, 5)]) for _ in range(count)] for owner in owners}
    return {"series": rows, **some(chance, capacity=chance.randint(0, 20)), **on_zero(chance)}


def weighted_slots(chance: random.Random, owners: list[str]) -> Given:
    given = slots(chance, owners)
    given.pop("capacity", None)
    return {**given, "slot_weights": [chance.randint(0, 3) for _ in given["series"][owners[0]]]}


def own_peaks(chance: random.Random, owners: list[str]) -> Given:
    capacity = some(chance, capacity=chance.randint(0, 20))
    return {"peaks": numbers(chance, owners), "step": chance.randint(1, 3), **capacity, **on_zero(chance)}


def idle_rule(chance: random.Random, owners: list[str]) -> Given:
    rule = chance.choice(["central", "proportional", "even", "reservation"])
    return {"idle": rule, "unused_reservation": numbers(chance, owners[1:])}


def capacity(chance: random.Random, owners: list[str]) -> Given:
    return {"capacity": chance.randint(0, 24), "usage": numbers(chance, owners), **idle_rule(chance, owners)}


def requests(chance: random.Random, owners: list[str]) -> Given:
    """With a capacity and a rule for what is idle, or without both."""
    given = {
        "request": numbers(chance, owners[1:]),
        "usage": numbers(chance, owners[:-1]),
        "alpha": f"{chance.randint(0, 4)}/4",
    }
    with_capacity = {"capacity": chance.randint(0, 24), **idle_rule(chance, owners)}
    return {**given, **chance.choice([with_capacity, on_zero(chance)])}


def reservations(chance: random.Random, owners: list[str]) -> Given:
    """Sold up to the capacity at most; used also beyond it."""
    reserved = numbers(chance, owners[:-1])
    price = {"burst_rate": "price", "burst_price_minor": chance.randint(0, 40)}
    return {
        "capacity": sum(reserved.values()) + chance.choice([0, chance.randint(0, 9)]),
        "reserved": reserved,
        "usage": numbers(chance, owners[1:]),
        **some(chance, lend_credit=chance.random() < 0.5),
        **chance.choice([{}, price]),
    }


def quantities(chance: random.Random, owners: list[str]) -> Given:
    return {"price_minor": chance.choice([0, 7, "2.5", "1/3"]), "quantity": numbers(chance, owners)}


def demands(chance: random.Random, owners: list[str]) -> Given:
    tiers: Given = {"tiers": [[chance.randint(1, 5), chance.randint(0, 9)], [None, chance.randint(1, 9)]]}
    cost = {**chance.choice([tiers, {"cost": "q^2"}]), **some(chance, fixed=chance.randint(0, 20))}
    return {"demand": numbers(chance, owners), **cost, **on_zero(chance)}


def groups(owners: list[str]) -> list[tuple[str, ...]]:
    return [group for size in range(1, len(owners) + 1) for group in combinations(owners, size)]


def coalitions(chance: random.Random, owners: list[str]) -> Given:
    """Any costs at all, or those of a cover: what a group needs beside a start that it shares, so that joining saves."""
    need = {owner: chance.randint(0, 9) for owner in owners}
    start, wild = chance.randint(0, 9), chance.random() < 0.5
    costs = {group: start + sum(need[o] for o in group) for group in groups(owners)}
    if wild:
        costs = {group: chance.randint(0, 9 * len(group)) for group in costs}
    return {"coalition_cost": {"+".join(group): cost for group, cost in costs.items()}}


def ordered(chance: random.Random, owners: list[str]) -> Given:
    return {**coalitions(chance, owners), "order": chance.sample(owners, len(owners))}


def benefits(chance: random.Random, owners: list[str]) -> Given:
    return {**coalitions(chance, owners), **some(chance, benefits=numbers(chance, owners[1:], 20))}


def service_pools(chance: random.Random, owners: list[str]) -> Given:
    pools = ["P", "Q", "R"][: chance.randint(1, 3)]
    shares = {pool: {**numbers(chance, pools), **numbers(chance, owners), owners[0]: 1} for pool in pools}
    costs = numbers(chance, [*pools, *owners], 500)
    return {"costs": costs, "shares": shares, "order": chance.sample(pools, len(pools))}


def resources(chance: random.Random, owners: list[str]) -> Given:
    usage = {owner: numbers(chance, ["gpu", "cpu"]) for owner in owners}
    node = {name: chance.randint(1, 3) for name in ("gpu", "cpu")}
    return {
        "usage": usage,
        "demand": usage,
        "node": node,
        "capacity": {"gpu": chance.randint(1, 20), "cpu": 12},
        **on_zero(chance),
    }


def weighted_resources(chance: random.Random, owners: list[str]) -> Given:
    weights = {"gpu": chance.randint(1, 9), "cpu": chance.randint(0, 3)}
    return {**resources(chance, owners), "weights": weights, **idle_rule(chance, owners)}


def energy(chance: random.Random, owners: list[str]) -> Given:
    both = {"alloc_hours": numbers(chance, owners), "dynamic_joules": numbers(chance, owners[1:])}
    return {**both, "static_share": f"0.{chance.randint(0, 9)}", **on_zero(chance)}


def starting_point(chance: random.Random, owners: list[str]) -> Given:
    return chance.choice([{"allocation": numbers(chance, owners, 900)}, drivers(chance, owners)])


def step(name: str, most: int = 900) -> Maker:
    """A step after a method: some owners have a limit, and one who has none of the money may have one too."""

    def make(chance: random.Random, owners: list[str]) -> Given:
        given = starting_point(chance, owners)
        given.pop("class_weights", None)
        given.pop("classes", None)
        return {
            **given,
            name: numbers(chance, [*owners[1:], "nobody"], most),
            "max_change_pct": chance.choice([0, 20, 150]),
        }

    return make


def currencies(chance: random.Random, owners: list[str]) -> Given:
    bill, report = chance.choice(["EUR", "JPY", "KWD"]), chance.choice(["USD", "JPY", "KWD"])
    rate = "1" if bill == report else chance.choice(["1.0877", "0.5", "152.37", "0.000001"])
    return {"bill_currency": bill, "report_currency": report, "rate": rate, **drivers(chance, owners)}


MAKERS: dict[str, Maker] = {
    "proportional": drivers,
    "even": lambda chance, owners: {"members": chance.sample(owners, len(owners))},
    "fixed_weights": percents,
    "capacity_rate": capacity,
    "max_request_usage": requests,
    "blend": requests,
    "two_part": reservations,
    "rate_card": quantities,
    "coincident_peak": lambda chance, owners: {**slots(chance, owners), "k": chance.randint(1, 5)},
    "noncoincident_peak": slots,
    "time_of_use": weighted_slots,
    "airport_shapley": own_peaks,
    "temporal_shapley": lambda chance, owners: {**slots(chance, owners), "weighted": chance.random() < 0.5},
    "peak_shapley": slots,
    "shapley_table": coalitions,
    "incremental": ordered,
    "scrb": benefits,
    "serial": demands,
    "average_cost": demands,
    "resource_weighted": weighted_resources,
    "dominant_share": resources,
    "aumann_shapley_binding": resources,
    "energy_two_part": energy,
    "reciprocal": service_pools,
    "step_down": service_pools,
    "direct_method": service_pools,
    "cap_and_sponsor": step("caps"),
    "percent_subsidy": step("subsidy_pct", 100),
    "floor": step("floors"),
    "smooth": step("previous"),
    "fx": currencies,
}


def problem(chance: random.Random, method: str, owners: list[str]) -> Problem:
    """As `split` takes it. Where the problem states money itself, the bill is its sum."""
    given = MAKERS[method](chance, owners)
    stated = given.get("costs") or given.get("allocation")
    bill = sum(stated.values()) if stated else chance.choice([0, 1, 100, -700, chance.randint(-(10**6), 10**6)])
    params = {name: value for name, value in given.items() if name in PARAMS}
    inputs = {name: value for name, value in given.items() if name not in PARAMS}
    return {"method": method, "bill_minor": bill, "params": params, "inputs": inputs}
