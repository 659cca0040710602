"""Books of the versions before: opened by this one, whole, and printing the same statements, journal and FOCUS files to the byte."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from apportion import open_project
from apportion.books.evolve import current_schema
from apportion.verbs.verify import verify
from tests.books import postgres, versions
from tests.cli.tiny import SUPPORT, edit, write_tiny

KEPT = sorted(int(path.parent.name) for path in versions.VERSIONS.glob("*/printed.json"))
BEFORE = [number for number in KEPT if number < current_schema()][-1:]
EARLIER_RULES = [5]  # the last schema whose kept books earlier rules posted


@pytest.fixture(scope="module")
def socket() -> Iterator[Path]:
    reason = postgres.cannot_start()
    if reason:
        pytest.skip(reason)
    with postgres.server() as folder:
        yield folder


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, project: Path) -> str:
    if request.param == "sqlite":
        (project / ".apportion").mkdir()
        return f"sqlite:///{project}/.apportion/books.db"
    url = postgres.new_database(request.getfixturevalue("socket"), project.name)
    edit(project / "apportion.toml", "[project]", f'[books]\nurl = "{url}"\n\n[project]')
    return url


@pytest.fixture(params=BEFORE, ids=lambda number: f"schema {number}")
def kept(request: pytest.FixtureRequest) -> Path:
    return versions.VERSIONS / str(request.param)


@pytest.fixture
def project(tmp_path: Path, kept: Path) -> Path:
    """The files that the books of the versions were made of, without the books."""
    folder = write_tiny(tmp_path / f"schema{kept.name}")
    edit(folder / "bills/acme.csv", SUPPORT, versions.LATE)
    return folder


def test_books_of_the_version_before_open_and_print_the_same(
    project: Path, url: str, kept: Path, tmp_path: Path
) -> None:
    copy = kept / "books.tar.gz"
    versions.make_books(url, project / ".apportion/warehouse", int(kept.name), copy)
    opened = open_project(project)
    found = verify(opened)
    assert (found.findings, found.schema) == ((), current_schema())
    opened.books.close()
    assert versions.prints(project, tmp_path / "printed") == json.loads((kept / "printed.json").read_text("utf-8"))


@pytest.mark.parametrize("kept", EARLIER_RULES, indirect=True, ids="schema {}".format)
def test_a_month_that_earlier_rules_closed_is_told_and_a_late_line_moves_itself(tmp_path: Path, kept: Path) -> None:
    """Its rules may be others; the month is closed, corrected once by that version, and has a dispute and a credit."""
    project = write_tiny(tmp_path / "tiny")
    versions.call(project, "backup", str(kept / "books.tar.gz"), "--restore")
    edit(project / "bills/acme.csv", SUPPORT, versions.LATE)
    found = json.loads(versions.call(project, "check", "-o", "json", code=1))  # its deliveries have another digest now
    assert [one["source"] for one in found["again"]] == ["jobs"]
    assert found["again"][0]["command"] == "apportion ingest jobs --period 2026-10"
    told = json.loads(versions.call(project, "explain", "vision", "--period", versions.MONTH, "-o", "json"))
    assert "told from the charges kept then" in told["title"]
    before = json.loads(versions.call(project, "report", "showback", "--period", "2026-11", "-o", "json"))["bill"]
    edit(project / "bills/acme.csv", versions.LATE, SUPPORT.replace("30.00", "32.00"))
    for words in versions.CORRECTED:
        versions.call(project, *words)
    after = json.loads(versions.call(project, "report", "showback", "--period", "2026-11", "-o", "json"))["bill"]
    assert (before, after) == ("1", "2")
    assert json.loads(versions.call(project, "check", "-o", "json"))["again"] == []
    assert json.loads(versions.call(project, "verify", "-o", "json"))["sound"]


def test_a_copy_of_the_version_before_is_restored_and_whole(project: Path, kept: Path) -> None:
    versions.call(project, "backup", str(kept / "books.tar.gz"), "--restore")
    assert json.loads(versions.call(project, "verify", "-o", "json"))["sound"]


def test_books_of_a_version_before_are_kept() -> None:
    assert BEFORE
