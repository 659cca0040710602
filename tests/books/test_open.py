"""Opening, making and moving the books."""

import shutil
from pathlib import Path

import pytest
from sqlalchemy import delete, text

from apportion.books import record
from apportion.books.database import writing
from apportion.books.open import open_books
from apportion.errors import BooksError
from tests.books.conftest import Place
from tests.books.rows import delivery, gpu_hours, jobs


def test_books_that_are_not_there_are_not_made_by_looking(place: Place) -> None:
    with pytest.raises(BooksError, match="no-books"):
        place.open(create=False)
    assert not Path(place.warehouse).exists()
    if place.kind == "sqlite":
        assert not Path(place.url.removeprefix("sqlite:///")).exists()


def test_making_them_twice_makes_them_once(place: Place) -> None:
    first = place.open()
    first.ingest(delivery(usage=gpu_hours(2)))
    second = place.open()
    assert second.inputs() == first.inputs()
    assert second.verify() == []


def test_half_made_books_are_refused_and_then_finished(place: Place) -> None:
    books = place.open()
    with writing(books.engine) as connection:
        connection.execute(delete(record.files).where(record.files.c.table == "usage"))
        connection.execute(delete(record.snapshots).where(record.snapshots.c.table == "usage"))
        connection.execute(delete(record.published).where(record.published.c.table == "usage"))
    books.close()
    with pytest.raises(BooksError, match="no-books"):
        place.open(create=False)
    books = place.open()
    assert books.verify() == []
    assert books.ingest(delivery(usage=gpu_hours(2))).changed


@pytest.mark.parametrize("url", ["nonsense", "mysql://host/books", "sqlite://", "sqlite:///:memory:"])
def test_a_url_that_cannot_hold_books_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(BooksError, match="books-url"):
        open_books(url, str(tmp_path))


def test_a_database_that_does_not_answer_is_said_in_words(tmp_path: Path) -> None:
    with pytest.raises(BooksError, match="database-failed"):
        open_books(f"postgresql+psycopg://nobody@/none?host={tmp_path}", str(tmp_path), create=True)
    (tmp_path / "text.db").write_text("this is no database" * 100)
    with pytest.raises(BooksError, match="database-failed"):
        open_books(f"sqlite:///{tmp_path}/text.db", str(tmp_path / "w"), create=True)


def test_a_moved_warehouse_is_found_and_written_where_it_is(place: Place, tmp_path: Path) -> None:
    books = place.open()
    books.ingest(delivery(usage=gpu_hours(3)))
    before = jobs(books.scan("usage"))
    books.close()
    moved = str(tmp_path / "moved away")
    shutil.move(place.warehouse, moved)
    books = place.open(create=False, warehouse=moved)
    assert jobs(books.scan("usage")) == before
    books.ingest(delivery(usage=gpu_hours(4)))
    assert all(path.startswith(moved) for path in books.files("usage"))
    assert books.verify() == []
    assert not Path(place.warehouse).exists()


def test_sqlite_syncs_fully_and_keeps_a_log(made_place: Place) -> None:
    if made_place.kind != "sqlite":
        return
    books = made_place.open()
    with books.engine.connect() as connection:
        pragmas = {
            name: connection.scalar(text(f"PRAGMA {name}")) for name in ("journal_mode", "synchronous", "busy_timeout")
        }
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "busy_timeout": 60_000}
