"""Every test of the books runs on both databases."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import pytest

from apportion.books.open import Books, open_books, restore
from tests.books import postgres

NUMBERS = count(1)


@dataclass(frozen=True)
class Place:
    """Where books can be made; what is opened here is closed after the test."""

    kind: str
    url: str
    warehouse: str
    opened: ExitStack

    def open(self, *, create: bool = True, warehouse: str = "") -> Books:
        return self.keep(open_books(self.url, warehouse or self.warehouse, create=create))

    def restore(self, path: Path) -> Books:
        return self.keep(restore(path, self.url, self.warehouse))

    def keep(self, books: Books) -> Books:
        self.opened.callback(books.close)
        return books


@pytest.fixture(scope="session")
def postgres_socket() -> Iterator[Path]:
    reason = postgres.cannot_start()
    if reason:
        pytest.skip(reason)
    with postgres.server() as folder:
        yield folder


@pytest.fixture
def place_of(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[str], Place]]:
    """A new place for books in the named kind of database."""
    opened = ExitStack()

    def make(kind: str) -> Place:
        number = next(NUMBERS)
        warehouse = str(tmp_path / f"warehouse{number}")
        if kind == "sqlite":
            return Place(kind, f"sqlite:///{tmp_path}/books{number}.db", warehouse, opened)
        url = postgres.new_database(request.getfixturevalue("postgres_socket"), f"books{number}")
        return Place(kind, url, warehouse, opened)

    with opened:
        yield make


@pytest.fixture(params=["sqlite", "postgresql"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def place(kind: str, place_of: Callable[[str], Place]) -> Place:
    return place_of(kind)


@pytest.fixture(scope="session")
def new_sqlite(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Empty books, made once: tests take copies, which is quicker and shows every time that books can move."""
    folder = tmp_path_factory.mktemp("template")
    open_books(f"sqlite:///{folder}/books.db", str(folder / "warehouse"), create=True).close()
    return folder


@pytest.fixture(scope="session")
def new_postgresql(postgres_socket: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("template")
    url = postgres.new_database(postgres_socket, "new")
    open_books(url, str(folder / "warehouse"), create=True).close()
    return folder


@pytest.fixture
def made_place(kind: str, place: Place, request: pytest.FixtureRequest) -> Place:
    """A place with empty books."""
    template: Path = request.getfixturevalue(f"new_{kind}")
    shutil.copytree(template / "warehouse", place.warehouse)
    if kind == "sqlite":
        shutil.copy(template / "books.db", place.url.removeprefix("sqlite:///"))
        return place
    socket = request.getfixturevalue("postgres_socket")
    return replace(place, url=postgres.new_database(socket, f"copy{next(NUMBERS)}", template="new"))


@pytest.fixture
def books(made_place: Place) -> Books:
    return made_place.open(create=False)
