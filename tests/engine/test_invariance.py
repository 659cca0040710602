"""The digest of a plan depends on what the evidence and the rules say, and on nothing else."""

import os
import random
import sys
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from apportion.engine.backends.duckdb import connect_duckdb
from apportion.engine.plan import World, make_plan
from apportion.model.rows import TABLES
from apportion.model.times import parse_period
from apportion.policy.load import load_policy
from tests import processes
from tests.engine.golden_world import GOLDEN, read_world
from tests.property.worlds import world as random_world

ROOT = Path(__file__).parents[2]
SEEDS = (3, 8)


def drawn(seed: int) -> World:
    found = random_world(seed)
    return World(parse_period(found.period), found.policy, **found.tables(), previous=dict(found.previous))


def digest(world: World, threads: int = 1) -> str:
    return make_plan(world, connect_duckdb(threads=threads)).digest


def every_table(world: World, change: Callable[[pa.Table], pa.Table]) -> World:
    tables: dict[str, Any] = {name: change(getattr(world, name)) for name in TABLES}
    return replace(world, **tables)


def shuffled(table: pa.Table) -> pa.Table:
    return table.take(pa.array(random.Random(1).sample(range(len(table)), len(table)), pa.int64()))


def in_chunks(table: pa.Table) -> pa.Table:
    cuts = [table.slice(start, 3) for start in range(0, len(table), 3)]
    return pa.concat_tables([table.slice(0, 0), *cuts])


@pytest.mark.parametrize("seed", SEEDS)
def test_row_order_chunks_and_threads_do_not_count(seed: int) -> None:
    """All at once: what one of them does, another would have to undo."""
    world = drawn(seed)
    assert digest(every_table(world, lambda table: in_chunks(shuffled(table))), threads=2) == digest(world)


@cache
def digests() -> str:
    """What a fresh process prints: run as a script, below."""
    return " ".join([digest(drawn(SEEDS[0])), digest(read_world(GOLDEN / "half-hour-zone"))])


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu"},
        {"PYTHONHASHSEED": "2", "TZ": "America/Los_Angeles", "LC_ALL": "C"},
    ],
    ids=str,
)
def test_hash_seed_time_zone_and_locale_do_not_count(environment: dict[str, str]) -> None:
    known = {key: value for key, value in os.environ.items() if key not in ("TZ", "LC_ALL", "PYTHONHASHSEED")}
    done = processes.run(
        [sys.executable, __file__],
        env={**known, **environment, "PYTHONPATH": str(ROOT)},
        text=True,
        check=True,
    )
    assert done.stdout.split() == digests().split()


def one_second_more(world: World) -> World:
    first, *others = world.usage.to_pylist()
    rows = [first | {"end_s": first["end_s"] + 1}, *others]
    return replace(world, usage=pa.Table.from_pylist(rows, schema=TABLES["usage"]))


def one_nano_more(world: World) -> World:
    first, *others = world.cost_lines.to_pylist()
    rows = [first | {"EffectiveCost": first["EffectiveCost"] + Decimal("0.000000001")}, *others]
    return replace(world, cost_lines=pa.Table.from_pylist(rows, schema=TABLES["cost_lines"]))


def one_letter_other(world: World) -> World:
    """A team's class that no rule asks about: no posting moves, and yet it is another policy."""
    return replace(world, policy=load_policy(world.policy.text.replace("bio: {}", "bio: {class: x}")))


def one_comment_more(world: World) -> World:
    return replace(world, policy=load_policy(world.policy.text + "# agreed in October\n"))


@pytest.mark.parametrize("change", [one_second_more, one_nano_more, one_letter_other])
def test_one_second_one_nano_or_one_letter_counts(change: Callable[[World], World]) -> None:
    world = read_world(GOLDEN / "idle-central")
    assert digest(change(world)) != digest(world)


def test_a_comment_does_not_count() -> None:
    world = read_world(GOLDEN / "idle-central")
    assert digest(one_comment_more(world)) == digest(world)


def test_inputs_count_even_where_no_figure_moves() -> None:
    world = read_world(GOLDEN / "idle-central")
    assert digest(replace(world, inputs={"usage": "1"})) != digest(replace(world, inputs={"usage": "2"}))


if __name__ == "__main__":
    print(digests())
