"""`apportion advise` on a project small enough to check by hand: a GPU-hour costs 1.25."""

import csv
import io
from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from tests.cli.conftest import Run, run
from tests.cli.tiny import edit, write_tiny

__all__ = ["run"]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """vision's 4 GPUs did nothing for 12 hours: 60.00, or 55.00 without the first hour. speech's were busy."""
    folder = write_tiny(tmp_path)
    jobs = folder / "usage/jobs.csv"
    used = {"j1": "0", "j2.1": "8", "j2.2": "7", "j3": ""}
    head, *rows = jobs.read_text("utf-8").splitlines()
    lines = [f"{head},used", *(f"{row},{used[row.partition(',')[0]]}" for row in rows)]
    jobs.write_text("\n".join(lines) + "\n", "utf-8")
    edit(
        folder / "apportion.toml",
        'meters = { gpu = "gpus" }',
        'meters = { gpu = "gpus" }\nused_meters = { gpu = "used" }',
    )
    project = apportion.open_project(folder)
    apportion.ingest(project)
    return folder


@pytest.fixture
def posted(tiny: Path) -> Path:
    project = apportion.open_project(tiny)
    apportion.apply(project, "2026-10", made=apportion.plan(project, "2026-10").plan)
    return tiny


def test_every_form_says_the_same(run: Run, posted: Path) -> None:
    ask = ("--project", posted, "advise", "--period", "2026-10")
    value = run(*ask, "-o", "json").value()
    assert value["title"] == "1 piece of advice for 2026-10 would save 55.00 USD to 60.00 USD."
    (piece,) = value["advice"]
    assert (piece["kind"], piece["owner"], piece["workloads"]) == ("idle", "vision/ann", ["j1"])
    assert [Decimal(piece[name]) for name in ("held", "used")] == [48, 0]
    assert [Decimal(piece[name]) for name in ("low", "high")] == [55, 60]
    assert piece["evidence"] == "j1: 48.0 GPU-hours held, 0.0 measured in use"
    (row,) = csv.DictReader(io.StringIO(run(*ask, "-o", "csv").out))
    assert (row["kind"], row["low"], row["high"]) == ("idle", "55", "60")
    assert row["do"] == piece["do"] == "sbatch --gpus=0 JOB.sh   # on a partition without boards"
    for form in ("table", "md"):
        shown = run(*ask, "-o", form).out
        assert "55.00" in shown
        assert "vision/ann can: sbatch --gpus=0 JOB.sh" in shown


def test_one_team(run: Run, posted: Path) -> None:
    ask = ("--project", posted, "advise", "--team")
    assert len(run(*ask, "vision", "-o", "json").value()["advice"]) == 1
    assert run(*ask, "speech", "-o", "json").value()["advice"] == []
    shown = run(*ask, "vison")
    assert (shown.code, shown.out) == (1, "")
    assert "error[nothing-matches]" in shown.err
    assert "vision" in shown.err


def test_one_kind(run: Run, posted: Path) -> None:
    ask = ("--project", posted, "advise", "--kind")
    assert len(run(*ask, "idle", "-o", "json").value()["advice"]) == 1
    assert run(*ask, "hung").out.startswith("Nothing that was measured in 2026-10 calls for advice.")
    shown = run(*ask, "idel")
    assert shown.code == 1
    assert "error[unknown-advice]" in shown.err
    assert "idle" in shown.err


def test_a_month_that_is_not_posted(run: Run, tiny: Path) -> None:
    shown = run("--project", tiny, "advise", "--period", "2026-10")
    assert shown.code == 1
    assert "error[nothing-posted]" in shown.err


def test_where_nothing_is_measured_there_is_no_advice(tmp_path: Path) -> None:
    project = apportion.open_project(write_tiny(tmp_path))
    apportion.ingest(project)
    apportion.apply(project, "2026-10", made=apportion.plan(project, "2026-10").plan)
    assert apportion.advise(project, "2026-10").sections == ()
