"""Whole parts that add up, for any draws, uses and holders."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.sources.agent.looks import Process, Reading
from apportion.sources.agent.split import Portion, apportioned, divided

PIDS = st.sampled_from(range(1, 9))
USES = st.dictionaries(PIDS, st.integers(0, 1000), max_size=6)


def reading(busy: dict[int, int] | None, *processes: Process, weights: dict[int, int] | None = None) -> Reading:
    return Reading("GPU-a", "H200", 0, processes, busy, weights)


@given(st.integers(0, 10**15), st.lists(st.integers(0, 10**9), min_size=1, max_size=20).filter(any))
def test_parts_are_whole_add_up_and_are_within_one_of_their_share(total: int, weights: list[int]) -> None:
    parts = apportioned(total, weights)
    assert sum(parts) == total
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part - Fraction(total * weight, sum(weights))) < 1
        assert weight or not part


@given(st.integers(0, 10**9), st.integers(1, 10**8), USES, st.sets(PIDS), st.none() | PIDS)
def test_a_boards_joules_are_divided_to_the_last_one(
    joules: int, took: int, busy: dict[int, int], held: set[int], sole: int | None
) -> None:
    portions = divided(reading(busy, *map(Process, held)), joules, took, sole)
    assert sum(portion.millijoules for portion in portions) == joules
    used = [portion.busy_us for portion in portions]
    assert None not in used
    assert sum(filter(None, used)) == took * min(sum(busy.values()), 1000) // 1000
    pids = [portion.pid for portion in portions]
    assert len(pids) == len(set(pids))
    for portion in portions:
        if any(busy.values()):
            assert bool(busy.get(portion.pid or 0)) or not portion.millijoules, "only who was busy shares"


@given(
    st.integers(0, 10**9),
    st.lists(st.builds(Process, PIDS, st.just(0), st.integers(1, 7), st.integers(0, 3)), max_size=6),
)
def test_a_board_that_does_not_say_who_was_busy_is_divided_too(joules: int, processes: list[Process]) -> None:
    portions = divided(reading(None, *processes), joules, 1_000_000, None)
    assert sum(portion.millijoules for portion in portions) == joules
    assert {portion.busy_us for portion in portions} == {None}


def test_the_rules() -> None:
    one, two = Process(1), Process(2)
    assert divided(reading({1: 300, 2: 100}, one, two), 1000, 1_000_000, None) == [
        Portion(1, 750, 300_000),
        Portion(2, 250, 100_000),
    ], "by use, the idle draw with it"
    assert divided(reading({1: 5}, one, two), 1000, 1_000_000, None) == [Portion(1, 1000, 5_000), Portion(2, 0, 0)]
    assert divided(reading({}, one), 1000, 1_000_000, 1) == [Portion(1, 1000, 0)], "held alone"
    assert divided(reading({}, one, two), 1000, 1_000_000, None)[0] == Portion(None, 1000, 0), (
        "held by several, none at work"
    )
    assert divided(reading({}), 1000, 1_000_000, None) == [Portion(None, 1000, 0)], "held by nobody"
    assert divided(reading({1: 900, 2: 900}, one, two), 10, 1_000_000, None)[0].busy_us == 500_000, (
        "never busier than the clock"
    )


def test_instances_of_mig_weigh_by_their_slices_and_those_in_one_share_it() -> None:
    parts = (Process(1, instance=3, slices=4), Process(2, instance=5, slices=2), Process(3, instance=5, slices=2))
    portions = divided(reading(None, *parts), 6000, 1_000_000, None)
    assert [portion.millijoules for portion in portions] == [4000, 1000, 1000]


def test_accounting_stands_in_where_use_is_not_told() -> None:
    found = divided(reading(None, Process(1), Process(2), weights={1: 750, 2: 250}), 4, 1_000_000, None)
    assert [portion.millijoules for portion in found] == [3, 1]


def test_nothing_is_shared_by_no_weight() -> None:
    with pytest.raises(ValueError, match="no weight"):
        apportioned(1, [0, 0])
