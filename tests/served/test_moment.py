"""What is read in one moment is of one moment, whatever is written between two of its readings."""

from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

import apportion
from apportion.books.database import reading
from apportion.books.moment import current, moment
from apportion.books.open import Books
from apportion.books.publish import published
from apportion.model.times import parse_period
from apportion.verbs.adjust import Wish
from apportion.verbs.erase import erase
from apportion.verbs.project import Project
from apportion.web.pages import overview
from tests.books.conftest import Place, kind, made_place, place, place_of, templates
from tests.books.rows import run
from tests.served.reading import head_of, sums_by_head, told_sums
from tests.web import world
from tests.web.conftest import clients_of

__all__ = ["kind", "made_place", "place", "place_of", "templates"]
MONTH = "2026-10"
OVERVIEW = f"/overview.json?period={MONTH}"


def test_what_others_post_is_seen_when_the_moment_is_over(made_place: Place) -> None:
    mine, theirs = made_place.open(create=False), made_place.open(create=False)
    theirs.post(run(theirs, [("vision", "10")], "10"))
    with moment() as now:
        seen = mine.head(), mine.state(), mine.posted(MONTH)["amount"].to_pylist()
        written = mine.head()
        theirs.post(run(theirs, [("vision", "1")], "11", run_id="second"))
        with moment() as inner:
            assert inner is now
            assert (mine.head(), mine.state(), mine.posted(MONTH)["amount"].to_pylist()) == seen
        assert mine.head() == written
    assert current() is None
    assert mine.head() != written
    assert sum(mine.posted(MONTH)["amount"].to_pylist()) == 11


def test_what_one_writes_is_written_and_a_failure_does_not_spoil_the_rest(made_place: Place) -> None:
    books = made_place.open(create=False)
    with moment():
        before = books.head()
        books.post(run(books, [("vision", "10")], "10"))
        with pytest.raises(DBAPIError), reading(books.engine) as connection:
            connection.execute(text("SELECT nothing FROM nowhere"))
        assert books.head() != before


def between(monkeypatch: pytest.MonkeyPatch, where: Any, name: str, deed: Callable[[], object]) -> list[str]:
    """Once, before a function is called for the first time."""
    call, done = getattr(where, name), list[str]()

    def called(*given: Any) -> Any:
        if not done:
            done.append(name)
            deed()
        return call(*given)

    monkeypatch.setattr(where, name, called)
    return done


def elsewhere(deed: Callable[[], object]) -> None:
    """As another process would: in a thread that knows nothing of this one's moment."""
    thread = Thread(target=deed)
    thread.start()
    thread.join()


@pytest.fixture
def own(small: Project, tmp_path: Path) -> Project:
    return world.copied(small, tmp_path / "mine")


def test_a_posting_while_a_page_is_made_is_in_all_of_its_figures_or_in_none(
    own: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = clients_of(own.folder)("admin")
    before = own.books.head()
    wish = Wish("vision", "speech", "1.00", "between two readings")
    done = between(monkeypatch, overview, "strip", lambda: elsewhere(lambda: apportion.adjust(own, MONTH, wish)))
    first, second = client.get(OVERVIEW).json(), client.get(OVERVIEW).json()
    assert done
    assert [head_of(first), head_of(second)] == [before, own.books.head()]
    for page in (first, second):
        owed = sums_by_head(own, MONTH)[head_of(page)]
        assert told_sums(page) == [owed, owed]


def test_files_that_are_taken_away_while_a_page_is_made_are_looked_for_where_they_are_now(
    own: Project, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Names are erased: what the page was about to read is gone. The erasing waits in turn until nobody reads as it was before.

    Nobody was refused anything, so the log says nothing.
    """
    client = clients_of(own.folder)("admin")
    with own.books.engine.connect() as connection:
        old = Path(own.books.evidence.place(published(connection, "workloads").metadata))
    erasing = Thread(target=erase, args=(own, parse_period(MONTH)), kwargs={"yes": True})

    def begun() -> None:
        erasing.start()
        while old.exists() and erasing.is_alive():
            erasing.join(0.05)

    done = between(monkeypatch, Books, "_data_files", begun)
    answer = client.get(f"/explain.json?what=vision&period={MONTH}")
    erasing.join()
    assert done
    assert answer.status_code == 200, answer.text
    assert own.books.erasures() == 1
    assert caplog.messages == []


def test_files_that_stay_away_are_asked_for_again_and_then_said_once(
    own: Project, caplog: pytest.LogCaptureFixture
) -> None:
    client = clients_of(own.folder)("admin")
    for file in (own.folder / ".apportion" / "warehouse" / "workloads" / "data").iterdir():
        file.unlink()
    assert client.get(f"/explain.json?what=vision&period={MONTH}").status_code == 503
    (said,) = caplog.messages
    assert said.startswith("GET /explain.json: error[warehouse-failed]")
