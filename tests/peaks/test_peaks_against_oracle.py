"""Methods that value hours and teams, against the oracle: the worlds of tests/property with such a method for their GPU pools."""

import pytest

from apportion.policy.methods import VALUES_HOURS, VALUES_TEAMS
from tests.conftest import LONG
from tests.property.hunt import differs
from tests.property.worlds import World, world

PEAKS = ("coincident_peak", "noncoincident_peak", "temporal_shapley", "peak_shapley", "time_of_use")
SIZES = (3, 3, 2, 1)
WORLDS = 100 if LONG else 8
FOUND = (2, 887, 4282, 9030, 9646)  # who shares idle evenly with hours worth nothing; charges of 10^-18


def world_with(seed: int, *methods: str) -> World:
    return world(seed, SIZES[seed % len(SIZES)], methods)


def test_all_of_them_are_looked_at() -> None:
    assert set(PEAKS) == {*VALUES_HOURS, *VALUES_TEAMS}


@pytest.mark.parametrize("method", PEAKS)
def test_the_engine_agrees_with_the_oracle(method: str) -> None:
    for seed in range(WORLDS):
        one = world_with(seed, method)
        assert not differs(one), str(one)


@pytest.mark.parametrize("seed", FOUND)
def test_worlds_that_once_differed_agree(seed: int) -> None:
    assert not differs(world_with(seed, *PEAKS))
