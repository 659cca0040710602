"""By weights: the plain ways, which everybody understands."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from apportion.engine.sharing.given import UNALLOCATED, Given, Shares, add, refuse, total_of
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
    TIME_SHIFT,
    TIME_SPLIT,
    Method,
    case,
)


def by_weight(
    money: Fraction | int, weights: Mapping[str, Fraction] | Mapping[str, int], on_zero: str = "unallocated"
) -> Shares:
    """`money` in proportion to weights of at least 0; `on_zero` says what happens when they are all 0."""
    total = total_of(weights.values())
    if total > 0:
        price = Fraction(money) / total
        return {owner: price * weight for owner, weight in weights.items()}
    if on_zero == "error":
        refuse("zero_driver_total", "nobody has any demand, and on_zero is error")
    if on_zero == "even" and weights:
        return evenly(money, list(weights))
    shares = dict.fromkeys(weights, Fraction(0))
    add(shares, UNALLOCATED, Fraction(money))
    return shares


def evenly(money: Fraction | int, owners: Sequence[str]) -> Shares:
    return dict.fromkeys(owners, Fraction(money) / len(owners))


def proportional(given: Given) -> Shares:
    return by_weight(given.bill, weighted_drivers(given), given.on_zero())


def weighted_drivers(given: Given) -> Shares:
    """Drivers times the weight of their owner's class; without `classes` the drivers are taken as weighted already."""
    drivers = given.amounts("drivers")
    if not given.has("class_weights"):
        return drivers
    weights = given.amounts("class_weights", "negative_weight")
    classes = given.find("classes") or {}
    if not isinstance(classes, Mapping):
        refuse("invalid_input", "classes must name the class of each owner", "classes")
    for owner, name in classes.items():
        if not isinstance(name, str) or name not in weights:
            refuse("missing_input", f"class_weights has no weight for the class of {owner!r}", "class_weights")
    return {owner: driver * weights.get(classes.get(owner, ""), Fraction(1)) for owner, driver in drivers.items()}


def even(given: Given) -> Shares:
    members = given.names("members")
    return evenly(given.bill, members) if members else {UNALLOCATED: Fraction(given.bill)}


def fixed_weights(given: Given) -> Shares:
    percents = given.amounts("weights_pct", "negative_weight")
    if sum(percents.values()) > 100:
        refuse("weights_exceed_100", "the weights add up to more than 100 percent", "weights_pct")
    shares = {owner: given.bill * percent / 100 for owner, percent in percents.items()}
    add(shares, UNALLOCATED, given.bill - sum(shares.values(), Fraction(0)))
    return shares


STEADY = case(6000, drivers={"a": 2, "b": 1}, series={"a": [1, 1], "b": [0, 1]})

METHODS = (
    Method(
        name="proportional",
        share=proportional,
        reads=("drivers", "on_zero", "class_weights", "classes"),
        formula="x_i = C * u_i / sum(u)",
        holds=(
            *FAIR,
            TIME_SPLIT,
            TIME_SHIFT,
        ),
        breaks={STAND_ALONE: STEADY, CORE: STEADY},
        mind="in a policy with scope: resource, a node that nobody used keeps its money, which is then nobody's: of n1 at 100 and n2 at 900 only n1 "
        "was used, and its user pays 100",
        choose="the default for the used part of a bill: whoever has 60 % of the GPU time pays 60 % of it",
        example={"bill_minor": 24000, "inputs": {"drivers": {"nlp": 96, "vision": 48, "rl": 48}}},
        policy="proportional",
    ),
    Method(
        name="even",
        share=even,
        reads=("members",),
        formula="x_i = C / n",
        holds=(
            EFFICIENCY,
            SYMMETRY,
            ADDITIVITY,
            MONOTONE,
            TIME_SHIFT,
        ),
        breaks={
            NULL_PLAYER: case(6000, members=["a", "b"], usage={"a": 5, "b": 0}),
            SPLIT_PROOF: case(6000, members=["a", "b"], usage={"a": 2, "b": 2}),
            TIME_SPLIT: case(6000, members=["a", "b"], series={"a": [1, 1], "b": [1, 1]}),
            STAND_ALONE: case(6000, members=["a", "b"], series={"a": [1], "b": [3]}),
            CORE: case(6000, members=["a", "b"], series={"a": [1], "b": [3]}),
        },
        choose="licences, or a platform that serves a few teams alike",
        example={"bill_minor": 10000, "inputs": {"members": ["nlp", "vision", "rl"]}},
        idle="does not arise",
        burst="does not arise",
        policy="even",
    ),
    Method(
        name="fixed_weights",
        share=fixed_weights,
        reads=("weights_pct",),
        formula="x_i = C * w_i / 100; what the weights leave over goes to _unallocated",
        holds=(
            EFFICIENCY,
            ADDITIVITY,
            MONOTONE,
            SPLIT_PROOF,
            TIME_SPLIT,
            TIME_SHIFT,
        ),
        breaks={
            RESPONSIVE: case(10000, weights_pct={"a": 60, "b": 40}, usage={"a": 5, "b": 5}),
            SYMMETRY: case(10000, weights_pct={"a": 60, "b": 40}, usage={"a": 5, "b": 5}),
            NULL_PLAYER: case(10000, weights_pct={"a": 60, "b": 40}, usage={"a": 0, "b": 5}),
            STAND_ALONE: case(10000, weights_pct={"a": 60, "b": 40}, series={"a": [1], "b": [3]}),
            CORE: case(10000, weights_pct={"a": 60, "b": 40}, series={"a": [1], "b": [3]}),
        },
        choose="negotiated splits and budgets",
        example={"bill_minor": 9999, "inputs": {"weights_pct": {"vision": 60, "speech": 30}}},
        idle="does not arise",
        burst="does not arise",
        policy="fixed",
    ),
    Method(
        name="direct",
        share=None,
        reads=(),
        formula="the owner of a cost line pays the line",
        holds=(*FAIR,),
        breaks={},
        choose="dedicated nodes and lines that carry their owner's tag",
        example={"method": "proportional", "bill_minor": 900, "inputs": {"drivers": {"vision": 700, "speech": 200}}},
        idle="part of the line",
        burst="part of the line",
        policy="direct",
    ),
    Method(
        name="time",
        share=None,
        reads=(),
        formula="x_i = C * s_i / sum(s), where s_i is the length of the union of i's intervals, summed over resources",
        holds=(
            EFFICIENCY,
            SYMMETRY,
            NULL_PLAYER,
            ADDITIVITY,
            MONOTONE,
        ),
        breaks={
            SPLIT_PROOF + " (work at the same time counts once for one owner, twice for two)": case(
                6000, drivers={"a": 1, "b": 1}, intervals={"a": [[0, 1], [0, 1]], "b": [[0, 1]]}
            ),
            STAND_ALONE: STEADY,
            CORE: STEADY,
        },
        choose="whoever occupies a resource blocks it whatever it asked for: 3 h and 1 h pay 3 to 1",
        example={
            "method": "proportional",
            "bill_minor": 4000,
            "inputs": {"drivers": {"vision": 10800, "speech": 3600}},
        },
        policy="time",
    ),
    Method(
        name="by_cost",
        share=None,
        reads=(),
        formula="x_i = C * c_i / sum(c), where c_i is what i owes so far",
        holds=(*FAIR,),
        breaks={STAND_ALONE: STEADY, CORE: STEADY},
        choose="overheads, support and whatever has no driver of its own",
        example={"method": "proportional", "bill_minor": 500, "inputs": {"drivers": {"vision": 6000, "speech": 1500}}},
        mind="of owners in credit and others, those share that have the sign of the sum: of 100 and -20 the first pays all, of 100 and -300 the"
        " second; of 100 and -100 nobody does, and it is nobody's",
        idle="follows the charges, idle included",
        policy="by: cost",
    ),
)
