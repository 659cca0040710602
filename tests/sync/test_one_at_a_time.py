"""One round at a time, on whatever machine; and whenever one ends before its end, the next comes to what a whole one would have."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from apportion.books.rounds import KEPT
from apportion.errors import BooksError
from apportion.verbs import sync as syncing
from apportion.verbs.project import Project, open_project
from apportion.verbs.syncing.under_way import StopRoundError
from tests import processes
from tests.books import postgres
from tests.cli.conftest import Run
from tests.cli.tiny import write_tiny
from tests.sync.conftest import PROGRAM, setting


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, int]:
    """The head that a round without an accident comes to, and how often it told how far it was."""
    folder = write_tiny(tmp_path_factory.mktemp("straight"))
    setting(folder, "apply = true")
    told: list[str] = []
    project = open_project(folder)
    syncing.sync(project, step=lambda what, *_: told.append(what))
    return project.books.head(), len(told)


def test_a_second_round_is_told_who_runs_the_first(run: Run, mine: Path) -> None:
    books = open_project(mine).books
    with books.locks.attempt(syncing.LOCK) as held:
        assert held
        books.rounds.begin()
        refused = run("--project", mine, "sync")
        running = run("--project", mine, "sync", "--last", "-o", "json")
    assert refused.code == 1
    assert "error[round-running]: another round is running since 20" in refused.err
    assert f"process {os.getpid()} on " in refused.err
    assert running.value()["status"] == "running"


def test_it_waits_for_the_other_where_that_is_asked_for(mine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The other ends while it naps."""
    other, project = open_project(mine).books.locks.attempt(syncing.LOCK), open_project(mine)
    assert other.__enter__()
    monkeypatch.setattr("apportion.verbs.sync.time.sleep", lambda _: other.__exit__(None, None, None))
    assert syncing.sync(project, wait_s=60).status == "ok"


def test_on_postgresql_it_is_one_across_machines(mine: Path, postgres_socket: Path) -> None:
    """Two connections are two machines: neither sees the other's files."""
    url = postgres.new_database(postgres_socket, "rounds")
    file = mine / "apportion.toml"
    file.write_text(f'[books]\nurl = "{url}"\n\n{file.read_text("utf-8")}', "utf-8")
    one, other = open_project(mine), open_project(mine)
    try:
        with one.books.locks.attempt(syncing.LOCK) as held:
            assert held
            one.books.rounds.begin()
            with pytest.raises(BooksError, match="another round is running"):
                syncing.sync(other)
        first, second = syncing.sync(other), syncing.sync(one)
        assert [made.status for made in other.books.rounds.all()] == ["interrupted", "ok", "ok"]
        assert (first.changed > 0, second.changed) == (True, 0)
    finally:
        one.books.close()
        other.books.close()


def stopping_at(number: int) -> Callable[..., None]:
    left = [number]

    def step(*_: object) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise StopRoundError

    return step


def test_stopped_at_every_step_in_turn_it_comes_to_the_same(mine: Path, straight: tuple[str, int]) -> None:
    head, steps = straight
    project = open_project(mine)
    for number in range(steps):
        with pytest.raises(StopRoundError):
            syncing.sync(project, step=stopping_at(number))
        assert project.books.rounds.last().status == "interrupted"  # type: ignore[union-attr]
        if number and project.books.head():
            break  # posted: what comes after it changes no figure
    assert syncing.sync(project).status == "ok"
    assert project.books.head() == head
    assert syncing.sync(project).changed == 0
    assert project.books.verify() == []


@pytest.mark.parametrize("part", [3, 5, 8])
def test_stopped_once_anywhere_it_comes_to_the_same(part: int, mine: Path, straight: tuple[str, int]) -> None:
    head, steps = straight
    project = open_project(mine)
    with pytest.raises(StopRoundError):
        syncing.sync(project, step=stopping_at(steps * part // 10))
    syncing.sync(project)
    assert project.books.head() == head


def steps_of(project: Project) -> list[str]:
    last = project.books.rounds.last()
    return [one.subject for one in last.steps] if last else []


def test_a_killed_round_is_completed_by_the_next(mine: Path, straight: tuple[str, int]) -> None:
    """The lock of a table holds it up between the bill and the jobs, so that it is killed there and nowhere else."""
    project = open_project(mine)
    with project.books.locks.hold(["usage"]):
        process = processes.Process([sys.executable, "-c", PROGRAM, "--project", str(mine), "sync"])
        process.wait_until(lambda: steps_of(project) == ["acme"], "the bill is in the books")
        process.kill()
        assert process.wait(processes.PATIENCE_S) == -signal.SIGKILL
    assert project.books.rounds.last().status == "running"  # type: ignore[union-attr]
    made = syncing.sync(project)
    assert made.status == "ok"
    assert [one.outcome for one in made.steps[:2]] == ["nothing new", "done"]  # the bill was in the books already
    assert [one.status for one in project.books.rounds.all()] == ["interrupted", "ok"]
    assert project.books.head() == straight[0]


def test_only_the_last_rounds_are_kept(mine: Path) -> None:
    rounds = open_project(mine).books.rounds
    for _ in range(KEPT + 3):
        rounds.end(rounds.begin(), "ok")
    assert [one.number for one in rounds.all()] == list(range(4, KEPT + 4))
