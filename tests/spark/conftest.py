"""One Spark for all tests of this block, tuned to little worlds: a plan of ten rows should not wait for compilers that pay off on ten million."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from apportion.engine.backends.duckdb import DuckDB, connect_duckdb
from apportion.engine.backends.spark import Spark
from apportion.verbs.spark import connect_spark
from tests import processes

MASTER = "local[2]"
OLDEST_JAVA = 17
LITTLE = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def java_version() -> int:
    home = os.environ.get("JAVA_HOME")
    program = Path(home, "bin/java") if home else shutil.which("java")
    if not program:
        return 0
    told = processes.run([program, "-version"], text=True).stderr
    found = re.search(r'version "(\d+)', told)
    return int(found[1]) if found else 0


def tuned(backend: Spark) -> Spark:
    for key, value in LITTLE.items():
        backend.session.conf.set(key, value)
    return backend


@pytest.fixture(scope="session", autouse=True)
def java() -> Iterator[None]:
    if java_version() < OLDEST_JAVA:
        pytest.skip(f"no Java {OLDEST_JAVA} or newer")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        yield


@pytest.fixture(scope="session")
def spark(java: None) -> Spark:
    backend = connect_spark(MASTER)
    assert isinstance(backend, Spark)
    return tuned(backend)


@pytest.fixture(scope="session")
def duckdb() -> DuckDB:
    return connect_duckdb(threads=1)
