"""Books that are made once and copied for every sequence."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count

import pytest

from apportion.books.open import Books, open_books
from tests.books import postgres
from tests.sequences.hands import ByVerbs, OnBooks, new_project

NUMBERS = count(1)


@pytest.fixture(scope="session")
def opened() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture(scope="session")
def on_books(tmp_path_factory: pytest.TempPathFactory, opened: ExitStack) -> Callable[[], OnBooks]:
    """New books each time, in SQLite."""
    folder = tmp_path_factory.mktemp("books")
    open_books(f"sqlite:///{folder}/empty/books.db", str(folder / "empty/warehouse"), create=True).close()

    def new() -> OnBooks:
        place = folder / str(next(NUMBERS))
        shutil.copytree(folder / "empty", place)
        return OnBooks(kept(opened, open_books(f"sqlite:///{place}/books.db", str(place / "warehouse"))))

    return new


@pytest.fixture(scope="session")
def by_verbs(tmp_path_factory: pytest.TempPathFactory, opened: ExitStack) -> Callable[[], ByVerbs]:
    folder = tmp_path_factory.mktemp("projects")
    new_project(folder / "empty").books.close()

    def new() -> ByVerbs:
        place = folder / str(next(NUMBERS))
        shutil.copytree(folder / "empty", place)
        project = new_project(place)
        kept(opened, project.books)
        return ByVerbs(project)

    return new


@pytest.fixture(scope="session")
def on_postgresql(tmp_path_factory: pytest.TempPathFactory, opened: ExitStack) -> Callable[[], OnBooks]:
    reason = postgres.cannot_start()
    if reason:
        pytest.skip(reason)
    socket = opened.enter_context(postgres.server())
    folder = tmp_path_factory.mktemp("postgresql")

    def new() -> OnBooks:
        name = f"sequence{next(NUMBERS)}"
        url = postgres.new_database(socket, name)
        return OnBooks(kept(opened, open_books(url, str(folder / name), create=True)))

    return new


def kept(opened: ExitStack, books: Books) -> Books:
    opened.callback(books.close)
    return books
