"""Numbered migrations: every earlier schema becomes this one, once, whole or not at all, on both databases."""

import json
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, inspect, text

from apportion.books import migrations, record
from apportion.books.database import connect, reading, writing
from apportion.books.evolve import current_schema, evolve_record, known_migrations, schema_of
from apportion.books.locks import Locks
from apportion.books.open import Books
from apportion.books.steps import Columns, Fill, Guards, Tables, View
from apportion.errors import BooksError, InvariantError
from tests import processes
from tests.books import versions
from tests.books.conftest import Place

ROOT = Path(__file__).parents[2]
NUMBERS = sorted(int(folder.name) for folder in versions.VERSIONS.iterdir())
TRIGGERS = {
    "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
    "postgresql": "SELECT trigger_name FROM information_schema.triggers WHERE trigger_schema = 'public'",
}
PLANTED = '''"""Planted."""
from apportion.books.steps import View
STEPS = (View("owed", "SELECT period, team, amount FROM entries"),)
'''


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Puts a file beside the migrations that there are."""
    folder = tmp_path / "planted"
    folder.mkdir()
    monkeypatch.setattr(migrations, "__path__", [*migrations.__path__, str(folder)])

    def plant(name: str) -> None:
        (folder / f"{name}.py").write_text(PLANTED, "utf-8")
        known_migrations.cache_clear()

    yield plant
    known_migrations.cache_clear()
    for name in [name for name in sys.modules if name.startswith(f"{migrations.__name__}.to_")]:
        sys.modules.pop(name)


def described(connection: Connection) -> dict[str, Any]:
    """All that the database says of the record's tables; the order of columns is no matter."""
    look = inspect(connection)
    tables = {
        name: {
            "columns": {column["name"]: (str(column["type"]), column["nullable"], column["default"]) for column in look.get_columns(name)},
            "key": look.get_pk_constraint(name)["constrained_columns"],
            "unique": sorted(tuple(found["column_names"]) for found in look.get_unique_constraints(name)),
            "indexes": sorted((str(found["name"]), tuple(found["column_names"])) for found in look.get_indexes(name)),
        }
        for name in look.get_table_names()
    }  # fmt: skip
    triggers = sorted(connection.scalars(text(TRIGGERS[connection.dialect.name])))
    return {"tables": tables, "triggers": triggers, "views": sorted(look.get_view_names())}


def seen(url: str) -> dict[str, Any]:
    engine = connect(url)
    with reading(engine) as connection:
        found = described(connection)
    engine.dispose()
    return found


@pytest.mark.parametrize("dialect", list(versions.URLS))
def test_a_schema_that_changes_takes_a_new_number(dialect: str) -> None:
    folder = versions.VERSIONS / str(current_schema())
    said = "the tables are not those of this number: add a migration, then run `python -m tests.books.versions`"
    kept = (folder / f"{dialect}.sql").read_text("utf-8").splitlines()
    assert sorted(versions.statements(dialect)) == sorted(kept), said
    assert versions.evidence() == (folder / "evidence.txt").read_text("utf-8").splitlines(), said


def test_every_number_says_why_and_adds_only() -> None:
    for migration in known_migrations():
        file = import_module(f"{migrations.__name__}.{migration.file}")
        assert (file.__doc__ or "").rstrip().endswith("."), migration.file
        for step in migration.steps:
            assert isinstance(step, Tables | Columns | Fill | Guards | View), migration.file
            if isinstance(step, Columns):
                columns = [step.table.columns[name] for name in step.names]
                assert all(column.nullable or column.server_default is not None for column in columns), migration.file


@pytest.mark.parametrize("number", NUMBERS)
def test_every_earlier_schema_becomes_this_one(number: int, place: Place, fresh: Callable[[], Place]) -> None:
    versions.make_tables(place.url, number)
    engine = connect(place.url)
    evolve_record(engine, Locks(engine, Path(place.warehouse) if place.kind == "sqlite" else None))
    with reading(engine) as connection:
        assert schema_of(connection) == current_schema()
        assert described(connection) == seen(fresh().url)
    engine.dispose()


def test_who_dies_leaves_the_schema_before_and_of_four_at_once_one_migrates(
    place: Place, place_of: Callable[[str], Place], tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    other = place_of(place.kind)
    for url in (place.url, other.url):
        versions.make_tables(url, 1)
    command = [sys.executable, "-W", "ignore", "-m", "tests.books.killed", place.url, other.url, str(tmp_path)]
    done = processes.run(command, cwd=ROOT, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    now = current_schema()
    once = [f"the record, from schema 1 to {now}"]
    assert found["together"] == {"codes": [0] * 4, "notes": once, "schema": now}
    assert found["often"]["schema"] == now, found
    assert found["often"]["kills"] > 10, found
    record_property(f"kills while migrating on {place.kind}", found["often"]["kills"])


def test_a_view_is_one_file_for_new_earlier_and_restored_books(
    full_place: Place, place_of: Callable[[str], Place], tmp_path: Path, planted: Callable[[str], None]
) -> None:
    full_place.open(create=False).backup(tmp_path / "copy.tar")
    planted(f"to_{current_schema() + 1:04}_owed")
    new, copy = place_of(full_place.kind), place_of(full_place.kind)
    for books in (full_place.open(create=False), new.open(), copy.restore(tmp_path / "copy.tar")):
        with reading(books.engine) as connection:
            assert schema_of(connection) == current_schema()
            rows = connection.execute(text("SELECT sum(amount) FROM owed")).all()
            assert rows == connection.execute(text("SELECT sum(amount) FROM entries")).all()
        assert books.verify() == []


@pytest.mark.parametrize("names", [["to_0002_again"], ["to_0099_gap"]])
def test_two_of_one_number_or_a_gap_are_refused(names: list[str], planted: Callable[[str], None]) -> None:
    for name in names:
        planted(name)
    with pytest.raises(InvariantError, match="numbers of migrations"):
        current_schema()


def test_a_newer_schema_is_refused_in_words_and_left_as_it_is(made_place: Place) -> None:
    set_schema(made_place, "99")
    before = seen(made_place.url)
    with pytest.raises(BooksError) as caught:
        made_place.open(create=False)
    assert caught.value.code == "books-version"
    assert caught.value.message.startswith("these books have schema 99, and Apportion ")
    assert "install that one, or restore a backup" in caught.value.hint
    assert seen(made_place.url) == before


def test_books_that_say_no_schema_are_refused(made_place: Place) -> None:
    set_schema(made_place, "five")
    with pytest.raises(BooksError, match="books-version"):
        made_place.open(create=False)


def set_schema(place: Place, value: str) -> None:
    engine = connect(place.url)
    with writing(engine) as connection:
        connection.execute(record.meta.update().where(record.meta.c.key == "schema").values(value=value))
    engine.dispose()


def test_a_copy_of_a_newer_schema_is_refused_before_anything_is_made(
    full: Books, place_of: Callable[[str], Place], tmp_path: Path, kind: str
) -> None:
    with writing(full.engine) as connection:
        connection.execute(record.meta.update().where(record.meta.c.key == "schema").values(value="99"))
    full.backup(tmp_path / "newer.tar")
    place = place_of(kind)
    with pytest.raises(BooksError, match="books-version"):
        place.restore(tmp_path / "newer.tar")
    assert not Path(place.warehouse).exists()
    with pytest.raises(BooksError, match="no-books"):
        place.open(create=False)
