"""Steps after a method: caps, floors, subsidies, smoothing. Whatever one owner is spared, another is named for."""

from collections.abc import Mapping
from fractions import Fraction

from apportion.engine.sharing.given import RESIDUAL, SPONSOR, Given, Shares, add, refuse, union
from apportion.engine.sharing.method import (
    ADDITIVITY,
    EFFICIENCY,
    MONOTONE,
    NULL_PLAYER,
    SPLIT_PROOF,
    SYMMETRY,
    Method,
    case,
)
from apportion.engine.sharing.proportional import by_weight

ZERO = Fraction(0)


def starting_point(given: Given) -> Shares:
    """The amounts before the step: given as `allocation`, or the bill by `drivers`."""
    return (
        given.money("allocation")
        if given.has("allocation")
        else by_weight(given.bill, given.amounts("drivers"), given.on_zero())
    )


def balanced(before: Mapping[str, Fraction], after: Mapping[str, Fraction], payer: str) -> Shares:
    shares = dict(after)
    add(shares, payer, sum(before.values(), ZERO) - sum(after.values(), ZERO))
    return shares


def cap_and_sponsor(given: Given) -> Shares:
    before, caps = starting_point(given), given.amounts("caps", "negative_amount")
    return balanced(before, {owner: min(share, caps.get(owner, share)) for owner, share in before.items()}, SPONSOR)


def percent_subsidy(given: Given) -> Shares:
    before, percents = starting_point(given), given.amounts("subsidy_pct", "negative_weight")
    if any(percent > 100 for percent in percents.values()):
        refuse("subsidy_exceeds_100", "a subsidy may be at most 100 percent", "subsidy_pct")
    return balanced(
        before, {owner: share * (100 - percents.get(owner, ZERO)) / 100 for owner, share in before.items()}, SPONSOR
    )


def floor(given: Given) -> Shares:
    """For every owner that is named, with a share or without."""
    before, floors = starting_point(given), given.amounts("floors", "negative_amount")
    shares = {owner: before.get(owner, ZERO) for owner in union(before, floors)}
    after = {owner: max(share, floors.get(owner, share)) for owner, share in shares.items()}
    return balanced(before, after, RESIDUAL)


def smooth(given: Given) -> Shares:
    before, previous = starting_point(given), given.amounts("previous", "negative_amount")
    percent = given.amount("max_change_pct")
    after = {owner: within(before.get(owner, ZERO), previous.get(owner), percent) for owner in union(before, previous)}
    return balanced(before, after, SPONSOR)


def within(share: Fraction, previous: Fraction | None, percent: Fraction) -> Fraction:
    if previous is None:
        return share
    change = previous * percent / 100
    return min(max(share, previous - change), previous + change)


SPARED = "as the method before it"
ALLOCATION = {"a": 7000, "b": 3000}

METHODS = (
    Method(
        name="cap_and_sponsor",
        share=cap_and_sponsor,
        reads=("allocation", "drivers", "caps", "on_zero"),
        formula="x_i = min(a_i, cap_i); _sponsor pays the difference",
        holds=(EFFICIENCY, NULL_PLAYER, MONOTONE),
        breaks={
            SYMMETRY + " (a cap is a favour)": case(10000, drivers={"a": 1, "b": 1}, caps={"a": 3000}),
            ADDITIVITY + " (a cap counts for each bill anew)": case(6000, drivers={"a": 1, "b": 1}, caps={"a": 2000}),
            SPLIT_PROOF + " (two owners have two caps)": case(10000, drivers={"a": 1, "b": 1}, caps={"a": 3000}),
        },
        choose="a team must not pay more than was promised, and somebody pays the rest",
        example={"bill_minor": 10000, "inputs": {"allocation": ALLOCATION, "caps": {"a": 5000}}},
        idle=SPARED,
        burst=SPARED,
        reservation=SPARED,
        policy="adjustments: cap",
    ),
    Method(
        name="percent_subsidy",
        share=percent_subsidy,
        reads=("allocation", "drivers", "subsidy_pct", "on_zero"),
        formula="x_i = a_i * (1 - s_i / 100); _sponsor pays the difference",
        holds=(
            EFFICIENCY,
            NULL_PLAYER,
            ADDITIVITY,
            MONOTONE,
            SPLIT_PROOF,
        ),
        breaks={
            SYMMETRY + " (a subsidy is a favour)": case(10000, drivers={"a": 1, "b": 1}, subsidy_pct={"a": 20}),
        },
        choose="a launch, a grant or a preemptible class is to cost less, visibly",
        example={"bill_minor": 9999, "inputs": {"drivers": {"a": 70, "b": 30}, "subsidy_pct": {"b": 33}}},
        idle=SPARED,
        burst=SPARED,
        reservation=SPARED,
        policy="adjustments: percent",
    ),
    Method(
        name="floor",
        share=floor,
        reads=("allocation", "drivers", "floors", "on_zero"),
        formula="x_i = max(a_i, floor_i); what that brings in beyond the bill is a negative _residual",
        holds=(MONOTONE,),
        breaks={
            EFFICIENCY + " (only through _residual)": case(10000, drivers={"a": 3, "b": 1}, floors={"b": 4000}),
            NULL_PLAYER: case(10000, drivers={"a": 1, "b": 0}, floors={"b": 500}),
            SYMMETRY + " (a floor is a burden)": case(10000, drivers={"a": 1, "b": 1}, floors={"b": 6000}),
            ADDITIVITY + " (a floor is due for each bill)": case(6000, drivers={"a": 1, "b": 0}, floors={"b": 500}),
            SPLIT_PROOF + " (two owners owe two floors)": case(10000, drivers={"a": 3, "b": 1}, floors={"b": 4000}),
        },
        choose="everybody pays a basic fee",
        example={"bill_minor": 10000, "inputs": {"allocation": ALLOCATION, "floors": {"b": 3500}}},
        idle=SPARED,
        burst=SPARED,
        reservation=SPARED,
        policy="adjustments: floor",
    ),
    Method(
        name="smooth",
        share=smooth,
        reads=("allocation", "drivers", "previous", "max_change_pct", "on_zero"),
        formula="x_i = a_i, kept within previous_i plus or minus p percent; _sponsor pays, or gets, the difference",
        holds=(
            EFFICIENCY,
            MONOTONE,
        ),
        breaks={
            NULL_PLAYER: case(10000, drivers={"a": 1, "b": 0}, previous={"b": 500}, max_change_pct=20),
            SYMMETRY: case(10000, drivers={"a": 1, "b": 1}, previous={"a": 1000}, max_change_pct=20),
            ADDITIVITY: case(10000, drivers={"a": 1, "b": 1}, previous={"a": 1000}, max_change_pct=20),
            SPLIT_PROOF + " (a new owner has no past)": case(
                10000, drivers={"a": 1, "b": 1}, previous={"a": 1000}, max_change_pct=20
            ),
        },
        choose="a new method would shock a budget: let shares move a little every month",
        example={
            "bill_minor": 10000,
            "inputs": {"allocation": ALLOCATION, "previous": {"a": 5000, "b": 3000}, "max_change_pct": 20},
        },
        idle=SPARED,
        burst=SPARED,
        reservation=SPARED,
        policy="adjustments: smooth",
    ),
)
