"""The provider in a real Airflow: the example's DAGs over a small project, by `airflow dags test`."""

import json
import os
import shutil
import sqlite3
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import apportion
from tests import processes
from tests.airflow.environment import HERE, ROOT, UV, is_here
from tests.cli.tiny import write_tiny
from tests.findings.conftest import BACKWARDS

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not is_here(), reason="no Airflow: `make test-airflow` installs it"),
]
MINE = """
import pendulum
from airflow.sdk import DAG, CronDataIntervalTimetable
from apportion.integrations.airflow.operators import (
    ApportionApplyOperator, ApportionCloseOperator, ApportionIngestOperator, ApportionPlanOperator, ApportionStatementOperator,
)
from apportion.integrations.airflow.sensors import DataCompleteSensor

start = {"start_date": pendulum.datetime(2026, 9, 1, tz="UTC"), "catchup": False}
with DAG("empty", schedule="@daily", **start):
    ApportionPlanOperator(task_id="plan", retries=3)
with DAG("closing", schedule=CronDataIntervalTimetable("0 6 5 * *", timezone="UTC"), **start):
    (
        ApportionCloseOperator(task_id="close", override="nobody's job is known", python=%r)
        >> ApportionStatementOperator(task_id="statements", to="{{ params.to }}", form="csv", params={"to": "out"})
    )
with DAG("accepting", schedule=CronDataIntervalTimetable("0 0 * * *", timezone="UTC"), **start):
    doubtful = {"project": %r, "period": "2026-10"}
    (
        ApportionIngestOperator(task_id="ingest", **doubtful)
        >> ApportionPlanOperator(task_id="plan", **doubtful)
        >> ApportionApplyOperator(
            task_id="apply", accept=["{{ params.code }}"], why="a clock was set back", params={"code": "reversed-period"}, **doubtful
        )
    )
with DAG("waiting", schedule=CronDataIntervalTimetable("0 0 * * *", timezone="UTC"), **start):
    DataCompleteSensor(task_id="whole", mode="poke", poke_interval=0, timeout=0, soft_fail=True)
"""


@dataclass
class Airflow:
    home: Path
    project: Path
    environment: dict[str, str]

    def run(self, *arguments: str) -> processes.CompletedProcess[str]:
        return processes.run(
            [str(HERE / "bin/airflow"), *arguments],
            env=self.environment,
            cwd=self.home,
            stdout=processes.PIPE,
            stderr=processes.STDOUT,
            text=True,
            timeout=900,
        )

    def rows(self, query: str) -> list[tuple[str, ...]]:
        with sqlite3.connect(self.home / "airflow.db") as database:
            return database.execute(query).fetchall()


@pytest.fixture(scope="module")
def airflow(tmp_path_factory: pytest.TempPathFactory) -> Airflow:
    """Our wheel is unpacked beside Airflow's environment, which stays as it was locked."""
    home = tmp_path_factory.mktemp("airflow")
    project = write_tiny(home / "tiny")
    build = [
        "build",
        "--quiet",
        "--offline",
        "--wheel",
        "--no-build-isolation",
        "--out-dir",
        str(home / "dist"),
        str(ROOT),
    ]
    environment = {**os.environ, "VIRTUAL_ENV": sys.prefix}
    processes.run([UV, *build], env=environment, cwd=home, check=True)
    (wheel,) = (home / "dist").glob("*.whl")
    place = ["pip", "install", "--quiet", "--offline", "--no-deps", "--target", str(home / "site"), str(wheel)]
    processes.run([UV, *place], env=environment, cwd=home, check=True)
    (home / "dags").mkdir()
    shutil.copy(ROOT / "examples/airflow/apportion_daily.py", home / "dags")
    (home / "dags/mine.py").write_text(MINE % (sys.executable, str(doubtful(home / "doubtful"))), "utf-8")
    connection = json.dumps({"conn_type": "apportion", "extra": {"project": str(project)}})
    settings = {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW_CONN_APPORTION_DEFAULT": connection,
        "PYTHONPATH": str(home / "site"),
    }
    found = Airflow(home, project, {**os.environ, **settings})
    migrated = found.run("db", "migrate")
    assert migrated.returncode == 0, migrated.stdout
    return found


def doubtful(folder: Path) -> Path:
    """1 of 5 rows of the log ends before it starts."""
    write_tiny(folder)
    with (folder / "usage/jobs.csv").open("a", encoding="utf-8") as log:
        log.write(BACKWARDS)
    return folder


def test_it_is_a_provider(airflow: Airflow) -> None:
    listed = airflow.run("providers", "list", "-o", "json").stdout
    providers = json.loads(listed[listed.index("[{") :])
    assert [one["version"] for one in providers if one["package_name"] == "apportion"] == [apportion.__version__]


def test_days_and_months_run_and_run_again(airflow: Airflow) -> None:
    ran(airflow, "apportion_daily", "2026-10-02")
    books = apportion.open_project(airflow.project).books
    head = books.head()
    assert [run.period for run in books.runs()] == ["2026-10"]
    ran(airflow, "apportion_daily", "2026-10-02")
    assert books.head() == head
    events = airflow.rows("select a.uri, e.extra from asset_event e join asset a on a.id = e.asset_id order by e.id")
    assert [uri for uri, _ in events] == ["apportion://apportion_default/ledger"] * 2
    assert [json.loads(extra)["months"][0]["posted"] for _, extra in events] == [True, False]
    ran(airflow, "closing", "2026-11-06")
    assert books.closed_periods() == ["2026-10"]
    files = {file.name for file in (airflow.project / "out/2026-10").iterdir()}
    assert files == {f"2026-10-team-{owner}-USD.csv" for owner in ("_unallocated", "speech", "vision")}


def ran(airflow: Airflow, name: str, day: str) -> None:
    done = airflow.run("dags", "test", name, day)
    assert done.returncode == 0, done.stdout


def test_a_run_without_an_interval_is_refused_once_and_not_retried(airflow: Airflow) -> None:
    done = airflow.run("dags", "test", "empty", "2026-10-02")
    assert done.returncode != 0
    assert "error[empty-interval]: this run's data interval begins and ends at 2026-10-02T00:00:00Z" in done.stdout
    assert 'CronDataIntervalTimetable("0 0 * * *", timezone="UTC")' in done.stdout
    query = "select state, try_number from task_instance where dag_id = 'empty'"
    assert [state for state, _ in airflow.rows(query)] == ["failed"]


def test_a_finding_is_accepted_by_the_operator(airflow: Airflow) -> None:
    ran(airflow, "accepting", "2026-10-02")
    books = apportion.open_project(airflow.home / "doubtful").books
    kept = [(one.finding.code, one.why) for one in books.acceptances.of("2026-10")]
    assert kept == [("reversed-period", "a clock was set back")]
    assert [run.period for run in books.runs()] == ["2026-10"]


def test_what_is_not_whole_is_waited_for(airflow: Airflow) -> None:
    done = airflow.run("dags", "test", "waiting", "2026-12-02")
    assert "2026-12-01 is not whole: acme, jobs, nodes" in done.stdout
    assert airflow.rows("select state from task_instance where dag_id = 'waiting'") == [("skipped",)]
