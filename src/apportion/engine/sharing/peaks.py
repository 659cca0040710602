"""By demand over time: who was there when it was full, whose own peak is high, what an hour is worth."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from apportion.engine.sharing.given import IDLE, Given, Shares, add, refuse
from apportion.engine.sharing.method import (
    ADDITIVITY,
    CORE,
    EFFICIENCY,
    FAIR,
    MONOTONE,
    NULL_PLAYER,
    SPLIT_PROOF,
    STAND_ALONE,
    SYMMETRY,
    TIME_SHIFT,
    TIME_SPLIT,
    Method,
    case,
)
from apportion.engine.sharing.proportional import by_weight

ZERO = Fraction(0)


def over_peak(given: Given, weights: Mapping[str, Fraction] | Mapping[str, int], peak: Fraction) -> Shares:
    """The bill by weights; where a capacity is given, its head-room above the peak goes to `_idle` first."""
    if not given.has("capacity"):
        return by_weight(given.bill, weights, given.on_zero())
    units = max(given.amount("capacity"), peak)
    money = given.bill * peak / units if units else ZERO
    shares = by_weight(money, weights) if peak else dict.fromkeys(weights, ZERO)
    add(shares, IDLE, given.bill - money)
    return shares


def slot_totals(series: Mapping[str, Sequence[Fraction]]) -> list[Fraction]:
    return [sum(slot, ZERO) for slot in zip(*series.values(), strict=True)]


def slot_sums(series: Mapping[str, Sequence[Fraction]], weights: Sequence[Fraction]) -> Shares:
    return {
        owner: sum((weight * amount for weight, amount in zip(weights, row, strict=True) if amount), ZERO)
        for owner, row in series.items()
    }


def coincident_peak(given: Given) -> Shares:
    """The k fullest slots count. Slots that tie for the last of those places share them equally."""
    series, count = given.series(), given.count("k", 1)
    totals = slot_totals(series)
    if not totals:
        return over_peak(given, dict.fromkeys(series, ZERO), ZERO)
    count = min(count, len(totals))
    last = sorted(totals, reverse=True)[count - 1]
    above, tied = sum(total > last for total in totals), totals.count(last)
    place = Fraction(count - above, tied)
    weights = [Fraction(1) if total > last else place if total == last else ZERO for total in totals]
    return over_peak(given, slot_sums(series, weights), max(totals))


def noncoincident_peak(given: Given) -> Shares:
    peaks = own_peaks(given)
    return over_peak(given, peaks, sum(peaks.values(), ZERO))


def own_peaks(given: Given) -> Shares:
    """The highest slot of each series, or `peaks` as they are given."""
    if given.has("peaks"):
        return given.amounts("peaks")
    return {owner: max(row, default=ZERO) for owner, row in given.series().items()}


def time_of_use(given: Given) -> Shares:
    series, weights = given.series(), given.numbers("slot_weights", "negative_weight")
    if any(len(row) != len(weights) for row in series.values()):
        refuse("unequal_series", "slot_weights must have one weight for every slot", "slot_weights")
    return by_weight(given.bill, slot_sums(series, weights), given.on_zero())


HEADROOM = "hidden, unless a capacity is given: then its head-room above the peak goes to _idle"
SERIES = {"a": [10, 8, 1, 0], "b": [0, 1, 7, 6]}

METHODS = (
    Method(
        name="coincident_peak",
        share=coincident_peak,
        reads=("series", "k", "capacity", "on_zero"),
        formula="x_i = C * sum(d_i(t)) / sum(D(t)) over the k slots of highest total D; ties at the last place share it",
        holds=(EFFICIENCY, SYMMETRY, NULL_PLAYER, ADDITIVITY, SPLIT_PROOF, TIME_SPLIT, STAND_ALONE, CORE),
        breaks={
            MONOTONE: case(6000, series={"a": [2, 5], "b": [3, 0]}),
            TIME_SHIFT: case(6000, series={"a": [1, 1], "b": [1, 0]}),
            STAND_ALONE + " (with k above 1)": case(6000, k=2, series={"a": [1, 1], "b": [1, 0]}),
            CORE + " (with k above 1)": case(6000, k=2, series={"a": [1, 1], "b": [1, 0]}),
        },
        choose="the bill is driven by a few peaks: whoever stays off them rides free",
        example={"bill_minor": 10000, "params": {"k": 2}, "inputs": {"series": SERIES}},
        idle=HEADROOM,
        burst="counts in peak slots only",
        policy="coincident_peak",
    ),
    Method(
        name="noncoincident_peak",
        share=noncoincident_peak,
        reads=("series", "peaks", "capacity", "on_zero"),
        formula="x_i = C * max_t d_i(t) / sum_j max_t d_j(t)",
        holds=(*FAIR, STAND_ALONE),
        breaks={
            TIME_SPLIT: case(6000, series={"a": [1, 1], "b": [1, 0]}),
            TIME_SHIFT: case(6000, series={"a": [1, 0], "b": [1, 1]}),
            CORE: case(6000, series={"a": [1, 0], "b": [1, 1], "c": [0, 1]}),
        },
        choose="capacity is sized for each team by itself",
        example={"bill_minor": 10000, "inputs": {"series": SERIES}},
        idle="hidden, unless a capacity is given: then what it exceeds the sum of own peaks by goes to _idle",
        burst="the own peak",
        policy="noncoincident_peak",
    ),
    Method(
        name="time_of_use",
        share=time_of_use,
        reads=("series", "slot_weights", "on_zero"),
        formula="x_i = C * sum_t w(t) * d_i(t) / sum_t w(t) * D(t)",
        holds=(*FAIR, TIME_SPLIT),
        breaks={
            TIME_SHIFT + " (where weights do not follow the load)": case(
                6000, series={"a": [1, 0], "b": [1, 1]}, slot_weights=[1, 2]
            ),
            STAND_ALONE: case(6000, series={"a": [1, 1], "b": [0, 1]}, slot_weights=[1, 1]),
            CORE: case(6000, series={"a": [1, 1], "b": [0, 1]}, slot_weights=[1, 1]),
        },
        mind="the weights are somebody's judgement",
        choose="load is to be steered away from busy hours by a price known ahead",
        example={"bill_minor": 10000, "inputs": {"series": SERIES, "slot_weights": [2, 2, 1, 1]}},
        policy="time_of_use",
    ),
)
