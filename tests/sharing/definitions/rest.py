"""Several resources, pools that serve each other, and steps after a method."""

from collections.abc import Mapping, Sequence
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

from tests.sharing.definitions.units import ZERO, Shares, by_tickets, proportional, scaled, with_idle


def resource_weighted(bill: int, given: Mapping[str, Any]) -> Shares:
    """Each resource carries its part of the bill and is priced by the unit; no more than the bill is ever charged."""
    weights, capacity, usage = given["weights"], given["capacity"], given["usage"]
    whole = Fraction(bill, sum(weights.values()))
    price = {r: whole * weights[r] / capacity[r] for r in capacity}
    shares = {owner: sum((price[r] * units for r, units in used.items()), ZERO) for owner, used in usage.items()}
    if abs(sum(shares.values(), ZERO)) > abs(bill):
        shares, whole = scaled(bill, shares, given), ZERO
    return with_idle(bill, shares, whole, given)


def dominant_share(bill: int, given: Mapping[str, Any]) -> Shares:
    capacity = given["capacity"]
    parts = {o: [Fraction(used[r], capacity[r]) for r in capacity] for o, used in given["usage"].items()}
    return scaled(bill, {owner: max(fractions) for owner, fractions in parts.items()}, given)


def aumann_shapley_binding(bill: int, given: Mapping[str, Any]) -> Shares:
    """The slope of the number of nodes belongs to the resource that binds; where several do, to each in turn."""
    node, demand = given["node"], given["demand"]
    nodes = {r: Fraction(sum(wanted[r] for wanted in demand.values()), node[r]) for r in node}
    binding = [r for r in node if nodes[r] == max(nodes.values())]
    if not any(nodes.values()):
        return scaled(bill, dict.fromkeys(demand, ZERO), given)
    return {
        o: sum((Fraction(bill, len(binding)) * wanted[r] / (nodes[r] * node[r]) for r in binding), ZERO)
        for o, wanted in demand.items()
    }


def energy_two_part(bill: int, given: Mapping[str, Any]) -> Shares:
    """Two bills, each by its own tickets."""
    static = bill * Fraction(given["static_share"])
    held = by_tickets(static, given["alloc_hours"], given)
    drawn = by_tickets(bill - static, given["dynamic_joules"], given)
    return {owner: held.get(owner, ZERO) + drawn.get(owner, ZERO) for owner in {**held, **drawn}}


def reciprocal(bill: int, given: Mapping[str, Any]) -> Shares:
    """Gross costs from the linear system by Cramer's rule, then on to those who pass nothing on."""
    pools, finals, part = split_parts(given)
    matrix = [
        [Fraction(i == j) - (part[p].get(q, ZERO) if i != j else ZERO) for j, p in enumerate(pools)]
        for i, q in enumerate(pools)
    ]
    costs = [Fraction(given["costs"].get(pool, 0)) for pool in pools]
    whole = determinant(matrix)
    gross = {
        pool: determinant([[*row[:n], costs[i], *row[n + 1 :]] for i, row in enumerate(matrix)]) / whole
        for n, pool in enumerate(pools)
    }
    return {f: given["costs"].get(f, 0) + sum((gross[p] * part[p].get(f, ZERO) for p in pools), ZERO) for f in finals}


def split_parts(given: Mapping[str, Any]) -> tuple[list[str], list[str], dict[str, Shares]]:
    pools = list(given["shares"])
    finals = sorted({*given["costs"], *(r for row in given["shares"].values() for r in row)} - set(pools))
    part = {}
    for pool, row in given["shares"].items():
        others = {receiver: weight for receiver, weight in row.items() if receiver != pool}
        part[pool] = {receiver: Fraction(weight, sum(others.values())) for receiver, weight in others.items()}
    return pools, finals, part


def determinant(matrix: Sequence[Sequence[Fraction]]) -> Fraction:
    if not matrix:
        return Fraction(1)
    minors = ([[*row[:n], *row[n + 1 :]] for row in matrix[1:]] for n in range(len(matrix)))
    return sum(((-1) ** n * matrix[0][n] * determinant(minor) for n, minor in enumerate(minors)), ZERO)


def step_down(bill: int, given: Mapping[str, Any]) -> Shares:
    held = {name: Fraction(cost) for name, cost in given["costs"].items()}
    for place, pool in enumerate(given["order"]):
        still_open = {r: w for r, w in given["shares"][pool].items() if r not in given["order"][: place + 1]}
        for receiver, share in by_tickets(held.pop(pool), still_open, {}).items():
            held[receiver] = held.get(receiver, ZERO) + share
    return held


def direct_method(bill: int, given: Mapping[str, Any]) -> Shares:
    pools, finals, _ = split_parts(given)
    shares = {name: Fraction(given["costs"].get(name, 0)) for name in finals}
    for pool in pools:
        row = {r: w for r, w in given["shares"][pool].items() if r in finals}
        for receiver, weight in row.items():
            shares[receiver] += given["costs"].get(pool, 0) * Fraction(weight, sum(row.values()))
    return shares


def before(bill: int, given: Mapping[str, Any]) -> Shares:
    if "allocation" in given:
        return {owner: Fraction(money) for owner, money in given["allocation"].items()}
    return proportional(bill, given)


def balanced(shares: Mapping[str, Fraction], change: Mapping[str, Fraction], payer: str) -> Shares:
    """Whatever one gains, the payer loses."""
    after = {owner: share + change.get(owner, ZERO) for owner, share in shares.items()}
    return {**after, payer: -sum(change.values(), ZERO)}


def cap_and_sponsor(bill: int, given: Mapping[str, Any]) -> Shares:
    shares = before(bill, given)
    over = {o: shares[o] - cap for o, cap in given["caps"].items() if o in shares and shares[o] > cap}
    return balanced(shares, {owner: -excess for owner, excess in over.items()}, "_sponsor")


def percent_subsidy(bill: int, given: Mapping[str, Any]) -> Shares:
    shares = before(bill, given)
    spared = {o: shares[o] / 100 * percent for o, percent in given["subsidy_pct"].items() if o in shares}
    return balanced(shares, {owner: -money for owner, money in spared.items()}, "_sponsor")


def floor(bill: int, given: Mapping[str, Any]) -> Shares:
    """Whoever is named has a floor, with a share or without."""
    shares = {**dict.fromkeys(given["floors"], Fraction(0)), **before(bill, given)}
    lacking = {o: least - shares[o] for o, least in given["floors"].items() if shares[o] < least}
    return balanced(shares, lacking, "_residual")


def smooth(bill: int, given: Mapping[str, Any]) -> Shares:
    """The middle one of: the lowest that is allowed, the share, the highest that is allowed; also of whoever has no share now."""
    shares = {**dict.fromkeys(given["previous"], Fraction(0)), **before(bill, given)}
    part = Fraction(given["max_change_pct"], 100)
    known = {o: Fraction(last) for o, last in given["previous"].items()}
    middle = {o: sorted((last * (1 - part), shares[o], last * (1 + part)))[1] for o, last in known.items()}
    return balanced(shares, {owner: kept - shares[owner] for owner, kept in middle.items()}, "_sponsor")


MINOR = {"JPY": 1, "EUR": 100, "USD": 100, "KWD": 1000}


def fx(bill: int, given: Mapping[str, Any]) -> Shares:
    """Major units, times the rate, to the nearest minor unit of the other currency; then as drivers say."""
    major = Decimal(bill) / MINOR[given["bill_currency"]]
    converted = major * Decimal(given["rate"]) * MINOR[given["report_currency"]]
    return proportional(int(converted.to_integral_value(ROUND_HALF_UP)), given)
