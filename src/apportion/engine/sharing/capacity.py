"""Over what was paid for: idle, reservations and price lists made visible."""

from collections.abc import Mapping
from fractions import Fraction

from apportion.engine.sharing.given import IDLE, RESIDUAL, Given, Shares, add, refuse, union
from apportion.engine.sharing.method import (
    ADDITIVITY,
    CORE,
    EFFICIENCY,
    FORESIGHT,
    MONOTONE,
    NULL_PLAYER,
    RESPONSIVE,
    SPLIT_PROOF,
    STAND_ALONE,
    SYMMETRY,
    TIME_SHIFT,
    TIME_SPLIT,
    Method,
    case,
)
from apportion.engine.sharing.proportional import by_weight

IDLE_RULES = ("central", "proportional", "even", "reservation")
ZERO = Fraction(0)


def with_idle(given: Given, usage: Mapping[str, Fraction], capacity: Fraction) -> Shares:
    """The rate of the capacity for what was used; the problem's `idle` rule for the rest. Demand above capacity lowers the rate: idle is never negative."""
    demand = sum(usage.values(), ZERO)
    units = max(capacity, demand)
    price = given.bill / units if units else ZERO
    shares = {owner: price * amount for owner, amount in usage.items()}
    idle = given.bill - price * demand
    rule = given.choice("idle", IDLE_RULES)
    if rule == "proportional" and demand:
        return by_weight(given.bill, usage)
    users = {owner for owner, amount in usage.items() if amount}
    if rule == "even" and users:
        return {owner: share + (idle / len(users) if owner in users else 0) for owner, share in shares.items()}
    if rule == "reservation":
        unused = given.amounts("unused_reservation")
        held = sum(unused.values(), ZERO)
        # Where others ran on reserved capacity it was not idle: holders pay for what really was.
        really = min(Fraction(1), (units - demand) / held) if held else ZERO
        for holder, amount in unused.items():
            add(shares, holder, price * amount * really)
        idle -= price * held * really
    add(shares, IDLE, idle)
    return shares


def capacity_rate(given: Given) -> Shares:
    return with_idle(given, given.amounts("usage"), given.amount("capacity"))


def max_request_usage(given: Given) -> Shares:
    return driven(given, larger_drivers(given))


def larger_drivers(given: Given) -> Shares:
    request, usage = given.amounts("request"), given.amounts("usage")
    return {owner: max(request.get(owner, ZERO), usage.get(owner, ZERO)) for owner in union(request, usage)}


def blend(given: Given) -> Shares:
    return driven(given, blended_drivers(given))


def blended_drivers(given: Given) -> Shares:
    request, usage, alpha = given.amounts("request"), given.amounts("usage"), given.part("alpha")
    return {
        owner: alpha * request.get(owner, ZERO) + (1 - alpha) * usage.get(owner, ZERO)
        for owner in union(request, usage)
    }


def driven(given: Given, drivers: Mapping[str, Fraction]) -> Shares:
    """With a capacity idle is shown; without one the drivers share everything."""
    if given.has("capacity"):
        return with_idle(given, drivers, given.amount("capacity"))
    return by_weight(given.bill, drivers, given.on_zero())


def two_part(given: Given) -> Shares:
    """Bursts take unsold capacity first, then what holders left unused; those are credited for what they lent."""
    capacity, reserved, usage = given.amount("capacity"), given.amounts("reserved"), given.amounts("usage")
    sold = sum(reserved.values(), ZERO)
    if sold > capacity:
        refuse("oversold_reservations", "the reservations add up to more than the capacity", "reserved")
    owners = union(reserved, usage)
    over = {owner: usage.get(owner, ZERO) - reserved.get(owner, ZERO) for owner in owners}
    burst = sum((amount for amount in over.values() if amount > 0), ZERO)
    unused = -sum((amount for amount in over.values() if amount < 0), ZERO)
    lent = min(max(ZERO, burst - (capacity - sold)), unused)
    units = max(capacity, sold + burst - lent)
    rate = given.bill / units if units else ZERO
    priced = given.choice("burst_rate", ("cost", "price")) == "price"
    burst_rate = given.amount("burst_price_minor") if priced else rate
    credited = given.flag("lend_credit", default=True)
    credit = burst_rate * lent / unused if credited and lent else ZERO
    shares = {
        owner: rate * reserved.get(owner, ZERO) + burst_rate * max(ZERO, over[owner]) + credit * min(ZERO, over[owner])
        for owner in owners
    }
    charged = sum(shares.values(), ZERO)
    idle = rate * (units - sold - burst + lent) if units else Fraction(given.bill)
    add(shares, IDLE, idle)
    if priced or not credited:
        add(shares, RESIDUAL, given.bill - charged - idle)
    return shares


def rate_card(given: Given) -> Shares:
    price = given.amount("price_minor")
    shares = {owner: price * amount for owner, amount in given.amounts("quantity").items()}
    add(shares, RESIDUAL, given.bill - sum(shares.values(), ZERO))
    return shares


VISIBLE = "shown: to _idle (central), over users (proportional), in equal parts over who used it (even), or to who held it unused (reservation)"
ASKING = (EFFICIENCY, SYMMETRY, ADDITIVITY, MONOTONE, SPLIT_PROOF)
ASKED_AND_USED = {
    "request": {"a": 2, "b": 1},
    "usage": {"a": 2, "b": 1},
    "series": {"a": [1, 1], "b": [0, 1]},
}

METHODS = (
    Method(
        name="capacity_rate",
        share=capacity_rate,
        reads=("capacity", "usage", "idle", "unused_reservation"),
        formula="x_i = C * u_i / max(K, sum(u)); the rest is idle",
        holds=(*ASKING, NULL_PLAYER, TIME_SPLIT, TIME_SHIFT, STAND_ALONE, CORE),
        breaks={
            NULL_PLAYER + " (where idle goes to who reserved it)": case(
                10000, idle="reservation", capacity=10, usage={"a": 4, "b": 0}, unused_reservation={"b": 3}
            ),
        },
        mind="in a policy, even idle goes over the teams that used the pool in the period, wherever the money lies: of 90 for the morning a used "
        "half, b ran in the afternoon, and they pay 67.50 and 22.50; with scope: resource a node that nobody used keeps its money as idle: of "
        "n1 at 100 and n2 at 900, a, who holds half of n1, pays 50, and 950 are idle",
        choose="the default of a new policy: nobody pays for what others left idle, and idle has a line of its own",
        example={
            "bill_minor": 10000,
            "params": {"idle": "central"},
            "inputs": {"capacity": 100, "usage": {"nlp": 30, "vision": 20}},
        },
        idle=VISIBLE,
        reservation="idle: reservation charges holders for what they left unused, scaled down to what was really idle",
        policy="capacity_rate",
    ),
    Method(
        name="max_request_usage",
        share=max_request_usage,
        reads=("request", "usage", "capacity", "idle", "unused_reservation", "on_zero"),
        formula="capacity_rate with u_i = max(request_i, usage_i)",
        holds=ASKING,
        breaks={
            RESPONSIVE + " (below the request)": case(10000, request={"a": 8, "b": 2}, usage={"a": 2, "b": 2}),
            NULL_PLAYER + " (a request is paid, used or not)": case(10000, request={"a": 8}, usage={"a": 0, "b": 2}),
            STAND_ALONE + " (without a capacity)": case(6000, **ASKED_AND_USED),
            CORE + " (without a capacity)": case(6000, **ASKED_AND_USED),
        },
        mind="in a policy, an empty amount is not stated, and not 0: a holds 100 and uses 50, b states 100 used alone, and of 200 each pays 100",
        choose="over-requesting is the problem: whoever blocks capacity pays for it",
        example={
            "bill_minor": 10000,
            "inputs": {"capacity": 100, "request": {"nlp": 80, "vision": 10}, "usage": {"nlp": 20, "vision": 15}},
        },
        idle=VISIBLE,
        burst="usage above the request pays as usage",
        reservation="a request acts as one",
        policy="driver: max",
    ),
    Method(
        name="blend",
        share=blend,
        reads=("request", "usage", "alpha", "capacity", "idle", "unused_reservation", "on_zero"),
        formula="u_i = alpha * request_i + (1 - alpha) * usage_i; capacity_rate with a capacity, else proportional",
        holds=ASKING,
        breaks={
            NULL_PLAYER + " (a request is paid in part, used or not)": case(
                10000, alpha="1/2", request={"a": 8}, usage={"a": 0, "b": 4}
            ),
            STAND_ALONE + " (without a capacity)": case(6000, alpha="1/2", **ASKED_AND_USED),
            CORE + " (without a capacity)": case(6000, alpha="1/2", **ASKED_AND_USED),
        },
        mind="alpha is somebody's judgement; in a policy, an empty amount is not stated, and not 0: a holds 100 and uses 50, b states 100 used "
        "alone, and of 200 they pay 85.71 and 114.29 by halves",
        choose="the blame for idle is to be shared between asking and using",
        example={
            "bill_minor": 10000,
            "params": {"alpha": "1/2"},
            "inputs": {"request": {"nlp": 80, "vision": 10}, "usage": {"nlp": 20, "vision": 15}},
        },
        idle=VISIBLE,
        reservation="a request acts as one, in part",
        policy="driver: {blend: 0.5}",
    ),
    Method(
        name="two_part",
        share=two_part,
        reads=("capacity", "reserved", "usage", "lend_credit", "burst_rate", "burst_price_minor"),
        formula="x_i = rho * (r_i + b_i) - credit for what i lent, rho = C / K, b_i = max(0, u_i - r_i)",
        holds=(
            EFFICIENCY,
            SYMMETRY,
            ADDITIVITY,
            MONOTONE,
            SPLIT_PROOF,
            STAND_ALONE,
        ),
        breaks={
            NULL_PLAYER + " (a holder that used nothing pays, by intent)": case(
                10000, capacity=10, reserved={"a": 6}, usage={"a": 0, "b": 2}
            ),
            CORE + " (a group could lend inside itself before it takes unsold capacity)": case(
                6000, capacity=3, reserved={"a": 1}, usage={"b": 1}
            ),
            EFFICIENCY + " (only through _residual, where a burst has a price)": case(
                10000, burst_rate="price", burst_price_minor=3000, capacity=10, reserved={"a": 6}, usage={"b": 2}
            ),
        },
        mind="in a policy, taxes and credits of the bill follow what is owed after lending: a reserves 10 and uses 5, b borrows 5, so each owes 50 "
        "and pays 5 of a tax of 10",
        choose="quotas are sold to teams, and bursts above them are welcome",
        example={
            "bill_minor": 10000,
            "inputs": {"capacity": 100, "reserved": {"a": 60, "b": 40}, "usage": {"a": 20, "b": 40, "c": 30}},
        },
        idle="unsold capacity that nobody burst into goes to _idle",
        burst="above the reservation, at cost or at burst_price_minor",
        reservation="paid whether used or not; lenders are credited, in proportion to what they left unused",
        policy="two_part",
    ),
    Method(
        name="rate_card",
        share=rate_card,
        reads=("price_minor", "quantity"),
        formula="x_i = p * q_i; _residual = C - sum(x), negative when the price recovers too much",
        holds=(
            SYMMETRY,
            NULL_PLAYER,
            MONOTONE,
            SPLIT_PROOF,
            TIME_SPLIT,
            TIME_SHIFT,
            FORESIGHT,
        ),
        breaks={
            EFFICIENCY + " (only through _residual)": case(10000, price_minor=250, quantity={"a": 20, "b": 10}),
            ADDITIVITY + " (each bill is met by the whole price)": case(10000, price_minor=250, quantity={"a": 20}),
            STAND_ALONE + " (where the price is above cost)": case(
                1000, price_minor=250, quantity={"a": 3, "b": 2}, series={"a": [3], "b": [2]}
            ),
            CORE + " (where the price is above cost)": case(
                1000, price_minor=250, quantity={"a": 3, "b": 2}, series={"a": [3], "b": [2]}
            ),
        },
        choose="predictability matters more than recovery, or a launch is subsidised",
        example={"bill_minor": 100000, "inputs": {"price_minor": 250, "quantity": {"vision": 200, "speech": 100}}},
        idle="inside _residual",
        burst="the price list",
        reservation="the price list",
        policy="rate_card",
    ),
)
