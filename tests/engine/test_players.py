"""Sampled Shapley values: exact in sum, the same every time, and as near to the exact ones as they say."""

import random
from fractions import Fraction
from math import factorial

from apportion.engine.players import MILLION, PAIRS, sample
from apportion.engine.sharing.shapley import peak_costs, subset_values

WIDE = 2**80


def series(teams: int, slots: int, scale: int = 1) -> dict[str, list[int]]:
    dice = random.Random(7)
    return {f"team-{n}": [dice.choice((0, 0, 1, 3, 8)) * scale for _ in range(slots)] for n in range(teams)}


def test_samples_come_to_the_peak_exactly() -> None:
    rows = series(20, 30)
    values, sampling = sample(rows, "a seed")
    assert sum(values.values()) == sampling.orders * max(sum(column) for column in zip(*rows.values(), strict=True))
    assert sampling.orders == 2 * PAIRS


def test_the_same_seed_gives_the_same_values() -> None:
    rows = series(20, 30)
    assert sample(rows, "a seed") == sample(rows, "a seed")
    assert sample(rows, "a seed")[0] != sample(rows, "another")[0]


def test_samples_are_as_near_as_they_say() -> None:
    rows = series(8, 12)
    peak = max(sum(column) for column in zip(*rows.values(), strict=True))
    exact = subset_values(peak_costs(list(rows.values())), len(rows))
    values, sampling = sample(rows, "2026-10")
    for (team, value), true in zip(values.items(), exact, strict=True):
        off = abs(Fraction(value, sampling.orders * peak) - Fraction(true, factorial(len(rows)) * peak))
        assert 0 < sampling.errors[team] < 10_000
        assert off * MILLION < 4 * sampling.errors[team]


def test_numbers_beyond_64_bits_keep_their_proportions() -> None:
    assert sample(series(16, 5, WIDE), "s")[0] == sample(series(16, 5), "s")[0]


def test_a_team_without_demand_is_worth_nothing() -> None:
    rows = series(15, 6) | {"none": [0] * 6}
    assert sample(rows, "s")[0]["none"] == 0
