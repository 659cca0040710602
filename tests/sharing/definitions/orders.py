"""Enumerated: orders of arrival, groups of owners, levels that rise unit by unit."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import permutations
from math import ceil, factorial
from typing import Any

from tests.sharing.definitions.units import ZERO, Shares, below_capacity, by_tickets, scaled


def over_orders(players: Sequence[str], cost: Callable[[frozenset[str]], Fraction]) -> Shares:
    """The Shapley value as it was first written: what each adds, averaged over all orders of arrival."""
    known, values = cache(cost), dict.fromkeys(players, ZERO)
    for order in permutations(players):
        present: frozenset[str] = frozenset()
        for player in order:
            values[player] += known(present | {player}) - known(present)
            present |= {player}
    return {player: value / factorial(len(players)) for player, value in values.items()}


def airport_shapley(bill: int, given: Mapping[str, Any]) -> Shares:
    step = given["step"]
    peaks = {owner: Fraction(ceil(Fraction(peak, step)) * step) for owner, peak in given["peaks"].items()}
    values = over_orders(list(peaks), lambda group: max((peaks[o] for o in group), default=ZERO))
    return below_capacity(bill, values, max(peaks.values()), given)


def peak_shapley(bill: int, given: Mapping[str, Any]) -> Shares:
    series = given["series"]

    def peak(group: frozenset[str]) -> Fraction:
        return Fraction(max((sum(slot) for slot in zip(*(series[o] for o in group), strict=True)), default=0))

    return below_capacity(bill, over_orders(list(series), peak), peak(frozenset(series)), given)


def temporal_shapley(bill: int, given: Mapping[str, Any]) -> Shares:
    series = given["series"]
    totals = {str(slot): Fraction(sum(amounts)) for slot, amounts in enumerate(zip(*series.values(), strict=True))}
    values = over_orders(list(totals), lambda group: max((totals[s] for s in group), default=ZERO))
    worth = {slot: value * (totals[slot] if given["weighted"] else 1) for slot, value in values.items()}
    shares = dict.fromkeys(series, ZERO)
    for owner, row in series.items():
        for slot, amount in enumerate(row):
            shares[owner] += worth[str(slot)] * amount / (totals[str(slot)] or 1)
    return below_capacity(bill, shares, max(totals.values()), given)


def table_cost(given: Mapping[str, Any]) -> tuple[list[str], Callable[[frozenset[str]], Fraction]]:
    table = {frozenset(key.split("+")): Fraction(cost) for key, cost in given["coalition_cost"].items()}
    return sorted(frozenset().union(*table)), lambda group: table.get(group, ZERO)


def shapley_table(bill: int, given: Mapping[str, Any]) -> Shares:
    return at_bill(bill, over_orders(*table_cost(given)))


def incremental(bill: int, given: Mapping[str, Any]) -> Shares:
    _, cost = table_cost(given)
    groups = [frozenset(given["order"][:size]) for size in range(len(given["order"]) + 1)]
    return at_bill(bill, {o: cost(groups[n + 1]) - cost(groups[n]) for n, o in enumerate(given["order"])})


def scrb(bill: int, given: Mapping[str, Any]) -> Shares:
    """Separable costs first; then the joint rest, a ticket for every unit of benefit that remains."""
    players, cost = table_cost(given)
    everyone = frozenset(players)
    own = {o: cost(everyone) - cost(everyone - {o}) for o in players}
    worth = {o: cost(frozenset({o})) for o in players}
    if "benefits" in given:
        worth = {o: min(worth[o], Fraction(given["benefits"].get(o, 0))) for o in players}
    remaining = {o: worth[o] - own[o] if worth[o] > own[o] else ZERO for o in players}
    joint = by_tickets(cost(everyone) - sum(own.values(), ZERO), remaining, {})
    return at_bill(bill, {o: own.get(o, ZERO) + joint[o] for o in joint})


def at_bill(bill: int, values: Mapping[str, Fraction]) -> Shares:
    """A table that comes to nothing leaves the whole bill unallocated."""
    named = {owner: value for owner, value in values.items() if owner != "_unallocated"}
    return scaled(bill, values, {}) if sum(values.values()) else scaled(bill, dict.fromkeys(named, ZERO), {})


def serial(bill: int, given: Mapping[str, Any]) -> Shares:
    """A rising level: at each unit those who want more pay what the unit of all of them adds, in equal parts."""
    demand, total, shares = given["demand"], 0, dict.fromkeys(given["demand"], ZERO)
    for level in range(max(demand.values())):
        rising = [owner for owner, wanted in demand.items() if wanted > level]
        added = quantity_cost(given, total + len(rising)) - quantity_cost(given, total)
        total += len(rising)
        for owner in rising:
            shares[owner] += Fraction(added, len(rising))
    return scaled(bill, shares, given)


def quantity_cost(given: Mapping[str, Any], quantity: int) -> int:
    """Unit by unit; what is fixed is due with the first one."""
    if "tiers" not in given:
        prices = [2 * unit + 1 for unit in range(quantity)]  # odd numbers add up to the square
    else:
        prices = [next(p for upto, p in given["tiers"] if upto is None or unit < upto) for unit in range(quantity)]
    return sum(prices) + (given.get("fixed", 0) if quantity else 0)


def average_cost(bill: int, given: Mapping[str, Any]) -> Shares:
    """Every unit costs what units cost on average, so that the cost function only matters for the bill."""
    return by_tickets(bill, given["demand"], given)
