"""Names of users are taken out of closed months: no byte of them is left, and every hash, sum and owner stays."""

import os
from collections.abc import Callable
from dataclasses import asdict

import pyarrow as pa
import pytest

import apportion
from apportion.books.fileio import SyncedFileIO
from apportion.errors import BooksError
from apportion.model.times import parse_period
from apportion.verbs.erase import renew_key
from apportion.verbs.project import Project
from tests.erasure import worlds
from tests.erasure.worlds import GONE, MONTHS, OLD, search, sums, users

JULY, AUGUST, SEPTEMBER = MONTHS


def erase(project: Project, before: str = SEPTEMBER, user: str = "") -> int:
    return apportion.erase(project, parse_period(before), user, "too old", yes=True).number


def found(project: Project) -> dict[str, list[str]]:
    return {name: places for name in GONE if (places := search(project.books, project.folder / ".apportion", name))}


def without_users(minor: pa.Table) -> list[tuple[object, ...]]:
    return sorted(tuple(row.values()) for row in minor.drop_columns(["user"]).to_pylist())


def test_no_byte_of_a_name_is_left_and_all_else_is_what_it_was(project: Project) -> None:
    head, was = project.books.head(), {month: sums(project, month) for month in MONTHS}
    minor = {month: project.books.closed(month) for month in MONTHS[:2]}
    assert users(project, JULY) == {*OLD, "carol"}
    assert set(found(project)) == set(GONE)
    assert erase(project) == 1
    assert found(project) == {}
    assert project.books.head() == head
    assert apportion.verify(project).findings == ()
    assert {month: sums(project, month) for month in MONTHS} == was
    assert users(project, SEPTEMBER) == {"erin", "root"}
    assert all(name.startswith("user-") for month in MONTHS[:2] for name in users(project, month))
    assert len(users(project, JULY)) == len(OLD) + 1
    for month, before in minor.items():
        after = project.books.closed(month)
        assert before is not None
        assert after is not None
        assert (after.head, after.checks) == (before.head, before.checks)
        assert without_users(after.minor) == without_users(before.minor)


def test_what_would_be_erased_is_told_and_nothing_changes(project: Project) -> None:
    told = apportion.erase(project, parse_period(SEPTEMBER))
    assert told.number == 0
    assert told.users == len(OLD) + 1
    assert told.found["names"] == 2 * (len(OLD) + 1)
    assert told.found["problems"] == 3
    assert told.found["cost_lines"] == 4
    assert users(project, JULY) == {*OLD, "carol"}
    done = apportion.erase(project, parse_period(SEPTEMBER), why="alice asked", yes=True)
    assert asdict(done) == {**asdict(told), "number": 1}
    (note,) = [note for note in project.books.audit() if note.what == "erase"]
    token = project.books.names.token("alice")
    assert note.why == f"{token} asked"
    assert "before 2026-09" in note.detail


def test_the_same_again_changes_nothing(project: Project) -> None:
    erase(project)
    inputs = project.books.inputs()
    assert erase(project) == 0
    assert project.books.inputs() == inputs


def test_an_owner_stays_who_it_was_when_the_month_is_computed_again(project: Project) -> None:
    def owners(month: str) -> set[tuple[object, ...]]:
        computed = project.books.load_plan(month)
        assert computed is not None
        rows = computed.postings.group_by(["team", "project", "reason", "pool"]).aggregate([("amount", "sum")])
        return {tuple(row.values()) for row in rows.to_pylist()}

    before = owners(JULY)
    erase(project)
    apportion.plan(project, JULY)
    assert owners(JULY) == before
    assert not apportion.apply(project, JULY).posted


def test_what_comes_late_for_an_erased_month_is_corrected_under_its_pseudonyms(project: Project) -> None:
    erase(project)
    project.books.ingest(worlds.bill(JULY, gpus="200"))
    apportion.plan(project, JULY)
    done = apportion.apply(project, JULY)
    assert done.posted
    assert done.booked == SEPTEMBER
    rows = project.books.posted(SEPTEMBER, kinds=["correction"])
    assert sum(rows["amount"].to_pylist()) == 100
    assert all(name == "root" or name.startswith("user-") for name in rows["user"].to_pylist() if name)
    assert apportion.verify(project).findings == ()
    assert "alice" not in str(rows.to_pylist())


def test_one_user_goes_and_the_others_stay(project: Project) -> None:
    erase(project, user="alice")
    assert users(project, JULY) == {*OLD, "carol"} - {"alice"} | {project.books.names.token("alice")}
    assert search(project.books, project.folder / ".apportion", "alice") == []
    assert apportion.verify(project).findings == ()
    assert erase(project) == 2
    assert found(project) == {}
    assert apportion.verify(project).findings == ()


def test_month_by_month(project: Project) -> None:
    erase(project, before=AUGUST)
    assert users(project, AUGUST) == {*OLD, "carol"}
    assert "alice" not in users(project, JULY)
    assert apportion.verify(project).findings == ()
    assert erase(project) == 2
    assert found(project) == {}
    assert apportion.verify(project).findings == ()


@pytest.mark.parametrize("before", ["2026-10", "2027-01"])
def test_open_months_are_refused(project: Project, before: str) -> None:
    with pytest.raises(BooksError, match="period-open"):
        erase(project, before=before)


def test_another_key_is_refused(project: Project) -> None:
    (project.folder / "names.key").write_text("another", "utf-8")
    other = apportion.open_project(project.folder)
    with pytest.raises(BooksError, match="wrong-names-key"):
        erase(other)
    with pytest.raises(BooksError, match="wrong-names-key"):
        apportion.plan(other, SEPTEMBER)
    assert [finding.code for finding in apportion.verify(other).findings] == ["names-unchecked"]
    assert users(other, JULY) == {*OLD, "carol"}
    renew_key(other, "the old one is lost")
    apportion.plan(other, SEPTEMBER)
    assert not apportion.apply(other, SEPTEMBER).posted
    assert users(other, JULY) == {*OLD, "carol"}
    assert apportion.verify(other).findings == ()


def test_a_backup_of_erased_books_is_whole(project: Project) -> None:
    erase(project)
    apportion.backup(project, project.folder / "copy.tar")
    other = worlds.start(project.folder / "other")
    apportion.restore(other, project.folder / "copy.tar")
    assert other.books.head() == project.books.head()
    assert apportion.verify(other).findings == ()
    assert users(other, JULY) == users(project, JULY)


@pytest.mark.parametrize("failing", [1, 9, 24])
def test_a_failing_disk_leaves_the_old_state_or_the_new_one(
    copy: Callable[[str], Project], failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = copy("failing")
    was, real, count = {month: sums(project, month) for month in MONTHS}, os.fsync, 0

    def fsync(handle: int) -> None:
        nonlocal count
        count += 1
        if count >= failing:
            raise OSError(28, "No space left on device")
        real(handle)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fsync)
        with pytest.raises((BooksError, OSError)):
            erase(project)
    assert apportion.verify(project).findings == ()
    assert users(project, JULY) == {*OLD, "carol"}
    erase(project)
    assert found(project) == {}
    assert apportion.verify(project).findings == ()
    assert {month: sums(project, month) for month in MONTHS} == was


def test_what_was_cut_short_after_its_commit_is_finished_by_the_next(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(SyncedFileIO, "delete", fail)
        with pytest.raises((BooksError, OSError)):
            erase(project)
    assert apportion.verify(project).findings == ()
    assert found(project)
    assert erase(project) == 0
    assert found(project) == {}
    assert apportion.verify(project).findings == ()


def test_whoever_keeps_postings_in_memory_shows_no_name_that_was_taken_out(project: Project) -> None:
    project.books.months.kept.most = 4
    assert users(project, JULY) == {*OLD, "carol"}
    erase(project)
    assert all(name.startswith("user-") for name in users(project, JULY))
