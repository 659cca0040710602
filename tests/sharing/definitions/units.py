"""Counted: a ticket for every unit, a place for every unit of capacity, a slot for every hour."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import Any

Shares = dict[str, Fraction]
ZERO = Fraction(0)


def by_tickets(
    bill: Fraction | int, tickets: Mapping[str, Fraction] | Mapping[str, int], given: Mapping[str, Any]
) -> Shares:
    """A ticket for every unit, or part of one; every ticket costs the same. Without any, `on_zero` says who pays."""
    unit = lcm(*(amount.denominator for amount in tickets.values()))
    payers = [owner for owner, amount in tickets.items() for _ in range(int(amount * unit))]
    payers = payers or (list(tickets) if given.get("on_zero") == "even" else ["_unallocated"])
    shares = dict.fromkeys([*tickets, *payers], ZERO)
    for owner in payers:
        shares[owner] += Fraction(bill, len(payers))
    return shares


def scaled(bill: Fraction | int, values: Mapping[str, Fraction], given: Mapping[str, Any]) -> Shares:
    """Values, of which some may be negative, enlarged or reduced until they add up to the bill."""
    total = sum(values.values(), ZERO)
    nothing = dict.fromkeys(values, ZERO)
    return {o: bill * value / total for o, value in values.items()} if total else by_tickets(bill, nothing, given)


def below_capacity(bill: int, values: Mapping[str, Fraction], peak: Fraction, given: Mapping[str, Any]) -> Shares:
    """Places up to the capacity: those above the peak are nobody's, the others are paid by value."""
    if "capacity" not in given:
        return scaled(bill, values, given)
    if not peak:
        return {**dict.fromkeys(values, ZERO), "_idle": Fraction(bill)}
    places = max(peak, Fraction(given["capacity"]))
    empty = bill * (places - peak) / places
    return {**scaled(bill - empty, values, given), "_idle": empty}


def even(bill: int, given: Mapping[str, Any]) -> Shares:
    return by_tickets(bill, dict.fromkeys(given["members"], 1), given)


def fixed_weights(bill: int, given: Mapping[str, Any]) -> Shares:
    """A hundred tickets; those that nobody holds stay unallocated."""
    sold = given["weights_pct"]
    return by_tickets(bill, {**sold, "_unallocated": 100 - sum(sold.values())}, given)


def proportional(bill: int, given: Mapping[str, Any]) -> Shares:
    """A unit of a class of weight w is w units."""
    weights, classes = given.get("class_weights", {}), given.get("classes", {})
    return by_tickets(bill, {o: units * weights.get(classes.get(o), 1) for o, units in given["drivers"].items()}, given)


def capacity_rate(bill: int, given: Mapping[str, Any]) -> Shares:
    return places(bill, {owner: Fraction(units) for owner, units in given["usage"].items()}, given)


def places(bill: int, usage: Mapping[str, Fraction], given: Mapping[str, Any]) -> Shares:
    """Places in a row: those taken are paid by who sits there, the others are idle."""
    unit = lcm(*(amount.denominator for amount in usage.values()))
    taken = [owner for owner, amount in usage.items() for _ in range(int(amount * unit))]
    row = taken + [""] * (given["capacity"] * unit - len(taken))
    shares = dict.fromkeys(usage, ZERO)
    for owner in taken:
        shares[owner] += Fraction(bill, len(row))
    return with_idle(bill, shares, Fraction(bill * unit, len(row)) if row else ZERO, given)


def with_idle(bill: int, shares: Shares, price: Fraction, given: Mapping[str, Any]) -> Shares:
    """What is left of the bill goes to whom the rule names, reserved units at their price while money is left."""
    left = bill - sum(shares.values(), ZERO)
    rule = given.get("idle", "central")
    dues = {"_idle": left}
    if rule == "proportional" and any(shares.values()):
        dues = scaled(left, shares, given)
    if rule == "even" and any(shares.values()):
        dues = by_tickets(left, {owner: 1 for owner, share in shares.items() if share}, given)
    if rule == "reservation":
        dues = {holder: price * units for holder, units in given["unused_reservation"].items()}
        spare = left - sum(dues.values(), ZERO)
        too_much = abs(left - spare) > abs(left)
        dues = scaled(left, dues, given) if too_much else {**dues, "_idle": spare}
    return {owner: shares.get(owner, ZERO) + dues.get(owner, ZERO) for owner in {**shares, **dues}}


def driven(bill: int, drivers: Mapping[str, Fraction], given: Mapping[str, Any]) -> Shares:
    return (places if "capacity" in given else by_tickets)(bill, drivers, given)


def max_request_usage(bill: int, given: Mapping[str, Any]) -> Shares:
    """The nth unit counts if it was asked for or used."""
    request, usage = given["request"], given["usage"]
    counted = {o: {*range(request.get(o, 0)), *range(usage.get(o, 0))} for o in {**request, **usage}}
    return driven(bill, {owner: Fraction(len(units)) for owner, units in counted.items()}, given)


def blend(bill: int, given: Mapping[str, Any]) -> Shares:
    """With alpha = p/q: p tickets for every unit asked for, q - p for every unit used, each a qth of a unit."""
    asked, of = Fraction(given["alpha"]).as_integer_ratio()
    request, usage = given["request"], given["usage"]
    tickets = {o: asked * request.get(o, 0) + (of - asked) * usage.get(o, 0) for o in {**request, **usage}}
    return driven(bill, {owner: Fraction(count, of) for owner, count in tickets.items()}, given)


def two_part(bill: int, given: Mapping[str, Any]) -> Shares:
    """Each burst unit takes an unsold place, else one that its holder left unused, else one that has to be added."""
    reserved, usage, capacity = given["reserved"], given["usage"], given["capacity"]
    owners = {**reserved, **usage}
    unused = [o for o in owners for _ in range(max(0, reserved.get(o, 0) - usage.get(o, 0)))]
    bursts = [o for o in owners for _ in range(max(0, usage.get(o, 0) - reserved.get(o, 0)))]
    unsold = capacity - sum(reserved.values())
    found = ["unsold"] * unsold + ["lent"] * len(unused) + ["added"] * len(bursts)
    taken = found[: len(bursts)]
    price = Fraction(bill, capacity + taken.count("added") or 1)
    fee = Fraction(given["burst_price_minor"]) if given.get("burst_rate") == "price" else price
    shares = {owner: price * reserved.get(owner, 0) for owner in owners}
    for owner in bursts:
        shares[owner] += fee
    for lender in unused if given.get("lend_credit", True) else []:
        shares[lender] -= fee * taken.count("lent") / len(unused)
    idle = price * (unsold - taken.count("unsold")) if capacity or bursts else Fraction(bill)
    return {**shares, "_idle": idle, "_residual": bill - idle - sum(shares.values(), ZERO)}


def rate_card(bill: int, given: Mapping[str, Any]) -> Shares:
    """Unit after unit at the list price; the residual is what the bill still lacks."""
    price, left, shares = Fraction(given["price_minor"]), Fraction(bill), dict.fromkeys(given["quantity"], ZERO)
    for owner in [owner for owner, units in given["quantity"].items() for _ in range(units)]:
        shares[owner] += price
        left -= price
    return {**shares, "_residual": left}


def coincident_peak(bill: int, given: Mapping[str, Any]) -> Shares:
    """Over all choices of k slots that hold as much as any other choice, on average."""
    series = given["series"]
    slots = range(len(next(iter(series.values()))))
    totals = [sum(row[slot] for row in series.values()) for slot in slots]
    choices = list(combinations(slots, min(given["k"], len(slots))))
    most = max(sum(totals[slot] for slot in choice) for choice in choices)
    best = [choice for choice in choices if sum(totals[slot] for slot in choice) == most]
    values = {o: Fraction(sum(row[s] for choice in best for s in choice), len(best)) for o, row in series.items()}
    return below_capacity(bill, values, Fraction(max(totals)), given)


def noncoincident_peak(bill: int, given: Mapping[str, Any]) -> Shares:
    """A house for each by itself, as many storeys high as its series ever reaches."""
    storeys = {o: Fraction(sum(any(d > n for d in row) for n in range(sum(row)))) for o, row in given["series"].items()}
    return below_capacity(bill, storeys, sum(storeys.values(), ZERO), given)


def time_of_use(bill: int, given: Mapping[str, Any]) -> Shares:
    """A slot of weight w is w slots of weight 1."""
    long = {
        owner: [amount for amount, weight in zip(row, given["slot_weights"], strict=True) for _ in range(weight)]
        for owner, row in given["series"].items()
    }
    return by_tickets(bill, {owner: sum(row) for owner, row in long.items()}, given)
