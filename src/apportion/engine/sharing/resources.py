"""Several resources under one bill: GPU, CPU and memory of a node, or the static and the dynamic part of its energy."""

from collections.abc import Mapping
from fractions import Fraction

from apportion.engine.sharing.capacity import VISIBLE, with_idle
from apportion.engine.sharing.given import Given, Shares, add, refuse, union
from apportion.engine.sharing.method import (
    ADDITIVITY,
    CORE,
    EFFICIENCY,
    FAIR,
    MONOTONE,
    NULL_PLAYER,
    RESPONSIVE,
    SPLIT_PROOF,
    STAND_ALONE,
    SYMMETRY,
    Method,
    case,
)
from apportion.engine.sharing.proportional import by_weight

ZERO = Fraction(0)


def fractions_used(
    table: Mapping[str, Mapping[str, Fraction]], capacity: Mapping[str, Fraction], named: str
) -> dict[str, Shares]:
    """Owner to resource to the part of its capacity that it used."""
    for resource in union(*table.values()):
        if resource not in capacity:
            refuse("unknown_resource", f"{resource!r} is used, but {named} does not have it", named)
        if capacity[resource] == 0 and any(used.get(resource) for used in table.values()):
            refuse("zero_capacity", f"{resource!r} is used, but {named} has none of it", named)
    return {
        owner: {resource: amount / capacity[resource] for resource, amount in used.items() if amount}
        for owner, used in table.items()
    }


def resource_weighted(given: Given) -> Shares:
    capacity, weights = given.amounts("capacity", "negative_amount"), given.amounts("weights", "negative_weight")
    used = fractions_used(given.table("usage"), capacity, "capacity")
    for resource in union(capacity, weights):
        if resource not in weights or resource not in capacity:
            missing = "weights" if resource in capacity else "capacity"
            refuse("missing_input", f"{missing} does not name {resource!r}", missing)
    whole = sum(weights.values(), ZERO)
    if whole == 0:
        refuse("out_of_range", "the weights must not all be 0", "weights")
    drivers = {
        owner: sum((weights[name] * part for name, part in parts.items()), ZERO) for owner, parts in used.items()
    }
    return with_idle(given, drivers, whole)


def dominant_share(given: Given) -> Shares:
    used = fractions_used(given.table("usage"), given.amounts("capacity", "negative_amount"), "capacity")
    return by_weight(
        given.bill, {owner: max(parts.values(), default=ZERO) for owner, parts in used.items()}, given.on_zero()
    )


def aumann_shapley_binding(given: Given) -> Shares:
    """Only resources that bind drive the number of nodes; where several bind they carry equal parts."""
    demand = given.table("demand")
    used = fractions_used(demand, given.amounts("node", "negative_amount"), "node")
    nodes = {
        resource: sum((parts.get(resource, ZERO) for parts in used.values()), ZERO)
        for resource in union(*used.values())
    }
    most = max(nodes.values(), default=ZERO)
    binding = [resource for resource, count in nodes.items() if count == most]
    weights = {owner: sum((parts.get(resource, ZERO) for resource in binding), ZERO) for owner, parts in used.items()}
    return by_weight(given.bill, weights, given.on_zero())


def energy_two_part(given: Given) -> Shares:
    static = given.bill * given.part("static_share")
    shares = by_weight(static, given.amounts("alloc_hours"), given.on_zero())
    for owner, share in by_weight(given.bill - static, given.amounts("dynamic_joules"), given.on_zero()).items():
        add(shares, owner, share)
    return shares


MIXED = {"capacity": {"cpu": 10, "mem": 10}, "usage": {"a": {"cpu": 4, "mem": 4}, "b": {"cpu": 4, "mem": 0}}}
NODE = {"gpu": 8, "cpu": 96, "mem": 768}

METHODS = (
    Method(
        name="resource_weighted",
        share=resource_weighted,
        reads=("capacity", "usage", "weights", "idle", "unused_reservation"),
        formula="u_i = sum_r w_r * u_ir / K_r; then capacity_rate with K = sum(w)",
        holds=(
            *FAIR,
            STAND_ALONE,
            CORE,
        ),
        breaks={},
        mind="the weights are somebody's judgement",
        choose="one price for a node with GPUs, CPUs and memory, by weights that are agreed",
        example={
            "bill_minor": 100000,
            "inputs": {
                "capacity": NODE,
                "usage": {"a": {"gpu": 4, "cpu": 24, "mem": 192}, "b": {"gpu": 2, "cpu": 48, "mem": 384}},
                "weights": {"gpu": 95, "cpu": 3, "mem": 2},
            },
        },
        idle=VISIBLE,
        policy="resource_weighted",
    ),
    Method(
        name="dominant_share",
        share=dominant_share,
        reads=("capacity", "usage", "on_zero"),
        formula="x_i = C * s_i / sum(s), s_i = max_r u_ir / K_r",
        holds=(
            EFFICIENCY,
            SYMMETRY,
            NULL_PLAYER,
            ADDITIVITY,
            MONOTONE,
        ),
        breaks={
            ADDITIVITY + " (across resources)": case(10000, **MIXED),
            SPLIT_PROOF + " (by resource)": case(10000, **MIXED),
            STAND_ALONE: case(10000, capacity={"cpu": 10}, usage={"a": {"cpu": 2}, "b": {"cpu": 3}}),
            CORE: case(10000, capacity={"cpu": 10}, usage={"a": {"cpu": 2}, "b": {"cpu": 3}}),
        },
        choose="one price for CPU, GPU and memory without weights to argue about",
        example={
            "bill_minor": 10000,
            "inputs": {
                "capacity": {"cpu": 9, "mem": 18},
                "usage": {"A": {"cpu": 3, "mem": 12}, "B": {"cpu": 6, "mem": 2}},
            },
        },
        policy="dominant_share",
    ),
    Method(
        name="aumann_shapley_binding",
        share=aumann_shapley_binding,
        reads=("demand", "node", "on_zero"),
        formula="price_r = integral of dC/dq_r along the ray to demand, C = nodes needed: the binding resources carry C in equal parts, each by demand",
        holds=(
            EFFICIENCY,
            SYMMETRY,
            NULL_PLAYER,
            ADDITIVITY,
            SPLIT_PROOF,
            STAND_ALONE,
            CORE,
        ),
        breaks={
            RESPONSIVE + " (of what does not bind)": case(
                10000, demand={"a": {"gpu": 4}, "b": {"cpu": 1}}, node={"gpu": 1, "cpu": 1}
            ),
            MONOTONE: case(
                6000, demand={"a": {"gpu": 4, "cpu": 0}, "b": {"gpu": 0, "cpu": 1}}, node={"gpu": 1, "cpu": 1}
            ),
        },
        choose="nodes are bought for the resource that runs out first",
        example={
            "bill_minor": 50000,
            "inputs": {
                "demand": {"train": {"gpu": 16, "cpu": 32}, "prep": {"gpu": 0, "cpu": 96}},
                "node": {"gpu": 8, "cpu": 64},
            },
        },
    ),
    Method(
        name="energy_two_part",
        share=energy_two_part,
        reads=("static_share", "alloc_hours", "dynamic_joules", "on_zero"),
        formula="x_i = s * C * h_i / sum(h) + (1 - s) * C * j_i / sum(j)",
        holds=(*FAIR,),
        breaks={},
        mind="joules carry the error of their meter",
        choose="power and carbon: what a node draws anyway by time held, the rest by joules",
        example={
            "bill_minor": 10000,
            "inputs": {
                "static_share": "0.3",
                "alloc_hours": {"a": 8, "b": 8, "c": 4},
                "dynamic_joules": {"a": 9000, "b": 1000, "c": 0},
            },
        },
        idle="inside the static part",
        burst="the dynamic part",
        policy="energy_two_part",
    ),
)
