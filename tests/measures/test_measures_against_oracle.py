"""Quotas, several measures side by side, and pools that serve pools, against the oracle: the worlds of tests/property with such a method."""

import pytest

from apportion.policy.methods import PARTED, SERVICES
from tests.conftest import LONG
from tests.property.hunt import differs
from tests.property.worlds import World, world

METHODS = ("two_part", *PARTED, *SERVICES)
SIZES = (3, 3, 2, 1)
WORLDS = 100 if LONG else 6
FOUND = {
    "two_part": (27,),
    "resource_weighted": (11, 25),
    "reciprocal": (0, 11, 29, 40),
}  # rests of days and grains, digits beyond 28


def world_with(seed: int, method: str) -> World:
    return world(seed, SIZES[seed % len(SIZES)], (method,))


@pytest.mark.parametrize("method", METHODS)
def test_the_engine_agrees_with_the_oracle(method: str) -> None:
    for seed in (*range(WORLDS), *FOUND.get(method, ())):
        one = world_with(seed, method)
        assert method in {pool.method for pool in one.policy.pools.values()}
        assert not differs(one), str(one)
