"""Many postings over their workloads at once: each as `money.share` shares it alone."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from apportion.engine.nanos import share_nanos
from apportion.engine.wide import Whole, from_arrow, to_arrow
from apportion.model.money import share

HUGE = 10**50
VALUES = st.lists(st.integers(0, HUGE) | st.integers(0, 3), min_size=1, max_size=6).filter(any)
POSTING = st.tuples(st.integers(-(10**18), 10**18), VALUES, st.sampled_from([1, -1]))


def whole(numbers: list[int]) -> Whole:
    found = np.empty(len(numbers), dtype=object)
    found[:] = numbers
    return found


@given(st.lists(POSTING, min_size=1, max_size=8))
@example([(1, [2**80, 2**80 + 1], 1)])  # remainders that differ in their last bits alone
@example([(1, [2**80 + 1, 2**80], 1), (1, [1, 1], -1)])
def test_each_posting_is_shared_as_if_it_were_alone(postings: list[tuple[int, list[int], int]]) -> None:
    first = np.cumsum([0, *(len(values) for _, values, _ in postings[:-1])])
    values = whole([sign * value for _, values, sign in postings for value in values])
    found = share_nanos(whole([nanos for nanos, _, _ in postings]), values, first).tolist()
    ids = [f"{n:03d}" for n in range(10)]
    assert found == [part for nanos, values, _ in postings for part in share(nanos, values, ids[: len(values)])]


def test_values_of_both_signs_add_up_and_nothing_goes_to_the_first() -> None:
    first = np.array([0, 3, 5])
    found = share_nanos(whole([100, 7, 9]), whole([3, -1, 2, 0, 0, 1]), first).tolist()
    assert found == [75, -25, 50, 7, 0, 9]


@given(st.lists(st.integers(-(10**38) + 1, 10**38 - 1), max_size=20))
def test_whole_numbers_go_to_arrow_and_back(numbers: list[int]) -> None:
    assert from_arrow(to_arrow(whole(numbers), pa.decimal128(38, 0))).tolist() == numbers


def test_more_digits_than_a_decimal_has_are_refused() -> None:
    with pytest.raises((pa.ArrowInvalid, OverflowError)):
        to_arrow(whole([10**38]), pa.decimal128(38, 0))
