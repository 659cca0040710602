"""After an erasure `verify` passes, and still finds any other change: of a file, of what is noted of it, of a name."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, delete, insert, select, update

import apportion
from apportion.books import record
from apportion.books.audit import check_audit
from apportion.books.database import writing
from apportion.books.names import check_names
from apportion.books.verify_erased import check_erasures
from apportion.books.verify_evidence import check_evidence
from apportion.model.times import parse_period
from apportion.verbs.project import Project
from tests.erasure.worlds import MONTHS

JULY, AUGUST, SEPTEMBER = MONTHS
ERIN = (record.names.c.period == SEPTEMBER) & (record.names.c.name == "erin")


@pytest.fixture(scope="module")
def erased(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("erased") / "project"
    shutil.copytree(filled, folder)
    project = apportion.open_project(folder)
    apportion.erase(project, parse_period(SEPTEMBER), why="too old", yes=True)
    return project


@contextmanager
def changing(project: Project) -> Iterator[Connection]:
    """A change that is taken back."""
    with writing(project.books.engine) as connection:
        yield connection
        connection.rollback()


def another_name(connection: Connection) -> None:
    connection.execute(update(record.names).where(ERIN).values(name="mallory"))


def no_name(connection: Connection) -> None:
    connection.execute(delete(record.names).where(ERIN))


def another_erasure(connection: Connection) -> None:
    connection.execute(insert(record.erasures).values(number=2, before="2027-01", token=""))


def wider_erasure(connection: Connection) -> None:
    connection.execute(update(record.erasures).values(before="2026-10"))


def no_erasure(connection: Connection) -> None:
    connection.execute(delete(record.erasures))


def another_origin(connection: Connection) -> None:
    connection.execute(update(record.rewritten).values(was_sha256="0" * 64))


def no_origin(connection: Connection) -> None:
    table = record.rewritten
    first = connection.scalar(select(table.c.path).where(table.c.table == "workloads"))
    connection.execute(delete(table).where(table.c.path == first))


def no_note(connection: Connection) -> None:
    connection.execute(delete(record.audit).where(record.audit.c.what == "erase"))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (another_name, "name-changed"), (no_name, "name-changed"), (another_erasure, "erasure-changed"), (wider_erasure, "erasure-changed"),
        (no_erasure, "erasure-changed"), (another_origin, "erasure-changed"), (no_origin, "erasure-changed"), (no_note, "erasure-changed"),
    ],
)  # fmt: skip
def test_a_changed_record_is_found(erased: Project, change: Callable[[Connection], None], code: str) -> None:
    with changing(erased) as connection:
        for name in ("erasures", "rewritten", "audit"):
            for action in ("update", "delete"):
                connection.exec_driver_sql(f"DROP TRIGGER {name}_no_{action}")
        change(connection)
        assert code in found_inside(erased, connection)


def found_inside(project: Project, connection: Connection) -> set[str]:
    books = project.books
    checks = (check_names(connection, books.names), check_erasures(connection), check_audit(connection))
    return {one.code for check in (*checks, check_evidence(connection, books.evidence)) for one in check}


def test_a_rewritten_file_that_is_exchanged_is_found_although_the_record_agrees(erased: Project) -> None:
    """Whoever changes a file and what is recorded of it does not change what the erasure noted."""
    with changing(erased) as connection:
        path = connection.scalar(select(record.rewritten.c.path))
        connection.execute(update(record.files).where(record.files.c.path == path).values(sha256="0" * 64))
        assert "file-record-changed" in found_inside(erased, connection)


@pytest.mark.parametrize("table", ["workloads", "charges", "cost_lines"])
def test_a_changed_byte_of_a_rewritten_file_is_found(erased: Project, table: str) -> None:
    with erased.books.engine.connect() as connection:
        path = connection.scalar(select(record.rewritten.c.path).where(record.rewritten.c.table == table))
    file = Path(erased.books.evidence.place(str(path)))
    body = file.read_bytes()
    try:
        file.write_bytes(body[:100] + bytes([body[100] ^ 1]) + body[101:])
        assert "file-changed" in {one.code for one in apportion.verify(erased).findings}
    finally:
        file.write_bytes(body)


def test_all_is_well_after_an_erasure(erased: Project) -> None:
    assert apportion.verify(erased).findings == ()


def test_names_and_erasures_can_only_be_added(erased: Project) -> None:
    for statement in (delete(record.erasures), update(record.rewritten).values(rows=1)):
        with pytest.raises(Exception, match="append-only"), writing(erased.books.engine) as connection:
            connection.execute(statement)
