"""The engine on Spark in this process, for the record: the same figures as `plan_20m` has for DuckDB, over fewer rows."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from apportion.engine.backend import Backend
from apportion.engine.backends.duckdb import connect_duckdb
from apportion.engine.plan import Plan, World, charge_pools, make_plan, survey
from apportion.verbs.spark import connect_spark
from bench.measure import Clock
from bench.worlds import Size, world_of, write_usage

MASTER, THREADS, MEMORY = "local[2]", 2, "6GB"
ROUNDS = 3
SIZE = Size(2_000_000, 7080)


def group_by(backend: Backend, file: str) -> int:
    """What any tool must do at least: read the file once and sum it by owner and node."""
    rows = backend.read([file])
    sums = rows.group_by("owner", "resource").aggregate(units=(rows.allocated * (rows.end_s - rows.start_s)).sum())
    return int(sums.count().to_pyarrow().as_py())


def price_and_charge(world: World, backend: Backend, file: str) -> None:
    lines, setting = survey(world, backend.read([file]), backend)
    charge_pools(lines, setting)


def whole_plan(world: World, backend: Backend, file: str) -> Plan:
    return make_plan(replace(world, usage=backend.read([file])), backend)


def spark(folder: Path) -> dict[str, Any]:
    """2 million rows of about one hour, one pool, on Spark local[2] and on DuckDB with two threads; interleaved, for the record."""
    file, world, clock = str(write_usage(SIZE, folder)), world_of(SIZE, method="capacity_rate"), Clock()
    started = clock.time("start", lambda: connect_spark(MASTER, memory=MEMORY))
    backends: dict[str, Backend] = {"spark": started, "duckdb": connect_duckdb(threads=THREADS)}
    plans: dict[str, Plan] = {}
    for _ in range(ROUNDS + 1):
        for name, backend in backends.items():
            clock.time(f"{name} group by", lambda backend=backend: group_by(backend, file))  # type: ignore[misc]
            backend.forget()
            clock.time(f"{name} price + charge", lambda backend=backend: price_and_charge(world, backend, file))  # type: ignore[misc]
            backend.forget()
            plans[name] = clock.time(f"{name} whole plan", lambda backend=backend: whole_plan(world, backend, file))  # type: ignore[misc]
            backend.forget()
    if plans["spark"].digest != plans["duckdb"].digest:
        raise SystemExit(f"the engines differ: {plans['spark'].digest} and {plans['duckdb'].digest}")
    steps = ("group by", "price + charge", "whole plan")
    return {
        "rows": SIZE.rows,
        "digest": plans["spark"].digest,
        "start_seconds": round(clock.cold("start"), 2),
        **{name: {step: figures(clock, f"{name} {step}", f"{name} group by") for step in steps} for name in backends},
        "version": plans["spark"].engine.version,
    }


def figures(clock: Clock, step: str, against: str) -> dict[str, float]:
    return {
        "seconds_warm": round(clock.warm(step), 2),
        "seconds_cold": round(clock.cold(step), 2),
        "ratio_warm": round(clock.warm(step) / clock.warm(against), 1),
    }
