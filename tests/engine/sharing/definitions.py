"""Methods as their definitions say, unit by unit and order by order: slow, plain, and written without the engine."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import ceil, factorial
from typing import Any

Shares = dict[str, Fraction]
ZERO = Fraction(0)


def drop_zero_system(shares: Mapping[str, Fraction]) -> Shares:
    """System owners with nothing are a matter of form, not of money."""
    return {owner: share for owner, share in shares.items() if share or not owner.startswith("_")}


def over_orders(players: Sequence[str], cost: Callable[[frozenset[str]], Fraction]) -> Shares:
    """The Shapley value as it was first written: what each adds, averaged over all orders of arrival."""
    values = dict.fromkeys(players, ZERO)
    for order in permutations(players):
        present: frozenset[str] = frozenset()
        for player in order:
            values[player] += cost(present | {player}) - cost(present)
            present |= {player}
    return {player: value / factorial(len(players)) for player, value in values.items()}


def scaled(bill: int, values: Mapping[str, Fraction]) -> Shares:
    total = sum(values.values(), ZERO)
    if not total:
        return {**dict.fromkeys(values, ZERO), "_unallocated": Fraction(bill)}
    return {owner: bill * value / total for owner, value in values.items()}


def proportional(bill: int, inputs: Mapping[str, Any]) -> Shares:
    """A ticket for every unit; every ticket costs the same."""
    tickets = [owner for owner, units in inputs["drivers"].items() for _ in range(units)]
    shares = dict.fromkeys(inputs["drivers"], ZERO)
    for owner in tickets:
        shares[owner] += Fraction(bill, len(tickets))
    return shares if tickets else {**shares, "_unallocated": Fraction(bill)}


def capacity_rate(bill: int, inputs: Mapping[str, Any]) -> Shares:
    """Places in a row: those taken are paid by who sits there, the others are idle."""
    taken = [owner for owner, units in inputs["usage"].items() for _ in range(units)]
    places = taken + ["_idle"] * (inputs["capacity"] - len(taken))
    shares = dict.fromkeys([*inputs["usage"], "_idle"], ZERO)
    for owner in places or ["_idle"]:
        shares[owner] += Fraction(bill, len(places) or 1)
    return shares


def two_part(bill: int, inputs: Mapping[str, Any]) -> Shares:
    """Every place has a holder or is unsold; each burst unit takes an unsold place, else an equal part of every place left unused."""
    reserved, usage, capacity = inputs["reserved"], inputs["usage"], inputs["capacity"]
    owners = list(dict.fromkeys([*reserved, *usage]))
    unused = [o for o in owners for _ in range(max(0, reserved.get(o, 0) - usage.get(o, 0)))]
    bursts = [o for o in owners for _ in range(max(0, usage.get(o, 0) - reserved.get(o, 0)))]
    unsold = capacity - sum(reserved.values())
    price = Fraction(bill, capacity)
    shares = {owner: price * reserved.get(owner, 0) for owner in owners}
    for owner in bursts:
        shares[owner] += price
        if unsold:
            unsold -= 1
            continue
        for lender in unused:
            shares[lender] -= price / len(unused)
    return {**shares, "_idle": price * unsold}


def coincident_peak(bill: int, inputs: Mapping[str, Any], k: int) -> Shares:
    """Over all choices of k slots that hold as much as any other choice, on average."""
    series = inputs["series"]
    slots = range(len(next(iter(series.values()))))
    totals = [sum(row[slot] for row in series.values()) for slot in slots]
    choices = list(combinations(slots, min(k, len(slots))))
    most = max(sum(totals[slot] for slot in choice) for choice in choices)
    best = [choice for choice in choices if sum(totals[slot] for slot in choice) == most]
    return scaled(
        bill, {o: Fraction(sum(row[s] for choice in best for s in choice), len(best)) for o, row in series.items()}
    )


def noncoincident_peak(bill: int, inputs: Mapping[str, Any]) -> Shares:
    return scaled(bill, {owner: Fraction(max(row)) for owner, row in inputs["series"].items()})


def time_of_use(bill: int, inputs: Mapping[str, Any]) -> Shares:
    """A slot of weight w is w slots of weight 1."""
    long = {
        owner: [amount for amount, weight in zip(row, inputs["slot_weights"], strict=True) for _ in range(weight)]
        for owner, row in inputs["series"].items()
    }
    return scaled(bill, {owner: Fraction(sum(row)) for owner, row in long.items()})


def airport_shapley(bill: int, inputs: Mapping[str, Any], step: int = 1) -> Shares:
    peaks = {owner: ceil(Fraction(peak, step)) * step for owner, peak in inputs["peaks"].items()}
    return scaled(bill, over_orders(list(peaks), lambda group: Fraction(max((peaks[o] for o in group), default=0))))


def peak_shapley(bill: int, inputs: Mapping[str, Any]) -> Shares:
    series = inputs["series"]

    def peak(group: frozenset[str]) -> Fraction:
        return Fraction(max((sum(slot) for slot in zip(*(series[o] for o in group), strict=True)), default=0))

    return scaled(bill, over_orders(list(series), peak))


def temporal_shapley(bill: int, inputs: Mapping[str, Any], *, weighted: bool) -> Shares:
    series = inputs["series"]
    totals = {str(slot): sum(amounts) for slot, amounts in enumerate(zip(*series.values(), strict=True))}
    values = over_orders(list(totals), lambda group: Fraction(max((totals[s] for s in group), default=0)))
    worth = {slot: value * (totals[slot] if weighted else 1) for slot, value in values.items()}
    shares = dict.fromkeys(series, ZERO)
    for owner, row in series.items():
        for slot, amount in enumerate(row):
            shares[owner] += worth[str(slot)] * amount / (totals[str(slot)] or 1)
    return scaled(bill, shares)


def serial(bill: int, inputs: Mapping[str, Any]) -> Shares:
    """A rising level: at each unit those who want more pay what the unit of all of them adds, in equal parts."""
    demand, total, shares = inputs["demand"], 0, dict.fromkeys(inputs["demand"], ZERO)
    for level in range(max(demand.values(), default=0)):
        rising = [owner for owner, wanted in demand.items() if wanted > level]
        added = tier_cost(inputs, total + len(rising)) - tier_cost(inputs, total)
        total += len(rising)
        for owner in rising:
            shares[owner] += Fraction(added, len(rising))
    return scaled(bill, shares)


def tier_cost(inputs: Mapping[str, Any], quantity: int) -> int:
    if "tiers" not in inputs:
        return quantity**2
    price = [next(price for upto, price in inputs["tiers"] if upto is None or unit < upto) for unit in range(quantity)]
    return sum(price)


def average_cost(bill: int, inputs: Mapping[str, Any]) -> Shares:
    return proportional(bill, {"drivers": inputs["demand"]})


def table_cost(inputs: Mapping[str, Any]) -> Callable[[frozenset[str]], Fraction]:
    table = {frozenset(key.split("+")): Fraction(cost) for key, cost in inputs["coalition_cost"].items()}
    return lambda group: table.get(group, ZERO)


def shapley_table(bill: int, inputs: Mapping[str, Any]) -> Shares:
    players = sorted({player for key in inputs["coalition_cost"] for player in key.split("+")})
    return scaled(bill, over_orders(players, table_cost(inputs)))


def incremental(bill: int, inputs: Mapping[str, Any]) -> Shares:
    cost, order = table_cost(inputs), inputs["order"]
    return scaled(bill, {o: cost(frozenset(order[: n + 1])) - cost(frozenset(order[:n])) for n, o in enumerate(order)})


def scrb(bill: int, inputs: Mapping[str, Any]) -> Shares:
    cost, everyone = (
        table_cost(inputs),
        frozenset(player for key in inputs["coalition_cost"] for player in key.split("+")),
    )
    whole = cost(everyone)
    own = {o: whole - cost(everyone - {o}) for o in everyone}
    gain = {o: max(ZERO, min(Fraction(inputs["benefits"][o]), cost(frozenset({o}))) - own[o]) for o in everyone}
    joint = whole - sum(own.values(), ZERO)
    total = sum(gain.values(), ZERO)
    return {o: (own[o] + joint * gain[o] / total) * bill / whole for o in everyone}


def reciprocal(bill: int, inputs: Mapping[str, Any]) -> Shares:
    """Gross costs from the linear system by Cramer's rule, then on to those who pass nothing on."""
    pools, finals, part = split_parts(inputs)
    matrix = [
        [Fraction(i == j) - (part[p].get(q, ZERO) if i != j else ZERO) for j, p in enumerate(pools)]
        for i, q in enumerate(pools)
    ]
    costs = [Fraction(inputs["costs"].get(pool, 0)) for pool in pools]
    whole = determinant(matrix)
    gross = {
        pool: determinant([[*row[:n], costs[i], *row[n + 1 :]] for i, row in enumerate(matrix)]) / whole
        for n, pool in enumerate(pools)
    }
    return {f: inputs["costs"].get(f, 0) + sum((gross[p] * part[p].get(f, ZERO) for p in pools), ZERO) for f in finals}


def split_parts(inputs: Mapping[str, Any]) -> tuple[list[str], list[str], dict[str, Shares]]:
    pools = list(inputs["shares"])
    finals = sorted({*inputs["costs"], *(r for row in inputs["shares"].values() for r in row)} - set(pools))
    part = {}
    for pool, row in inputs["shares"].items():
        others = {receiver: weight for receiver, weight in row.items() if receiver != pool}
        part[pool] = {receiver: Fraction(weight, sum(others.values())) for receiver, weight in others.items()}
    return pools, finals, part


def determinant(matrix: Sequence[Sequence[Fraction]]) -> Fraction:
    if not matrix:
        return Fraction(1)
    minors = ([[*row[:n], *row[n + 1 :]] for row in matrix[1:]] for n in range(len(matrix)))
    return sum(((-1) ** n * matrix[0][n] * determinant(minor) for n, minor in enumerate(minors)), ZERO)


def step_down(bill: int, inputs: Mapping[str, Any]) -> Shares:
    held = {name: Fraction(cost) for name, cost in inputs["costs"].items()}
    for place, pool in enumerate(inputs["order"]):
        open_ = {r: w for r, w in inputs["shares"][pool].items() if r not in inputs["order"][: place + 1]}
        for receiver, weight in open_.items():
            held[receiver] = held.get(receiver, ZERO) + held[pool] * Fraction(weight, sum(open_.values()))
        del held[pool]
    return held


def direct_method(bill: int, inputs: Mapping[str, Any]) -> Shares:
    pools, finals, _ = split_parts(inputs)
    shares = {name: Fraction(inputs["costs"].get(name, 0)) for name in finals}
    for pool in pools:
        row = {r: w for r, w in inputs["shares"][pool].items() if r in finals}
        for receiver, weight in row.items():
            shares[receiver] += inputs["costs"].get(pool, 0) * Fraction(weight, sum(row.values()))
    return shares


def resource_weighted(bill: int, inputs: Mapping[str, Any]) -> Shares:
    """Each resource carries its part of the bill and is priced by the unit."""
    weights, capacity = inputs["weights"], inputs["capacity"]
    price = {r: Fraction(bill * weights[r], sum(weights.values()) * capacity[r]) for r in capacity}
    shares = {
        owner: sum((price[r] * units for r, units in used.items()), ZERO) for owner, used in inputs["usage"].items()
    }
    return {**shares, "_idle": bill - sum(shares.values(), ZERO)}


def dominant_share(bill: int, inputs: Mapping[str, Any]) -> Shares:
    capacity = inputs["capacity"]
    return scaled(
        bill, {o: max(Fraction(used[r], capacity[r]) for r in capacity) for o, used in inputs["usage"].items()}
    )


def aumann_shapley_binding(bill: int, inputs: Mapping[str, Any]) -> Shares:
    """The slope of the number of nodes belongs to the resource that binds; where several do, to each in turn."""
    node, demand = inputs["node"], inputs["demand"]
    nodes = {r: Fraction(sum(wanted[r] for wanted in demand.values()), node[r]) for r in node}
    binding = [r for r in node if nodes[r] == max(nodes.values())]
    if not any(nodes.values()):
        return scaled(bill, dict.fromkeys(demand, ZERO))
    return {
        o: sum((Fraction(bill, len(binding)) * wanted[r] / (nodes[r] * node[r]) for r in binding), ZERO)
        for o, wanted in demand.items()
    }


def energy_two_part(bill: int, inputs: Mapping[str, Any]) -> Shares:
    static = Fraction(inputs["static_share"])
    held, drawn = (proportional(bill, {"drivers": inputs[name]}) for name in ("alloc_hours", "dynamic_joules"))
    return {o: static * held.get(o, ZERO) + (1 - static) * drawn.get(o, ZERO) for o in {**held, **drawn}}


def cap_and_sponsor(bill: int, inputs: Mapping[str, Any]) -> Shares:
    spared = {o: max(0, money - inputs["caps"].get(o, money)) for o, money in inputs["allocation"].items()}
    return {
        **{o: Fraction(m - spared[o]) for o, m in inputs["allocation"].items()},
        "_sponsor": Fraction(sum(spared.values())),
    }


def percent_subsidy(bill: int, inputs: Mapping[str, Any]) -> Shares:
    before = proportional(bill, inputs)
    spared = {o: share * inputs["subsidy_pct"].get(o, 0) / 100 for o, share in before.items()}
    return {**{o: share - spared[o] for o, share in before.items()}, "_sponsor": sum(spared.values(), ZERO)}


def largest_remainder(bill: int, exact: Mapping[str, Fraction]) -> dict[str, int]:
    """Among all ways to round each share down or up to the bill: least total error, then the earliest names."""
    sign = -1 if bill < 0 else 1
    names = sorted(exact, key=str.encode)
    floors = {name: sign * exact[name] // 1 for name in names}
    missing = abs(bill) - sum(floors.values())

    def error(lucky: Sequence[str]) -> Fraction:
        return sum((abs(sign * exact[name] - floors[name] - (name in lucky)) for name in names), ZERO)

    best = min(
        combinations(names, missing), key=error
    )  # combinations come in the order of names, and min keeps the first
    return {name: sign * (floors[name] + (name in best)) for name in names}
