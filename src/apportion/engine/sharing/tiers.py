"""Where the cost is a function of the total: volume tiers and congestion."""

import re
from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from apportion.engine.sharing.given import Given, Shares, check_precision, read_least, read_list, refuse
from apportion.engine.sharing.method import (
    ADDITIVITY,
    CORE,
    EFFICIENCY,
    FAIR,
    MONOTONE,
    NULL_PLAYER,
    SHIELDING,
    SPLIT_PROOF,
    STAND_ALONE,
    SYMMETRY,
    Method,
    case,
)
from apportion.engine.sharing.proportional import by_weight

Cost = Callable[[Fraction], Fraction]
TERM = re.compile(
    r"(?:(?P<factor>[0-9][0-9./]*)\*?)?(?:(?P<power>q)(?:(?:\^|\*\*)(?P<exponent>[0-9]{1,2}))?)?", re.ASCII
)
LARGEST_POWER = 10
MOST_TERMS = 20
MOST_TIERS = 1_000
ZERO = Fraction(0)


def cost_function(given: Given) -> Cost:
    """`tiers`, or a polynomial such as `q^2` or `3*q + 2*q^2`. Nothing costs nothing; `fixed` is due with the first unit."""
    fixed = given.amount("fixed") if given.has("fixed") else ZERO
    varying = tier_cost(given) if given.has("tiers") else polynomial(given.need("cost"))

    def cost(quantity: Fraction) -> Fraction:
        return fixed + varying(quantity) if quantity else ZERO

    return cost


def polynomial(text: object) -> Cost:
    terms = text.replace(" ", "").split("+") if isinstance(text, str) else []
    found = [TERM.fullmatch(term) if term else None for term in terms[: MOST_TERMS + 1]]
    if not found or len(found) > MOST_TERMS or not all(found):
        refuse("invalid_cost", "cost must be a sum of powers of q, such as q^2 or 3*q + 2*q^2", "cost")
    powers: list[tuple[Fraction, int]] = []
    for term in found:
        factor, power, exponent = term.group("factor", "power", "exponent") if term else (None, None, None)
        degree = int(exponent or 1) if power else 0
        if degree > LARGEST_POWER:
            refuse("invalid_cost", f"cost has a power above {LARGEST_POWER}", "cost")
        powers.append((read_least(factor or "1", "cost", "negative_amount"), degree))
    return lambda quantity: sum((factor * quantity**degree for factor, degree in powers), ZERO)


def read_tiers(given: Given) -> list[tuple[Fraction | None, Fraction]]:
    tiers: list[tuple[Fraction | None, Fraction]] = []
    for tier in read_list(given.find("tiers"), "tiers"):
        if not isinstance(tier, list | tuple) or len(tier) != 2:
            refuse("invalid_tiers", "a tier is [up to, price of a unit]", "tiers")
        upto = None if tier[0] is None else read_least(tier[0], "tiers", "negative_amount")
        tiers.append((upto, read_least(tier[1], "tiers", "negative_amount")))
    bounds = [upto for upto, _ in tiers if upto is not None]
    closed = all(upto is not None for upto, _ in tiers[:-1])
    if not tiers or not closed or any(low >= high for low, high in pairwise([ZERO, *bounds])):
        refuse("invalid_tiers", "tiers must rise, and only the last one may be open (null)", "tiers")
    if len(tiers) > MOST_TIERS:
        refuse("too_large", f"there may be at most {MOST_TIERS} tiers", "tiers")
    check_precision((number for tier in tiers for number in tier if number is not None), "tiers")
    return tiers


def tier_cost(given: Given) -> Cost:
    """`[[100, 300], [null, 200]]`: 300 for each of the first 100 units, 200 for each one above."""
    tiers = read_tiers(given)
    starts, below = [ZERO], [ZERO]
    for upto, price in tiers[:-1]:
        below.append(below[-1] + price * ((upto or ZERO) - starts[-1]))
        starts.append(upto or ZERO)
    top = tiers[-1][0]

    def cost(quantity: Fraction) -> Fraction:
        if top is not None and quantity > top:
            refuse("invalid_tiers", "the demand is above the last tier; end with [null, price]", "tiers")
        tier = bisect_right(starts, quantity) - 1
        return below[tier] + tiers[tier][1] * (quantity - starts[tier])

    return cost


def serial(given: Given) -> Shares:
    """Moulin and Shenker: everybody uses as little as the smallest, then as the next one, and so on; who is still in a step pays an equal part of it."""
    demand, cost = given.amounts("demand"), cost_function(given)
    order = sorted(demand, key=lambda owner: demand[owner])
    values: Shares = {}
    value, before, used = ZERO, ZERO, ZERO
    for place, owner in enumerate(order):
        left = len(order) - place
        after = cost(used + left * demand[owner])
        value += (after - before) / left
        values[owner] = value
        used, before = used + demand[owner], after
    return by_weight(given.bill, {owner: values[owner] for owner in demand}, given.on_zero())


def average_cost(given: Given) -> Shares:
    demand = given.amounts("demand")
    if given.has("tiers") or given.has("cost"):
        cost_function(given)(sum(demand.values(), ZERO))
    return by_weight(given.bill, demand, given.on_zero())


METHODS = (
    Method(
        name="serial",
        share=serial,
        reads=("demand", "tiers", "cost", "fixed", "on_zero"),
        formula="sort demands; q^k = sum(q_j, j < k) + (n - k + 1) * q_k; x_i = sum over k <= i of (C(q^k) - C(q^(k-1))) / (n - k + 1)",
        holds=(
            EFFICIENCY,
            SYMMETRY,
            NULL_PLAYER,
            ADDITIVITY,
            SHIELDING,
        ),
        breaks={
            SPLIT_PROOF: case(9000, demand={"a": 1, "b": 2}, cost="q^2"),
            MONOTONE + " (at a fixed bill)": case(
                6000, demand={"a": 1, "b": 5}, tiers=[[5, 1], [None, 100]], fixed=100
            ),
            STAND_ALONE + " (where units get dearer)": case(6000, demand={"a": 1, "b": 1}, cost="q^2"),
            CORE + " (where units get dearer)": case(6000, demand={"a": 1, "b": 1}, cost="q^2"),
        },
        choose="congestion or tiers, where small teams need protection from big ones",
        example={
            "bill_minor": 46000,
            "inputs": {"tiers": [[100, 300], [None, 200]], "demand": {"a": 30, "b": 60, "c": 90}},
        },
        idle="does not arise",
        burst="by tier",
    ),
    Method(
        name="average_cost",
        share=average_cost,
        reads=("demand", "tiers", "cost", "fixed", "on_zero"),
        formula="x_i = C(Q) * q_i / Q",
        holds=(*FAIR,),
        breaks={
            SHIELDING: case(9, demand={"a": 1, "b": 2}, cost="q^2"),
            STAND_ALONE + " (where units get dearer)": case(6000, demand={"a": 1, "b": 1}, cost="q^2"),
            CORE + " (where units get dearer)": case(6000, demand={"a": 1, "b": 1}, cost="q^2"),
        },
        choose="tiers, and simplicity matters most",
        example={
            "bill_minor": 46000,
            "inputs": {"tiers": [[100, 300], [None, 200]], "demand": {"a": 30, "b": 60, "c": 90}},
        },
        idle="does not arise",
        burst="by tier, spread over everybody",
    ),
)
