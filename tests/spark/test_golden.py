"""Spark and DuckDB give the same digest of every golden case: half of them here, the others in tests/spark_golden, beside which this runs."""

import pytest

from apportion.engine.backends.duckdb import DuckDB
from apportion.engine.backends.spark import Spark
from tests.engine.golden_world import CASES, GOLDEN, read_world
from tests.spark.digests import digest


@pytest.mark.parametrize("case", CASES[::2])
def test_golden_cases(case: str, spark: Spark, duckdb: DuckDB) -> None:
    world = read_world(GOLDEN / case)
    assert digest(world, spark) == digest(world, duckdb)
    spark.forget()
    duckdb.forget()
