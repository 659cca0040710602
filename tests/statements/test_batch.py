"""Statements of an organisation into a folder: the same bytes as one by one, whole files only, and no worker left behind."""

import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from apportion.errors import ApportionError, InvariantError, ProjectError
from apportion.render.statement import render
from apportion.render.statement.batch import FEW, file_name, render_all
from apportion.reports.statement.shape import Statement
from bench.statements import Size, statement_of
from tests import processes
from tests.processes import PATIENCE_S
from tests.statements import strategies

ROOT = Path(__file__).parents[2]
SMALL = Size(projects=2, users=2, workloads=2)
MANY = 3000
RUN = """
import signal
import sys
from pathlib import Path
from apportion.render.statement.batch import render_all
from tests.statements.test_batch import many
if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background inherits that it is ignored
    render_all(many(), "md", Path(sys.argv[1]), lambda *_: None)
"""


def many() -> list[Statement]:
    one = statement_of(1, SMALL)
    return [replace(one, owner=f"team-{number}") for number in range(MANY)]


@pytest.mark.parametrize(("form", "count"), [("pdf", FEW + 1), ("html", FEW), ("csv", FEW + 4)])
def test_files_are_those_of_one_by_one(form: str, count: int, tmp_path: Path) -> None:
    statements = [statement_of(seed, SMALL) for seed in range(count)]
    told: list[tuple[int, int]] = []
    paths = render_all(statements, form, tmp_path / "out", lambda _, done, total: told.append((done, total)))
    assert told == [(done, count) for done in range(1, count + 1)]
    assert sorted(tmp_path.joinpath("out").iterdir()) == sorted(paths)
    for statement, path in zip(statements, paths, strict=True):
        assert path.name == file_name(statement, form)
        assert path.read_bytes() == render(statement, form)


def test_one_that_cannot_be_printed_stops_the_rest_and_leaves_whole_files(tmp_path: Path) -> None:
    statements = [statement_of(seed, SMALL) for seed in range(FEW + 4)]
    statements[3] = replace(statements[3], owed=1)
    with pytest.raises(InvariantError):
        render_all(statements, "md", tmp_path, lambda *_: None)
    found = {file_name(statement, "md"): statement for statement in statements}
    assert all(path.read_bytes() == render(found[path.name], "md") for path in tmp_path.iterdir())


@given(strategies.names)
def test_names_of_files_stay_in_their_folder(owner: str) -> None:
    name = file_name(replace(statement_of(1, SMALL), owner=owner), "pdf")
    assert name.isascii()
    assert Path(name).name == name
    assert len(name) < 160
    assert name.startswith("2026-10-team-")


def test_owners_that_look_alike_get_files_of_their_own() -> None:
    owners = ("vision", "Vision", "vi/sion", "vi sion", "../vision", "\u89c6\u89c9", "\u89c6\u7814", "v" * 90, "v" * 91)
    names = {file_name(replace(statement_of(1), owner=owner), "pdf").lower() for owner in owners}
    assert len(names) == len(owners)
    assert file_name(replace(statement_of(1), owner="vision"), "pdf") == "2026-10-team-vision-USD.pdf"


@pytest.mark.parametrize(
    ("ending", "first"), [(signal.SIGINT, "2*.md"), (signal.SIGINT, ""), (signal.SIGKILL, "2*.md")]
)
def test_an_end_leaves_whole_files_and_no_workers(ending: signal.Signals, first: str, tmp_path: Path) -> None:
    """Ctrl-C goes to the whole group, as from a terminal, also while the workers start; a kill to the parent alone."""
    script, out = tmp_path / "run.py", tmp_path / "out"
    script.write_text(RUN, "utf-8")
    parent = processes.Process(
        [sys.executable, script, out],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=processes.PIPE,
        start_new_session=True,
    )
    try:
        wait_until(lambda: out.is_dir() and (not first or any(out.glob(first))))
        (os.killpg if ending == signal.SIGINT else os.kill)(parent.pid, ending)
        _, told = parent.communicate(timeout=PATIENCE_S)
        wait_until(lambda: not is_alive(parent.pid))
    finally:
        if is_alive(parent.pid):
            os.killpg(parent.pid, signal.SIGKILL)
    assert parent.returncode != 0
    assert told.count(b"Traceback") == (1 if ending == signal.SIGINT else 0), told
    whole = {file_name(made, "md"): made for made in many()}
    finished = list(out.glob("2*"))
    assert (1 if first else 0) <= len(finished) < MANY
    assert all(path.read_bytes() == render(whole[path.name], "md") for path in finished[:50])
    if ending == signal.SIGINT:
        assert sorted(out.iterdir()) == sorted(finished)


def is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


@pytest.mark.parametrize(
    "error",
    [
        InvariantError("sum", 1, 2),
        ProjectError("pdf-missing", "no typst", where="here", hint="install it"),
        ApportionError("a", "b"),
    ],
)
def test_errors_come_home_from_workers_as_they_were(error: Exception) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))
