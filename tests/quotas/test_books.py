"""Pledges in the books, on both databases: rows are only added, a change is found, earlier books get the table, a backup has them."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest
from sqlalchemy import text, update
from sqlalchemy.exc import DBAPIError

from apportion.books import record
from apportion.books.database import writing
from apportion.books.open import Books
from apportion.books.pledges import POST, RESERVE, Entry, Ground
from apportion.errors import BooksError
from tests.books.conftest import Place

HOLD = Entry(
    RESERVE, Decimal("512.5"), team="vision", project="seg", what="gpu", unit="GPU-hours", job="4711", why="agreed"
)


def put(books: Books) -> None:
    books.pledges.add(lambda _: [HOLD])
    books.pledges.add(lambda known: [Entry(POST, Decimal(480), about=known[0].number)])


def test_what_ends_it_is_a_row_of_its_own(books: Books, place_of: Callable[[str], Place], tmp_path: Path) -> None:
    before = books.state()
    put(books)
    (one,) = books.pledges.all()
    assert (one.status, one.begun, one.ended) == ("posted", HOLD, Decimal(480))
    assert books.state() != before
    noted = [note.detail for note in books.audit() if note.what == "pledge"]
    assert [detail.partition(" (")[0] for detail in noted] == [
        "1, reserve vision/seg: 512.5 GPU-hours for 4711",
        "2, post 1: 480",
    ]
    with pytest.raises(DBAPIError, match="append-only"), writing(books.engine) as connection:
        connection.execute(text("UPDATE pledges SET why = 'x'"))
    assert books.verify() == []
    books.backup(tmp_path / "copy.tar")
    copy = place_of("sqlite").restore(tmp_path / "copy.tar")
    assert copy.pledges.all() == [one]
    assert copy.verify() == []


@pytest.mark.parametrize(
    "change", ["UPDATE pledges SET amount = '9' WHERE seq = 1", "DELETE FROM pledges WHERE seq = 2"]
)
def test_a_changed_pledge_is_found(books: Books, change: str) -> None:
    put(books)
    with writing(books.engine) as connection:
        for action in ("update", "delete"):
            on = " ON pledges" if connection.dialect.name == "postgresql" else ""
            connection.execute(text(f"DROP TRIGGER pledges_no_{action}{on}"))
        connection.execute(text(change))
    assert {finding.code for finding in books.verify()} == {"pledge-changed"}


def test_a_decision_on_moved_ground_keeps_nothing(books: Books) -> None:
    now = {name: version.snapshot_id for name, version in books.inputs().items()}
    books.pledges.add(lambda _: [], Ground(books.head(), now))
    for ground in (Ground("another", now), Ground(books.head(), {**now, "usage": 1})):
        with pytest.raises(BooksError) as refused:
            books.pledges.add(lambda _: [HOLD], ground)
        assert refused.value.code == "inputs-moved"
    assert books.pledges.all() == []


def test_books_of_the_schema_before_get_the_table(made_place: Place) -> None:
    books = made_place.open(create=False)
    with writing(books.engine) as connection:
        connection.execute(text("DROP TABLE pledges"))
        connection.execute(update(record.meta).where(record.meta.c.key == "schema").values(value="4"))
    books.close()
    again = made_place.open(create=False)
    put(again)
    assert again.verify() == []
