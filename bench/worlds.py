"""The worlds that are measured: made by DuckDB's hash from row numbers, so that every run sees the same rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa

from apportion.engine.plan import World
from apportion.model.meters import GPU
from apportion.model.rows import CAPACITY, COST_LINES, LABELS, RESERVATIONS, WORKLOADS
from apportion.model.times import Period, parse_instant
from apportion.policy.load import load_policy

START_S = parse_instant("2026-10-01T07:00:00Z")  # midnight in Los Angeles
HOURS = 31 * 24
ZONE = "America/Los_Angeles"
NODES, TEAMS, ROWS_PER_WORKLOAD = 1250, 200, 20
NODE_HOUR = Decimal("98.32")
POLICY = """
policy: bench
effective: 2026-10-01
currency: USD
time_zone: {zone}
owners:
  - {{when: {{account: "*"}}, team: "{{account}}"}}
pools:
"""
POOL = "  {name}: {{costs: {{ResourceId: {nodes}}}, usage: {{node: {nodes}}}, meter: gpu, method: {method}, slot: {slot}, scope: {scope}}}\n"
ONE = ("node-*",)
FOUR = (
    "[node-00*, node-01*, node-02*]", "[node-03*, node-04*, node-05*]", "[node-06*, node-07*, node-08*]", "[node-09*, node-10*, node-11*, node-12*]",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Size:
    """`rows` usage intervals of one minute to `longest` seconds more, on 1,250 nodes, of 200 teams."""

    rows: int
    longest: int

    def file(self, folder: Path) -> Path:
        return folder / f"usage-{self.rows}-{self.longest}.parquet"


def write_usage(size: Size, folder: Path) -> Path:
    """One Parquet file in the books' own columns, with the owner beside them for the bare GROUP BY."""
    path = size.file(folder)
    if path.exists():
        return path
    workloads = size.rows // ROWS_PER_WORKLOAD
    room = HOURS * 3600 - size.longest - 60
    draft = path.with_suffix(".draft")
    duckdb.sql(f"""
        copy (
          select 'bench' as source, 'job-' || lpad(job::varchar, 8, '0') as workload, 'gpu' as meter,
                 'node-' || lpad((hash(i) % {NODES})::varchar, 4, '0') as resource,
                 start_s, start_s + 60 + (hash(i * 13) % {size.longest})::bigint as end_s,
                 {GPU} * (1 + hash(i * 17) % 8)::bigint as allocated, null::bigint as used, (job % {TEAMS})::int as owner,
                 null::varchar as cluster, null::varchar as label_set
          from (select i, (hash(i * 5) % {workloads})::bigint as job, {START_S} + (hash(i * 11) % {room})::bigint as start_s
                from range({size.rows}) rows(i))
        ) to '{draft}' (format parquet)""")
    draft.rename(path)
    return path


def team(number: int) -> str:
    return f"team-{number:03d}"


def workloads_of(size: Size) -> pa.Table:
    """Made in columns: a hundred million rows have five million workloads."""
    count = size.rows // ROWS_PER_WORKLOAD
    named = duckdb.sql(f"select 'job-' || lpad(i::varchar, 8, '0') as name from range({count}) jobs(i) order by i")
    names = named.fetch_arrow_table()["name"].combine_chunks().cast(pa.string())
    teams = pa.array([team(n) for n in range(TEAMS)]).take(pa.array(np.arange(count) % TEAMS))
    offsets = pa.array(np.arange(count + 1, dtype=np.int32))
    began = pa.repeat(pa.scalar(START_S, pa.int64()), count)
    columns = [
        pa.repeat("bench", count),
        names,
        names,
        pa.nulls(count, pa.string()),
        began,
        began,
        pa.repeat("completed", count),
        pa.MapArray.from_arrays(offsets, pa.repeat("account", count), teams).cast(LABELS),
        pa.nulls(count, pa.string()),
    ]
    return pa.table(dict(zip(WORKLOADS.names, columns, strict=True))).cast(WORKLOADS)


def cost_lines() -> pa.Table:
    """One line per node and hour."""
    rows = NODES * HOURS
    nodes = [n for n in range(NODES) for _ in range(HOURS)]
    starts = [START_S + hour * 3600 for _ in range(NODES) for hour in range(HOURS)]
    amounts = [NODE_HOUR + Decimal(n).scaleb(-6) for n in nodes]
    same = {
        "source": "bench",
        "component": "compute",
        "BillingCurrency": "USD",
        "InvoiceIssuerName": "Bench",
        "ChargeCategory": "Usage",
        "ServiceName": "Nodes",
    }
    columns = {name: pa.array([value] * rows, pa.string()) for name, value in same.items()} | {
        "line_id": pa.array([f"line-{n}" for n in range(rows)]),
        "charge_start_s": pa.array(starts, pa.int64()),
        "charge_end_s": pa.array([start + 3600 for start in starts], pa.int64()),
        "billing_start_s": pa.array([START_S] * rows, pa.int64()),
        "billing_end_s": pa.array([START_S + HOURS * 3600] * rows, pa.int64()),
        "EffectiveCost": pa.array(amounts, pa.decimal128(38, 18)),
        "ResourceId": pa.array([f"node-{n:04d}" for n in nodes], pa.string()),
        "Tags": pa.array([[]] * rows, LABELS),
    }
    return pa.table(
        {field.name: columns.get(field.name, pa.nulls(rows, field.type)) for field in COST_LINES}, schema=COST_LINES
    )


def capacity(amount: int) -> pa.Table:
    end = START_S + HOURS * 3600
    rows = [
        {
            "source": "bench",
            "resource": f"node-{n:04d}",
            "meter": "gpu",
            "start_s": START_S,
            "end_s": end,
            "amount": amount,
            "state": "up",
            "labels": [],
        }
        for n in range(NODES)
    ]
    return pa.Table.from_pylist(rows, schema=CAPACITY)


def world_of(
    size: Size, *, method: str = "proportional", slot: str = "hour", scope: str = "pool", pools: Sequence[str] = ONE
) -> World:
    """Pools over all nodes, one unless told; prices are formed hour by hour. Its usage is the file of that size."""
    rules = (
        POOL.format(name=f"gpu{n}", nodes=nodes, method=method, slot=slot, scope=scope) for n, nodes in enumerate(pools)
    )
    return World(
        Period(2026, 10),
        load_policy(POLICY.format(zone=ZONE) + "".join(rules), "bench.yaml"),
        cost_lines(),
        None,
        capacity(100 * GPU),
        RESERVATIONS.empty_table(),
        workloads_of(size),
    )
