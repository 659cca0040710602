"""Integrals against a walk through every second; and cut anywhere, they add up."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from apportion.model.times import Interval
from apportion.sources.prometheus.answers import matrix
from apportion.sources.prometheus.samples import Buckets, growth, hold, usual_step
from apportion.sources.prometheus.steps import combined, merged, steps_of, within

STEP, PAD = 10, 45
TIMES = st.lists(st.integers(0, 300), unique=True, min_size=1, max_size=30).map(sorted)
VALUES = st.lists(st.integers(0, 9), min_size=30, max_size=30)


def by_the_second(times: list[int], values: list[int], at: int) -> int:
    """What stands at a second: the last sample before it, for as long as it may."""
    before = [n for n, time in enumerate(times) if time <= at]
    if not before:
        return 0
    n = before[-1]
    following = times[n + 1] if n + 1 < len(times) else None
    lasts = following - times[n] if following is not None and following - times[n] <= PAD else STEP
    return values[n] if at < times[n] + lasts else 0


@given(TIMES, VALUES, st.integers(1, 60), st.integers(0, 100), st.integers(101, 400))
def test_gauges(times: list[int], values: list[int], size: int, start: int, end: int) -> None:
    mine = values[: len(times)]
    held = hold(np.array(times), np.array(mine), STEP, PAD)
    buckets = Buckets(Interval(start, end), size)
    which, bucket, seconds = buckets.cut(held.start, held.end)
    found = np.zeros(buckets.count, np.int64)
    np.add.at(found, bucket, held.values[which] * seconds)
    for number in range(buckets.count):
        span = buckets.span(number)
        assert found[number] == sum(by_the_second(times, mine, at) for at in range(span.start_s, span.end_s))


@given(TIMES, VALUES)
def test_steps_are_the_same_function(times: list[int], values: list[int]) -> None:
    mine = values[: len(times)]
    steps = steps_of(hold(np.array(times), np.array(mine), STEP, PAD))
    for at in range(400):
        assert sum(amount for start, end, amount in steps if start <= at < end) == by_the_second(times, mine, at)


@given(TIMES, VALUES, st.integers(1, 300))
def test_counters_add_up_wherever_they_are_cut(times: list[int], values: list[int], cut: int) -> None:
    mine = np.array(values[: len(times)])
    at = np.array(times)
    whole = growth(at, mine, PAD, born=False)
    first, second = at < cut + PAD, at >= cut - PAD
    parts = growth(at[first], mine[first], PAD, born=False), growth(at[second], mine[second], PAD, born=False)
    assert whole.sum() == parts[0][at[first] < cut].sum() + parts[1][at[second] >= cut].sum()


SPANS = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20), st.integers(0, 3)), max_size=5)


@given(st.lists(SPANS, max_size=4))
def test_sums_of_steps(several: list[list[tuple[int, int, int]]]) -> None:
    parts = [merged((start, start + length, amount) for start, length, amount in spans) for spans in several]
    total = combined(parts)
    for at in range(80):
        assert sum(amount for start, end, amount in total if start <= at < end) == sum(
            amount for steps in parts for start, end, amount in steps if start <= at < end
        )


def test_amounts_fill_the_time_of_a_run() -> None:
    assert within([(0, 10, 1), (20, 30, 1)], [(2, 5, 7), (8, 12, 9)]) == [(0, 8, 7), (8, 10, 9), (20, 30, 9)]
    assert within([(0, 10, 1)], []) == []


def test_the_scrape_interval_is_what_is_usual() -> None:
    assert usual_step([np.array([0, 30, 60, 90, 1290, 1320])]) == 30
    assert usual_step([np.array([5])], 60) == 60


def test_answers_however_they_are_spaced() -> None:
    tight = b'{"status":"success","data":{"resultType":"matrix","result":[{"metric":{"a":"],\\"values\\":[[1"},"values":[[1.5,"2"],[61.499,"NaN"]]}]}}'
    loose = tight.replace(b'"values":[[1.5', b'"values": [[1.5')
    for body in (tight, loose):
        (one,) = matrix(body)
        assert one.labels == {"a": '],"values":[[1'}
        assert one.times.tolist() == [1, 61]
        assert one.values[0] == 2
