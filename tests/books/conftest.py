"""Every test of the books runs on both databases."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

import pytest

from apportion.books.open import Books, StoredPlan, open_books, restore
from tests.books import postgres
from tests.books.rows import bill_days, charges, cost_line, cost_lines, delivery, gpu_hours, postings, run, workloads

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


@dataclass(frozen=True)
class Templates:
    """Books that are made once per kind of database; tests take copies, which is quicker and shows every time that books can move."""

    folder: Path
    socket: Callable[[], Path]
    made: dict[tuple[str, str], Path]

    def copy(self, kind: str, name: str, fill: Callable[[Books], None], place: Place) -> Place:
        template = self.folder / f"{kind}-{name}"
        if template not in self.made.values():
            self.make(kind, name, fill)
            self.made[kind, name] = template
        shutil.copytree(template, place.warehouse)
        if kind == "sqlite":
            shutil.copy(template.with_suffix(".db"), place.url.removeprefix("sqlite:///"))
            return place
        copy = postgres.new_database(self.socket(), f"copy{next(NUMBERS)}", template=f"template-{name}")
        return replace(place, url=copy)

    def make(self, kind: str, name: str, fill: Callable[[Books], None]) -> None:
        template = self.folder / f"{kind}-{name}"
        url = f"sqlite:///{template}.db"
        if kind == "postgresql":
            url = postgres.new_database(self.socket(), f"template-{name}")
        books = open_books(url, str(template), create=True)
        fill(books)
        books.close()


@pytest.fixture(scope="session")
def templates(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Templates:
    return Templates(tmp_path_factory.mktemp("templates"), lambda: request.getfixturevalue("postgres_socket"), {})


@pytest.fixture
def fresh(kind: str, place_of: Callable[[str], Place], templates: Templates) -> Callable[[], Place]:
    """A place with empty books, as often as it is asked for."""
    return lambda: templates.copy(kind, "empty", lambda _: None, place_of(kind))


@pytest.fixture
def made_place(kind: str, place: Place, templates: Templates) -> Place:
    """A place with empty books."""
    return templates.copy(kind, "empty", lambda _: None, place)


@pytest.fixture
def books(made_place: Place) -> Books:
    return made_place.open(create=False)


@pytest.fixture
def full_place(kind: str, place: Place, templates: Templates) -> Place:
    """A place with books that hold a little of everything."""
    return templates.copy(kind, "full", fill, place)


@pytest.fixture
def full(full_place: Place) -> Books:
    return full_place.open(create=False)


def fill(books: Books) -> None:
    """Evidence, some of it delivered twice and some doubtful, two runs with charges, and a plan."""
    told = workloads([("job-0", "completed", {"k": "ü\0"})])
    books.ingest(delivery(usage=gpu_hours(30), workloads=told))
    lines = [cost_line("l", "100.5"), cost_line("x", "1"), cost_line("x", "2")]
    books.ingest(delivery(source="aws", cost_lines=cost_lines(lines)))
    shares = [("vision", "60.000000000000000001"), ("_idle", "40.499999999999999999")]
    books.post(run(books, shares, "100.5", charges=charges("2026-10", [("j", "60")])))
    books.ingest(delivery(usage=gpu_hours(31)))
    books.save_plan(StoredPlan("p2", "2026-10", "v1", {}, "", postings([("a", "1")]), bill_days("1"), {}))
    books.post(run(books, [("vision", "-1"), ("bio", "2")], "101.5", run_id="run-2", plan_digest="p2"))
