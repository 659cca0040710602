"""Spark and DuckDB give the same digest of every golden case: of a third of them in every run, drawn anew; `make test-long` has all."""

import random

import pytest

from apportion.engine.backends.duckdb import DuckDB
from apportion.engine.backends.spark import Spark
from tests.engine.golden_world import CASES, GOLDEN, read_world
from tests.spark.digests import digest

PARTS = 3
PART = random.SystemRandom().randrange(PARTS)
DRAWN = [
    pytest.param(case, marks=() if number % PARTS == PART else pytest.mark.long) for number, case in enumerate(CASES)
]


@pytest.mark.parametrize("case", DRAWN)
def test_golden_cases(case: str, spark: Spark, duckdb: DuckDB) -> None:
    world = read_world(GOLDEN / case)
    assert digest(world, spark) == digest(world, duckdb)
    spark.forget()
    duckdb.forget()
