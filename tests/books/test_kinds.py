"""Runs of other kinds: corrections of closed periods in open ones, credits and re-attributions; and a head that is over content alone."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest
from sqlalchemy import insert

from apportion.books import record
from apportion.books.database import writing
from apportion.books.open import Books, Run
from apportion.errors import BooksError, InvariantError
from apportion.model.rows import BILL_DAYS
from tests.books.conftest import Place
from tests.books.rows import bill_days, delivery, gpu_hours, postings, run

CLOSED, OPEN = "2026-10", "2026-11"
NONE = BILL_DAYS.empty_table()


def close(books: Books, period: str = CLOSED) -> None:
    with writing(books.engine) as connection:
        connection.execute(insert(record.periods).values(period=period, status="closed"))


def owed(books: Books, period: str, **chosen: object) -> dict[str, Decimal]:
    rows = books.posted(period, **chosen)  # type: ignore[arg-type]
    return dict(zip(rows["team"].to_pylist(), rows["amount"].to_pylist(), strict=True))


def correction(books: Books, rows: list[tuple[str, str]], change: str, **fields: object) -> Run:
    """Booked in the open period, of the closed one's bill and days."""
    whole = run(books, [], "0", run_id="run-c", plan_digest="plan-c", period=OPEN)
    said = {
        "kind": "correction", "about": CLOSED, "cause": "the bill was restated",
        "postings": postings(rows, OPEN), "bill_days": bill_days(change),
    }  # fmt: skip
    return replace(whole, **{**said, **fields})


@pytest.fixture
def closed(books: Books) -> Books:
    books.post(run(books, [("vision", "60"), ("speech", "40")], "100"))
    close(books)
    return books


def test_a_correction_is_booked_in_an_open_period_and_the_closed_one_stays(closed: Books) -> None:
    before = closed.posted(CLOSED)
    assert closed.post(correction(closed, [("vision", "-5"), ("bio", "7")], "2")).posted
    assert closed.posted(CLOSED).equals(before)
    assert owed(closed, OPEN) == {"vision": Decimal(-5), "bio": Decimal(7)}
    assert owed(closed, OPEN, kinds=["plan"]) == {}
    last = closed.runs()[-1]
    assert (last.kind, last.about, last.cause, last.period) == ("correction", CLOSED, "the bill was restated", OPEN)
    assert closed.audit()[-1].why == "the bill was restated"
    assert closed.verify() == []


def test_the_open_period_is_planned_beside_its_corrections(closed: Books) -> None:
    closed.post(correction(closed, [("bio", "2")], "2"))
    november = run(closed, [("vision", "9")], "9", period=OPEN, run_id="run-n", plan_digest="plan-n")
    mine = replace(
        november,
        postings=postings([("vision", "9")], OPEN, "AWS 2026-11 USD"),
        bill_days=bill_days("9", "AWS 2026-11 USD"),
    )
    closed.post(mine)
    assert owed(closed, OPEN) == {"vision": Decimal(9), "bio": Decimal(2)}
    assert owed(closed, OPEN, kinds=["plan"]) == {"vision": Decimal(9)}
    assert closed.verify() == []


def test_what_does_not_change_the_bill_by_what_it_says_is_refused(closed: Books) -> None:
    with pytest.raises(InvariantError):
        closed.post(correction(closed, [("bio", "2")], "3"))
    with pytest.raises(InvariantError):
        closed.post(correction(closed, [("bio", "2")], "2", bill_days=NONE))
    assert len(closed.runs()) == 1


def test_only_what_is_closed_is_corrected_and_only_where_it_is_open(books: Books) -> None:
    books.post(run(books, [("vision", "60")], "60"))
    with pytest.raises(BooksError, match="period-open"):
        books.post(correction(books, [("bio", "2")], "2"))
    close(books)
    close(books, OPEN)
    with pytest.raises(BooksError, match="period-closed"):
        books.post(correction(books, [("bio", "2")], "2"))


def test_a_correction_made_before_another_one_is_refused(closed: Books) -> None:
    first, second = correction(closed, [("bio", "2")], "2"), correction(closed, [("bio", "3")], "3", run_id="run-d")
    closed.post(first)
    with pytest.raises(BooksError, match="inputs-moved"):
        closed.post(second)


@pytest.mark.parametrize("transfer", ["credit", "reclass"])
def test_a_transfer_between_owners_leaves_the_bill_as_it_is(closed: Books, transfer: str) -> None:
    moved = correction(
        closed,
        [("vision", "-5"), ("platform", "5")],
        "0",
        kind=transfer,
        about="",
        cause="agreed",
        bill_days=NONE,
        inputs={},
    )
    closed.post(moved)
    assert owed(closed, OPEN) == {"vision": Decimal(-5), "platform": Decimal(5)}
    assert not closed.post(moved).posted
    one_sided = replace(moved, run_id="run-x", postings=postings([("vision", "-5")], OPEN))
    with pytest.raises(InvariantError):
        closed.post(one_sided)
    assert closed.verify() == []


def test_what_was_believed_then(closed: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    then = closed.runs()[-1].posted_s
    monkeypatch.setattr("apportion.books.post.time.time", lambda: then + 3600)
    closed.post(correction(closed, [("bio", "2")], "2"))
    assert owed(closed, OPEN, as_of_s=then + 3599) == {}
    assert owed(closed, OPEN, as_of_s=then + 3600) == {"bio": Decimal(2)}


def test_the_same_inputs_give_the_same_head(place_of: Callable[[str], Place]) -> None:
    """Whatever the order of deliveries, the names of files, the time and the database."""
    heads = set()
    halves = [gpu_hours(30), gpu_hours(30, source="other")]
    for kind, order in (("sqlite", halves), ("sqlite", halves[::-1]), ("postgresql", halves)):
        books = place_of(kind).open()
        for table in order:
            books.ingest(delivery(source=table["source"][0].as_py(), usage=table))
        books.post(run(books, [("vision", "60"), ("speech", "40")], "100"))
        heads.add(books.head())
    assert len(heads) == 1


def test_what_was_booked_comes_a_day_at_a_time_by_kind_and_what_it_is_about(closed: Books) -> None:
    closed.post(correction(closed, [("vision", "-5"), ("bio", "7")], "2"))
    moved = correction(
        closed, [("vision", "-1"), ("bio", "1")], "0", kind="credit", about="", bill_days=NONE, inputs={}, run_id="t"
    )
    closed.post(moved)
    (day,) = closed.booked(OPEN)
    found = {(row["kind"], row["about"], row["team"]): row["amount"] for row in day.to_pylist()}
    assert found == {
        ("correction", CLOSED, "vision"): Decimal(-5), ("correction", CLOSED, "bio"): Decimal(7),
        ("credit", "", "vision"): Decimal(-1), ("credit", "", "bio"): Decimal(1),
    }  # fmt: skip
