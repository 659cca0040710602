"""A Spark session to compute plans with: in this process (`local[4]`), on a cluster (`spark://`) or over Spark Connect (`sc://`).

It starts, or says what it lacks; nothing else computes instead.

`spark` starts sessions here, not in the engine, which has no process and no socket. PySpark's own start prints Java's warnings and waits ten minutes
for a server that is not there; we keep the first from the terminal and ask the address before.
"""

import atexit
import shutil
import socket
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from apportion.engine.backend import Backend
from apportion.errors import ProjectError
from apportion.verbs.settings import mebibytes

CONNECT = "sc://"
PORTS = {"sc": 15002, "spark": 7077}
PATIENCE_S = 10
RETRIES = 5  # some twenty seconds; PySpark's own fifteen take ten minutes
OURS = {
    "spark.app.name": "apportion",
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.ui.retainedJobs": "100000",  # a plan counts the stages that it took
    "spark.ui.retainedStages": "100000",
}
IN_THIS_PROCESS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.shuffle.partitions": "16",
}
NEEDS = "Spark needs Java 17 or newer (on Debian and Ubuntu: apt-get install openjdk-17-jre-headless; elsewhere set JAVA_HOME)"
SERVER = "start the server, correct `master` under [engine], or choose --engine duckdb"


def connect_spark(master: str = "local[*]", *, memory: str | None = None, spill: str | None = None) -> Backend:
    """`memory` and `spill` are those of this process; a cluster has its own."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # about pandas, which no table of ours goes through
            from apportion.engine.backends.spark import over_spark  # noqa: PLC0415  # an extra

            if master.startswith(CONNECT):
                return over_spark(remote_session(master), remote=True)
            return over_spark(own_session(master, memory, spill))
    except ImportError as error:
        raise ProjectError(
            "spark-missing",
            f"Spark is asked for, and its Python package is not installed ({error})",
            hint='pip install "apportion[spark]", or choose --engine duckdb',
        ) from error


def remote_session(master: str) -> Any:
    """A new session of a server."""
    from pyspark.errors import PySparkException  # noqa: PLC0415
    from pyspark.sql.connect.client.retries import DefaultPolicy  # noqa: PLC0415
    from pyspark.sql.connect.session import SparkSession  # noqa: PLC0415

    refuse_silence(master)
    try:
        session = SparkSession.builder.remote(master).create()
    except PySparkException as error:
        raise not_started(master, str(error), SERVER) from error
    session.client.set_retry_policies([DefaultPolicy(max_retries=RETRIES)])
    return session


def refuse_silence(master: str) -> None:
    """PySpark itself would try for minutes to reach a server that is not there."""
    parts = urlsplit(master.split(",", maxsplit=1)[0])
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    try:
        socket.create_connection((host, port), PATIENCE_S).close()
    except OSError as error:
        raise not_started(master, f"nothing answers at {host}:{port} ({error})", SERVER) from error


def own_session(master: str, memory: str | None, spill: str | None) -> Any:
    """Settings, views and functions are a session's; the process has one Spark for all of them."""
    from pyspark.sql import SparkSession  # noqa: PLC0415

    if not master.startswith("local"):
        refuse_silence(master)
    return SparkSession(own_context(master, memory, spill)).newSession()


@cache
def own_context(master: str, memory: str | None, spill: str | None) -> Any:
    from py4j.protocol import Py4JError  # noqa: PLC0415
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415
    from pyspark.errors import PySparkException  # noqa: PLC0415
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    folder = Path(tempfile.mkdtemp(prefix="apportion-spark-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    settings = OURS | {"spark.master": master, "spark.sql.warehouse.dir": str(folder)}
    settings |= IN_THIS_PROCESS if master.startswith("local") else {}
    settings |= {"spark.driver.memory": f"{mebibytes(memory)}m"} if memory else {}
    settings |= {"spark.local.dir": spill} if spill else {}
    conf, log = SparkConf(loadDefaults=False).setAll(list(settings.items())), folder / "log"
    try:
        with log.open("wb") as told:  # what Java says there would mix with our own talk
            return SparkContext(conf=conf, gateway=launch_gateway(conf, {"stderr": told}))
    except (PySparkException, Py4JError, OSError, ValueError) as error:
        lines = log.read_text(errors="replace").strip().splitlines() or str(error).splitlines()
        raise not_started(master, lines[-1].strip(), NEEDS) from error


def not_started(master: str, why: str, hint: str) -> ProjectError:
    return ProjectError("spark-not-started", f"Spark does not start at {master}: {why}", hint=hint)
