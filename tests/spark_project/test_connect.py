"""Spark Connect: a server of the tests' own on the loopback, from what the pyspark package ships."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pyspark
import pytest
from pyspark.sql.connect.session import SparkSession

from apportion.engine.backends.duckdb import DuckDB
from apportion.engine.backends.spark import Spark
from apportion.engine.plan import make_plan
from apportion.errors import InputError
from apportion.verbs.spark import connect_spark
from tests import processes
from tests.cli.conftest import Run
from tests.engine.golden_world import GOLDEN, read_world
from tests.loopback import answers, free_port
from tests.spark.conftest import tuned

CASES = ("flow-energy", "scope-resource")


@pytest.fixture(scope="module")
def server(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, home, port = tmp_path_factory.mktemp("server"), Path(pyspark.__file__).parent, free_port()
    settings = {
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": port,
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.warehouse.dir": folder,
    }
    command = [
        str(home / "bin/spark-submit"), "--master", "local[2]", "--class", "org.apache.spark.sql.connect.service.SparkConnectServer",
        *(part for key, value in settings.items() for part in ("--conf", f"{key}={value}")),
    ]  # fmt: skip
    environment = {**os.environ, "SPARK_HOME": str(home)}
    process = processes.Process(command, cwd=folder, env=environment, stdin=processes.DEVNULL, start_new_session=True)
    try:
        process.wait_until(lambda: answers(port), "it listens")
        yield f"sc://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(autouse=True)
def stopped(server: str) -> Iterator[None]:
    """Sessions are given back while there is somebody to take them."""
    yield
    session = SparkSession.getActiveSession()
    assert session is not None
    session.stop()


def test_a_server_gives_the_same_figures(server: str, duckdb: DuckDB) -> None:
    backend = connect_spark(server)
    assert isinstance(backend, Spark)
    tuned(backend)
    for case in CASES:
        world = read_world(GOLDEN / case)
        made = make_plan(world, backend)
        assert made.digest == make_plan(world, duckdb).digest
        assert made.engine.version == pyspark.__version__
        assert made.engine.stages
    with pytest.raises(InputError, match="Spark cannot read the evidence"):
        backend.read(["/nowhere/usage.parquet"])
    backend.forget()


def test_a_project_is_planned_there(run: Run, posted: Path, server: str) -> None:
    at = ("--project", posted, "plan", "-o", "json")
    assert run(*at, "--engine", server).value()["digest"] == run(*at).value()["digest"]
