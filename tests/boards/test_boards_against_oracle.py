"""Boards of which more is asked than there is, against the oracle: the worlds of tests/property with many who hold parts of a few boards."""

import pytest

from apportion.policy.methods import METERED, SERVICES
from tests.conftest import LONG
from tests.property.features import crowded
from tests.property.features_more import Seen
from tests.property.hunt import differs
from tests.property.worlds import World, world

SIZES = (3, 3, 2, 1)
WORLDS = 60 if LONG else 4
FOUND = {
    "resource_weighted": (1161,)
}  # what is held fills a board to the last digit, or nothing would be left to reserve


def world_with(seed: int, *methods: str) -> World:
    return world(seed, SIZES[seed % len(SIZES)], methods, boards=True)


@pytest.mark.parametrize("method", [*METERED, *SERVICES])
def test_the_engine_agrees_with_the_oracle(method: str) -> None:
    for seed in (*range(WORLDS), *FOUND.get(method, ())):
        one = world_with(seed, method)
        assert not differs(one), str(one)


def test_a_board_is_crowded_in_one_world_of_three() -> None:
    seen = [
        method for method in METERED if method != "time" for seed in range(9) if crowded(Seen(world_with(seed, method)))
    ]
    assert len(seen) * 3 >= 9 * (len(METERED) - 1)
    assert set(seen) >= set(METERED) - {"time"}, "each method at least once"
