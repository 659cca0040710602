"""How much of a team's charge is for the bursts of others."""

from fractions import Fraction

import pytest

from apportion.engine.backend import Backend
from apportion.engine.bursts import Burst, bursts_of
from apportion.engine.plan import make_plan
from tests.engine.golden_world import GOLDEN, read_world

GPU_HOURS = Fraction(3)


@pytest.mark.parametrize(
    ("case", "paid_by_a"), [("bursts-of-others", {"USD": Fraction(20)}), ("bursts-with-own-prices", {})]
)
def test_one_price_for_a_pool_is_the_price_of_others_bursts(
    case: str, paid_by_a: dict[str, Fraction], backend: Backend
) -> None:
    world = read_world(GOLDEN / case)
    found = list(bursts_of(make_plan(world, backend), world.cost_lines))
    expected = [Burst("gpus", "b", GPU_HOURS, 1, {})]
    if paid_by_a:
        expected.insert(0, Burst("gpus", "a", Fraction(0), 0, paid_by_a))
    assert found == expected


def test_who_stays_inside_its_reservation_does_not_burst(backend: Backend) -> None:
    world = read_world(GOLDEN / "holder-pays-unused")
    assert list(bursts_of(make_plan(world, backend), world.cost_lines)) == []


def test_two_part_measures_the_same(backend: Backend) -> None:
    world = read_world(GOLDEN / "two-part")
    assert list(bursts_of(make_plan(world, backend), world.cost_lines)) == [Burst("gpus", "c", Fraction(10), 1, {})]


def test_a_burst_on_a_crowded_board_is_what_there_was_of_it(backend: Backend) -> None:
    world = read_world(GOLDEN / "bursts-on-a-crowded-board")
    assert list(bursts_of(make_plan(world, backend), world.cost_lines)) == [
        Burst("gpus", "a", Fraction(0), 0, {"USD": Fraction(3)}),
        Burst("gpus", "b", Fraction(1, 2), 1, {}),
    ]
