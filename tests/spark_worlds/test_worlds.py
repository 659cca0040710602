"""Spark and DuckDB give the same digest of worlds from seeds, and the same charges."""

import pyarrow as pa
import pytest

from apportion.engine.backends.duckdb import DuckDB
from apportion.engine.backends.spark import Spark
from apportion.engine.charges import charges_of
from apportion.engine.plan import World, make_plan
from apportion.engine.witnesses import hear
from apportion.model.rows import CHARGES
from apportion.model.times import parse_period
from tests.engine.golden_world import GOLDEN, read_world
from tests.property.worlds import world as random_world
from tests.spark.digests import digest

SEEDS = (
    2,
    6,
    31,
    32,
)  # an unused node and a dormant team's floor; two clusters and equal rows; use without allocation; a repeated id
LONG_SEEDS = range(200)
METHODS = (
    (),
    ("two_part",),
    ("resource_weighted",),
    ("energy_two_part",),
    ("temporal_shapley",),
    ("reciprocal",),
    ("dominant_share",),
    (),
)
CHARGED = ("flow-energy", "scope-resource", "time-3-to-1")


def test_worlds_from_seeds(spark: Spark, duckdb: DuckDB, long_run: bool) -> None:
    for seed in LONG_SEEDS if long_run else SEEDS:
        drawn = random_world(seed, methods=METHODS[seed % len(METHODS)])
        world = World(parse_period(drawn.period), drawn.policy, **drawn.tables(), previous=dict(drawn.previous))
        assert digest(world, spark) == digest(world, duckdb), str(drawn)
        spark.forget()
        duckdb.forget()


@pytest.mark.parametrize("case", CHARGED)
def test_charges_of_workloads(case: str, spark: Spark, duckdb: DuckDB) -> None:
    world = read_world(GOLDEN / case)
    found = [
        pa.Table.from_batches(charges_of(make_plan(world, backend)), schema=CHARGES).to_pylist()
        for backend in (spark, duckdb)
    ]
    assert found[0]
    assert sorted(map(str, found[0])) == sorted(map(str, found[1]))


def test_several_sources_of_one_workload(spark: Spark, duckdb: DuckDB) -> None:
    """A second source that measured half of what the first one saw: the one that decides keeps its word on both engines."""
    drawn = random_world(3)
    tables = drawn.tables()
    assert len(tables["usage"]) > 1
    half = tables["usage"].slice(0, len(tables["usage"]) // 2).to_pylist()
    twice = [{**row, "source": "agent", "allocated": 0, "used": row["allocated"] // 2} for row in half]
    seen = {row["workload"] for row in half}
    works = [
        {**row, "source": "agent", "labels": []} for row in tables["workloads"].to_pylist() if row["workload"] in seen
    ]
    for name, rows in (("usage", twice), ("workloads", works)):
        more = pa.Table.from_pylist(rows, schema=tables[name].schema)
        tables[name] = pa.concat_tables([tables[name], more])
    world = World(parse_period(drawn.period), drawn.policy, **tables, previous=dict(drawn.previous))
    heard = [hear(world, backend).usage.to_pyarrow() for backend in (spark, duckdb)]
    one, other = (sorted(map(str, table.to_pylist())) for table in heard)
    assert one == other
    assert digest(hear(world, spark), spark) == digest(hear(world, duckdb), duckdb)
