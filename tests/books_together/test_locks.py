"""One writer per table; others wait, and are told if they wait too long."""

from threading import Event, Thread

import pytest

from apportion.books.open import Books
from apportion.errors import BooksError
from tests.books.conftest import Place
from tests.books.rows import delivery, gpu_hours


def test_a_lock_that_is_never_let_go_is_said_in_words(made_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apportion.books.locks.LONGEST_WAIT_S", 1)
    hanging, waiting = made_place.open(), made_place.open()
    with hanging.locks.hold(["usage"]):
        with pytest.raises(BooksError, match="books-busy"):
            waiting.ingest(delivery(usage=gpu_hours(1)))
        assert waiting.scan("usage").num_rows == 0
    assert waiting.ingest(delivery(usage=gpu_hours(1))).changed


def test_two_who_name_the_same_tables_in_another_order_do_not_wait_for_each_other(books: Books) -> None:
    done = Event()

    def often(*names: str) -> None:
        for _ in range(20):
            with books.locks.hold(names):
                pass
        done.set()

    threads = [Thread(target=often, args=names) for names in (("usage", "capacity"), ("capacity", "usage"))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert done.is_set()


def test_other_tables_are_not_held_up(books: Books) -> None:
    with books.locks.hold(["cost_lines"]):
        assert books.ingest(delivery(usage=gpu_hours(1))).changed
