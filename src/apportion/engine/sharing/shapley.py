"""Shapley values of games about the peak, by closed form where there is one and over all subsets where there is none."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import factorial, lcm

from apportion.engine.sharing.given import Given, Shares, read_number, refuse
from apportion.engine.sharing.method import (
    ADDITIVITY,
    CORE,
    EFFICIENCY,
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
from apportion.engine.sharing.peaks import HEADROOM, SERIES, over_peak, own_peaks, slot_totals

MOST_PLAYERS = 14
MOST_SUBSET_SLOTS = 2**24
MOST_PRICE_BITS = 2**28
ZERO = Fraction(0)


def airport_values(peaks: Sequence[Fraction]) -> list[Fraction]:
    """Littlechild and Owen: each step up is paid, in equal parts, by those who need it. The values add up to the highest peak."""
    counts = Counter(peaks)
    needing = len(peaks) - counts[ZERO]
    value, values = ZERO, {ZERO: ZERO}
    for lower, level in pairwise(sorted({ZERO, *counts})):
        value += (level - lower) / needing
        values[level] = value
        needing -= counts[level]
    return [values[peak] for peak in peaks]


def subset_values(costs: Sequence[int], players: int) -> list[int]:
    """The Shapley value, times players!, of a game whose costs are listed by bit mask."""
    weights = [factorial(size) * factorial(players - size - 1) for size in range(players)]
    values = [0] * players
    for mask, cost in enumerate(costs):
        size = mask.bit_count()
        for player in range(players):
            # A subset counts for its members as what they completed, and against all others as what was there before.
            if mask >> player & 1:
                values[player] += weights[size - 1] * cost
            else:
                values[player] -= weights[size] * cost
    return values


def peak_costs(rows: Sequence[Sequence[int]]) -> list[int]:
    """The peak of every subset of the rows, by bit mask."""
    costs = [0] * 2 ** len(rows)

    def grow(mask: int, totals: Sequence[int], first: int) -> None:
        """Depth first, so that only one line of subsets is held at a time."""
        costs[mask] = max(totals)
        for player in range(first, len(rows)):
            grow(mask | 1 << player, [a + b for a, b in zip(totals, rows[player], strict=True)], player + 1)

    grow(0, [0] * len(rows[0]), 0)
    return costs


def airport_shapley(given: Given) -> Shares:
    peaks = own_peaks(given)
    if given.has("step"):
        step = read_number(given.find("step"), "step")
        if step <= 0:
            refuse("out_of_range", "step must be above 0", "step")
        peaks = {owner: -(-peak // step) * step for owner, peak in peaks.items()}
    return over_peak(
        given,
        dict(zip(peaks, airport_values(list(peaks.values())), strict=True)),
        max(peaks.values(), default=ZERO),
    )


def temporal_shapley(given: Given) -> Shares:
    """Slots are the players of an airport game; inside a slot its owners pay by demand. `weighted` lets a slot count by its demand too."""
    series, weighted = given.series(), given.flag("weighted", default=False)
    totals = slot_totals(series)
    prices = slot_prices(totals, weighted=weighted)
    scale = lcm(*(amount.denominator for row in series.values() for amount in row))
    weights = {
        owner: sum(int(amount * scale) * price for amount, price in zip(row, prices, strict=True) if amount)
        for owner, row in series.items()
    }
    return over_peak(given, weights, max(totals, default=ZERO))


def slot_prices(totals: Sequence[Fraction], *, weighted: bool) -> list[int]:
    """What one unit costs in each slot, times a factor that makes all prices whole: sums over owners then need no division."""
    factor = lcm(*range(1, len(totals) + 1)) * lcm(*(total.denominator for total in totals))
    values = [value.numerator * (factor // value.denominator) for value in airport_values(totals)]
    if weighted:
        return values
    demand = whole(totals)
    common = lcm(*set(demand) - {0})
    if common.bit_length() * len(demand) > MOST_PRICE_BITS:
        refuse("too_large", "the slot totals are too many and too different for an exact price each", "series")
    return [value * (common // total) if total else 0 for value, total in zip(values, demand, strict=True)]


def peak_shapley(given: Given) -> Shares:
    series = given.series()
    players = {owner: row for owner, row in series.items() if any(row)}
    slots = len(next(iter(players.values()), []))
    if len(players) > MOST_PLAYERS or slots << len(players) > MOST_SUBSET_SLOTS:
        refuse(
            "too_large",
            f"exact peak Shapley takes at most {MOST_PLAYERS} owners with demand, and {MOST_SUBSET_SLOTS} slots times subsets",
            "series",
        )
    weights: dict[str, int] = dict.fromkeys(series, 0)
    peak = max(slot_totals(series), default=ZERO)
    if players:
        scale = lcm(*(amount.denominator for row in players.values() for amount in row))
        costs = peak_costs([[int(amount * scale) for amount in row] for row in players.values()])
        weights |= dict(zip(players, subset_values(costs, len(players)), strict=True))
    return over_peak(given, weights, peak)


def shapley_values(costs: Mapping[frozenset[str], Fraction], players: Sequence[str]) -> Shares:
    """Of a table of coalitions; the empty one costs nothing."""
    members = [
        frozenset(player for bit, player in enumerate(players) if mask >> bit & 1) for mask in range(2 ** len(players))
    ]
    scale = lcm(*(cost.denominator for cost in costs.values()))
    values = subset_values([int(costs[group] * scale) if group else 0 for group in members], len(players))
    return {
        player: Fraction(value, scale * factorial(len(players))) for player, value in zip(players, values, strict=True)
    }


def whole(numbers: Sequence[Fraction]) -> list[int]:
    """The same proportions in whole numbers."""
    scale = lcm(*(number.denominator for number in numbers))
    return [int(number * scale) for number in numbers]


METHODS = (
    Method(
        name="airport_shapley",
        share=airport_shapley,
        reads=("peaks", "series", "step", "capacity", "on_zero"),
        formula="sort own peaks; each step from one to the next is paid in equal parts by all who need it",
        holds=(
            EFFICIENCY,
            SYMMETRY,
            NULL_PLAYER,
            ADDITIVITY,
            MONOTONE,
            STAND_ALONE,
            CORE,
        ),
        breaks={
            SPLIT_PROOF: case(6000, peaks={"a": 2, "b": 2}),
            TIME_SPLIT: case(6000, series={"a": [1, 1], "b": [1, 0]}),
            TIME_SHIFT: case(6000, series={"a": [1, 0], "b": [1, 1]}),
            STAND_ALONE + " (where needs add up)": case(6000, series={"a": [1], "b": [2]}),
            CORE + " (where needs add up)": case(6000, series={"a": [1], "b": [2]}),
        },
        choose="nested needs: the biggest gang, the largest memory, whole nodes (step)",
        example={"bill_minor": 1800, "inputs": {"peaks": {"A": 8, "B": 11, "C": 13, "D": 18}}},
        idle=HEADROOM,
        burst="the own peak",
    ),
    Method(
        name="temporal_shapley",
        share=temporal_shapley,
        reads=("series", "weighted", "capacity", "on_zero"),
        formula="phi(t) = airport value of slot total D(t); x_i = C * sum_t p(t) * d_i(t) / sum_t p(t) * D(t), p(t) = phi(t) / D(t), or phi(t) if weighted",
        holds=(EFFICIENCY, SYMMETRY, NULL_PLAYER, ADDITIVITY, SPLIT_PROOF, TIME_SPLIT),
        breaks={
            MONOTONE: case(6000, series={"a": [0, 0, 2], "b": [1, 1, 0]}),
            TIME_SHIFT: case(6000, series={"a": [1, 0], "b": [1, 1]}),
            STAND_ALONE: case(2400, series={"a": [0, 1], "b": [1, 1]}),
            CORE: case(2400, series={"a": [0, 1], "b": [1, 1]}),
        },
        choose="jobs are the users and there are thousands of them",
        example={"bill_minor": 12000, "inputs": {"series": SERIES}},
        idle=HEADROOM,
        burst="by slot: full hours cost more",
        policy="temporal_shapley",
    ),
    Method(
        name="peak_shapley",
        share=peak_shapley,
        reads=("series", "capacity", "on_zero"),
        formula="x_i = C * phi_i / peak, phi = average over all orders of what i adds to max_t sum d(t)",
        holds=(EFFICIENCY, SYMMETRY, NULL_PLAYER, ADDITIVITY, STAND_ALONE),
        breaks={
            MONOTONE + " (at a fixed bill)": case(1200, series={"a": [3, 0, 1], "b": [0, 1, 1]}),
            SPLIT_PROOF: case(6000, series={"a": [5, 0], "b": [0, 1]}),
            TIME_SPLIT: case(1800, series={"a": [1, 5], "b": [1, 1]}),
            TIME_SHIFT: case(6000, series={"a": [0, 1], "b": [3, 5]}),
            CORE: case(2400, series={"a": [0, 0, 1], "b": [3, 1, 1], "c": [1, 1, 0]}),
        },
        choose=f"up to {MOST_PLAYERS} teams that argue about who caused the peak",
        example={
            "bill_minor": 9000,
            "inputs": {"series": {"day": [6, 6, 6, 0], "mid": [0, 3, 3, 0], "night": [0, 0, 0, 5]}},
        },
        idle=HEADROOM,
        burst="by what it adds to the peak",
        policy="peak_shapley",
    ),
)
