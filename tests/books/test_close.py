"""A period is closed once, with its minor units, and stays what it was."""

from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pytest

from apportion.books import record
from apportion.books.database import writing
from apportion.books.open import Books
from apportion.books.shapes import Close
from apportion.errors import BooksError, InvariantError
from apportion.model.minor import minor_units
from apportion.model.rows import MINOR
from tests.books.rows import run
from tests.books.test_kinds import CLOSED, OPEN, correction

SHARES = [("vision", "60.004"), ("speech", "39.993"), ("_idle", "0.008")]


def closing(books: Books, **fields: object) -> Close:
    minor = minor_units(books.posted(CLOSED))
    whole = Close(CLOSED, "v1", minor, {"reconciled": "all that was read is posted"}, books.head())
    return replace(whole, **fields)  # type: ignore[arg-type]


@pytest.fixture
def posted(books: Books) -> Books:
    books.post(run(books, SHARES, "100.005"))
    return books


def test_a_close_keeps_the_minor_units_and_is_a_link(posted: Books) -> None:
    head = posted.head()
    done = posted.close_period(closing(posted))
    assert dict(zip(done.minor["team"].to_pylist(), done.minor["amount"].to_pylist(), strict=True)) == {
        "vision": 6000, "speech": 3999, "_idle": 1,
    }  # fmt: skip
    assert posted.head() == done.head != head
    assert posted.closed(CLOSED) == done
    assert posted.closed_periods() == [CLOSED]
    assert posted.closed(OPEN) is None
    last = posted.runs()[-1]
    assert (last.kind, last.period, last.entries) == ("close", CLOSED, 0)
    assert posted.verify(done.head) == []


def test_nothing_is_posted_in_a_closed_period(posted: Books) -> None:
    again = run(posted, [("vision", "1")], "101.005", run_id="run-2", plan_digest="plan-2")
    posted.close_period(closing(posted))
    with pytest.raises(BooksError, match="period-closed"):
        posted.post(replace(again, expected_head=posted.head()))
    assert posted.post(correction(posted, [("bio", "2")], "2")).posted
    assert sum(posted.posted(CLOSED)["amount"].to_pylist()) == Decimal("100.005")
    assert posted.verify() == []


def test_the_same_close_twice_is_one_and_another_is_refused(posted: Books) -> None:
    first = closing(posted)
    done = posted.close_period(first)
    assert posted.close_period(first) == done
    assert len(posted.runs()) == 2
    other = first.minor.set_column(MINOR.names.index("amount"), MINOR.field("amount"), pa.array([1, 2, 3]))
    with pytest.raises(BooksError, match="period-closed"):
        posted.close_period(replace(first, minor=other))


@pytest.mark.parametrize("fault", ["amount", "bill", "nothing"])
def test_minor_units_that_do_not_add_up_to_the_bill_are_refused(posted: Books, fault: str) -> None:
    right = closing(posted)
    rows = right.minor.to_pylist()
    wrong = {
        "amount": [{**row, "amount": row["amount"] + (row["team"] == "vision")} for row in rows],
        "bill": [{**row, "bill": "other"} for row in rows],
        "nothing": [],
    }[fault]
    with pytest.raises(InvariantError):
        posted.close_period(replace(right, minor=pa.Table.from_pylist(wrong, MINOR)))
    assert posted.closed_periods() == []


def test_what_was_posted_since_is_not_closed_over(posted: Books) -> None:
    early = closing(posted)
    posted.post(run(posted, [("vision", "1")], "101.005", run_id="run-2", plan_digest="plan-2"))
    with pytest.raises(BooksError, match="inputs-moved"):
        posted.close_period(early)


def test_a_period_without_postings_is_not_closed(books: Books) -> None:
    books.save_policy("v1", "policy: test\n", "policy.yaml", "test", "2026-01-01")
    with pytest.raises(BooksError, match="nothing-posted"):
        books.close_period(closing(books))


@pytest.mark.parametrize("change", ["minor", "checks", "gone", "open"])
def test_a_changed_close_is_found(posted: Books, change: str) -> None:
    done = posted.close_period(closing(posted))
    table = record.closes
    values = {"checks": '{"reconciled": "no"}', "minor": b"nothing"}
    with writing(posted.engine) as connection:
        for name in ("update", "delete"):
            on = " ON closes" if connection.dialect.name == "postgresql" else ""
            connection.exec_driver_sql(f"DROP TRIGGER closes_no_{name}{on}")
        if change == "gone":
            connection.execute(table.delete())
        elif change == "open":
            connection.execute(record.periods.delete())
        else:
            connection.execute(table.update().values({change: values[change]}))
    assert {finding.code for finding in posted.verify(done.head)} & {"close-changed", "unreadable"}
