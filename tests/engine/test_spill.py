"""More usage than DuckDB may hold in memory: the rest lies in the spill folder, and the plan is the same."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from apportion.engine.backends.duckdb import connect_duckdb
from apportion.engine.plan import make_plan
from bench.worlds import Size, world_of, write_usage

LITTLE = "70MB"


def test_a_plan_that_does_not_fit_into_memory_is_the_same(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    size, spill = Size(100_000, 7080), tmp_path / "spill"
    file = str(write_usage(size, tmp_path))
    world = world_of(size, method="capacity_rate", scope="resource")
    free, tight = connect_duckdb(threads=1), connect_duckdb(threads=1, memory=LITTLE, spill=str(spill))
    digests = {make_plan(replace(world, usage=backend.read([file])), backend).digest for backend in (free, tight)}
    spilt = sum(path.stat().st_size for path in spill.iterdir())
    assert len(digests) == 1
    assert spilt > 2**20
    record_property(f"spilt beyond {LITTLE}", f"{spilt / 10**6:.0f} MB")
