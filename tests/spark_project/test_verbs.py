"""Projects on Spark: chosen by the command line or by apportion.toml, with the figures that DuckDB has."""

from pathlib import Path
from typing import Any

import pytest

import apportion
from apportion.engine.backends.spark import Spark
from apportion.engine.plan import RULES
from tests.cli.conftest import Run
from tests.cli.tiny import write_tiny
from tests.spark.conftest import MASTER

pytestmark = pytest.mark.usefixtures("spark")


def planned(run: Run, folder: Path, *options: str) -> dict[str, Any]:
    found: dict[str, Any] = run("--project", folder, "plan", "-o", "json", *options).value()
    return found


def test_a_plan_says_what_computed_it_and_is_the_same(run: Run, tmp_path: Path, spark: Spark) -> None:
    folder = write_tiny(tmp_path / "a [b] {c,d} *?\\e")  # a path is no pattern
    assert run("--project", folder, "ingest").code == 0
    by_spark, by_duckdb = planned(run, folder, "--engine", MASTER), planned(run, folder, "--engine", "duckdb")
    assert by_spark["digest"] == by_duckdb["digest"]
    assert by_spark["engine"]["name"] == "spark"
    assert by_spark["engine"]["version"] == spark.session.version
    assert by_spark["engine"]["stages"] > 3
    assert by_duckdb["engine"] == {"name": "duckdb", "version": by_duckdb["engine"]["version"], "stages": None}
    printed = run("--project", folder, "plan", "--engine", MASTER).out
    assert f"digest {by_spark['digest']}   spark {spark.session.version}, " in printed
    kept = apportion.open_project(folder).books.load_plan("2026-10")
    assert kept is not None
    assert kept.summary["computed_by"] | {"stages": 0} == by_spark["engine"] | {"stages": 0}


def test_the_main_job_by_the_settings(run: Run, tiny: Path) -> None:
    file = tiny / "apportion.toml"
    file.write_text(f'{file.read_text()}\n[engine]\nname = "spark"\nmaster = "{MASTER}"\n')
    at = ("--project", tiny)
    assert run(*at, "ingest").code == 0
    assert planned(run, tiny)["engine"]["name"] == "spark"
    assert "Posted" in run(*at, "apply").out
    assert [posted.engine for posted in apportion.open_project(tiny).books.runs()] == [f"spark/{RULES}"]
    assert "vision" in run(*at, "explain", "vision").out
    assert run(*at, "explain", "vision", "--engine", "duckdb", "-o", "json").value() == (
        run(*at, "explain", "vision", "-o", "json").value()
    )
    assert run(*at, "check").code == 0
    assert run(*at, "verify").code == 0


@pytest.mark.long  # two minutes of Spark; its golden cases, drawn worlds and projects are compared in every run
def test_the_demo_month(tmp_path: Path) -> None:
    """As `make run` makes it: 50,000 workloads, posted by DuckDB and planned again by Spark."""
    done = apportion.demo(tmp_path / "demo")
    again = apportion.plan(apportion.open_project(tmp_path / "demo"), "2026-10", engine=MASTER)
    assert again.plan.engine.name == "spark"
    assert again.digest == done.applied.digest
    assert not again.pending
