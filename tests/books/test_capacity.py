"""Equal rows of capacity count once, and that is told with what does not count."""

from datetime import UTC
from zoneinfo import ZoneInfo

import pytest

from apportion.books.open import Books
from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.model.times import Interval, Period, parse_instant
from tests.books.rows import MONTH, capacity

ROW = ("g01", "gpu", MONTH.start_s, MONTH.end_s, GPU, "up")
OTHER = ("g02", "gpu", MONTH.start_s, MONTH.end_s, 8 * GPU, "up")


def told(books: Books) -> list[tuple[str, str, str, str]]:
    return [(one.code, one.row, one.quantity, one.meter) for one in books.problems()]


@pytest.mark.parametrize("adds", [False, True])
def test_a_row_for_each_gpu_counts_once_and_the_others_are_told(books: Books, adds: bool) -> None:
    each = Delivery("inventory", MONTH, {"capacity": capacity([ROW] * 8 + [OTHER], "inventory")}, adds=adds)
    once = Delivery("inventory", MONTH, {"capacity": capacity([ROW, OTHER], "inventory")}, adds=adds)
    receipt = books.ingest(each)
    assert receipt.rows == {"capacity": 2}
    seconds = MONTH.end_s - MONTH.start_s
    assert told(books) == [("repeated-capacity", "+7", str(7 * GPU * seconds), "gpu")]
    assert "such as g01" in books.problems()[0].message
    assert not books.ingest(each).changed
    if not adds:
        assert books.ingest(once).changed
        assert told(books) == []


def test_what_does_not_count_is_bounded_by_the_window(books: Books) -> None:
    long = (*ROW[:2], MONTH.start_s - 100, MONTH.start_s + 50, GPU, "up")
    books.ingest(Delivery("inventory", MONTH, {"capacity": capacity([long, long], "inventory")}))
    assert told(books) == [("repeated-capacity", "+1", str(50 * GPU), "gpu")]


def test_rows_of_different_nodes_or_starts_are_not_equal(books: Books) -> None:
    later = (*ROW[:2], MONTH.start_s + 100, *ROW[3:])
    books.ingest(Delivery("inventory", MONTH, {"capacity": capacity([ROW, OTHER, later], "inventory")}))
    assert told(books) == []


def test_each_month_of_a_long_delivery_is_told_its_own(books: Books) -> None:
    """7 of 8 rows of a GPU in October (745 hours in Berlin, where clocks go back), none in November, a row again of 10 hours in December."""
    berlin = ZoneInfo("Europe/Berlin")
    october, november, december = (Period(2026, month).interval(berlin) for month in (10, 11, 12))
    window = Interval(october.start_s, december.end_s)
    first = ("g01", "gpu", october.start_s, october.end_s, GPU, "up")
    second = ("g01", "gpu", november.start_s, november.end_s, GPU, "up")
    third = ("g01", "gpu", december.start_s, december.start_s + 10 * 3600, GPU, "up")
    rows = capacity([first] * 8 + [second] + [third] * 2, "inventory")
    books.ingest(Delivery("inventory", window, {"capacity": rows}, zone=berlin))
    assert told(books) == [
        ("repeated-capacity", "+7", str(7 * 745 * 3600 * GPU), "gpu"),
        ("repeated-capacity", "+1", str(10 * 3600 * GPU), "gpu"),
    ]
    moments = [parse_instant(one.at) for one in books.problems()]
    assert [month.start_s <= at < month.end_s for at, month in zip(moments, (october, december), strict=True)] == [
        True
    ] * 2


def test_a_row_of_two_months_is_told_in_both(books: Books) -> None:
    november = Period(2026, 11).interval(UTC)
    long = ("g01", "gpu", november.start_s - 5 * 3600, november.start_s + 7 * 3600, GPU, "up")
    window = Interval(MONTH.start_s, november.end_s)
    books.ingest(Delivery("inventory", window, {"capacity": capacity([long, long], "inventory")}))
    assert [row for *_, row, _ in told(books)] == [str(5 * 3600 * GPU), str(7 * 3600 * GPU)]
