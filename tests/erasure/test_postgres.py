"""The same on PostgreSQL, and through a backup from there into SQLite."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import apportion
from apportion.model.times import parse_period
from tests.books import postgres
from tests.erasure import worlds
from tests.erasure.worlds import GONE, MONTHS, search, sums, users


@pytest.fixture
def socket() -> Iterator[Path]:
    reason = postgres.cannot_start()
    if reason:
        pytest.skip(reason)
    with postgres.server() as folder:
        yield folder


def test_names_are_erased_on_postgresql(socket: Path, tmp_path: Path) -> None:
    url = postgres.new_database(socket, "erasure")
    settings = f'[books]\nurl = "{url}"\nwarehouse = "warehouse"\n'
    project = worlds.fill(worlds.start(tmp_path / "project", settings=settings), MONTHS[:1])
    head, was = project.books.head(), {month: sums(project, month) for month in MONTHS[:1]}
    before = users(project, MONTHS[0])
    assert apportion.erase(project, parse_period(MONTHS[1]), why="too old", yes=True).number == 1
    assert [name for name in GONE if search(project.books, project.folder / "warehouse", name)] == [
        "alice"
    ]  # whose job goes on
    assert apportion.verify(project).findings == ()
    assert (project.books.head(), {month: sums(project, month) for month in MONTHS[:1]}) == (head, was)
    apportion.backup(project, tmp_path / "copy.tar")
    other = worlds.start(tmp_path / "other")
    apportion.restore(other, tmp_path / "copy.tar")
    assert apportion.verify(other).findings == ()
    assert users(other, MONTHS[0]) == {project.books.names.token(name) for name in before}
    other.books.close()
    project.books.close()
