"""Cutting rows at the edges of windows, against counting every second."""

from hypothesis import given
from hypothesis import strategies as st

from apportion.books.window import inside, outside
from apportion.model.times import Interval
from tests.books.rows import Usage, jobs, usage

SECONDS = st.integers(-20, 20)
INTERVALS = st.tuples(SECONDS, SECONDS).map(lambda ends: Interval(min(ends), max(ends)))
AMOUNTS = st.integers(0, 2**62)


@st.composite
def rows(draw: st.DrawFn) -> Usage:
    interval = draw(INTERVALS)
    meter = draw(st.sampled_from(["gpu", "energy", "network"]))
    used = draw(st.none() | AMOUNTS)
    return ("job", meter, "n", interval.start_s, interval.end_s, draw(AMOUNTS), used)


@given(rows(), INTERVALS)
def test_the_parts_of_a_row_keep_its_seconds_and_a_flow_its_amount(row: Usage, window: Interval) -> None:
    table = usage([row])
    parts = jobs(inside("usage", table, window)) + jobs(outside("usage", table, window))
    _, meter, _, start, end, allocated, used = row
    assert sum(part[4] - part[3] for part in parts) == end - start
    assert all(part[:3] == row[:3] and start <= part[3] <= part[4] <= end for part in parts)
    if start == end:
        assert parts == [row] or (window.seconds == 0 and parts == [row])
    elif meter == "gpu":
        assert {part[5:] for part in parts} == {(allocated, used)}
    else:
        assert sum(part[5] for part in parts) == allocated
        assert (
            [part[6] for part in parts] == [None] * len(parts)
            if used is None
            else sum(part[6] for part in parts) == used
        )


@given(rows(), INTERVALS)
def test_what_is_inside_lies_inside_and_what_is_outside_outside(row: Usage, window: Interval) -> None:
    table = usage([row])
    for part in jobs(inside("usage", table, window)):
        assert window.start_s <= part[3] <= part[4] <= window.end_s
        assert part[3] < part[4] or window.start_s <= part[3] < window.end_s
    for part in jobs(outside("usage", table, window)):
        assert part[4] <= window.start_s or part[3] >= window.end_s


@given(rows(), INTERVALS, INTERVALS)
def test_cutting_once_more_where_a_cut_was_changes_nothing(row: Usage, first: Interval, second: Interval) -> None:
    once = inside("usage", usage([row]), first)
    assert jobs(inside("usage", once, first)) == jobs(once)
    rest = outside("usage", usage([row]), second)
    assert jobs(outside("usage", rest, second)) == jobs(rest)


@given(rows(), st.integers(-20, 20))
def test_neighbouring_windows_share_a_flow_without_loss(row: Usage, middle: int) -> None:
    """Two exports that both name a row across their common edge add up to the row."""
    left, right = Interval(-30, middle), Interval(middle, 30)
    table = usage([row])
    parts = jobs(inside("usage", table, left)) + jobs(inside("usage", table, right))
    if row[1] != "gpu":
        assert sum(part[5] for part in parts) == row[5]
    assert sum(part[4] - part[3] for part in parts) == row[4] - row[3]
