"""The worlds that are measured: made by DuckDB's hash from row numbers, so that every run sees the same rows."""

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

import duckdb
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
  gpu: {{costs: {{ServiceName: Nodes}}, usage: {{node: "node-*"}}, meter: gpu, method: {method}, scope: {scope}}}
"""


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
                 {GPU} * (1 + hash(i * 17) % 8)::bigint as allocated, null::bigint as used, (job % {TEAMS})::int as owner
          from (select i, (hash(i * 5) % {workloads})::bigint as job, {START_S} + (hash(i * 11) % {room})::bigint as start_s
                from range({size.rows}) rows(i))
        ) to '{draft}' (format parquet)""")
    draft.rename(path)
    return path


def team(number: int) -> str:
    return f"team-{number:03d}"


def workloads_of(size: Size) -> pa.Table:
    count = size.rows // ROWS_PER_WORKLOAD
    names = pa.array([f"job-{n:08d}" for n in range(count)], pa.string())
    zeros = pa.array([START_S] * count, pa.int64())
    labels = pa.array([[("account", team(n % TEAMS))] for n in range(count)], LABELS)
    columns = [
        ["bench"] * count,
        names,
        names,
        pa.nulls(count, pa.string()),
        zeros,
        zeros,
        ["completed"] * count,
        labels,
    ]
    return pa.table(dict(zip(WORKLOADS.names, columns, strict=True)), schema=WORKLOADS)


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
    size: Size, usage: object, *, method: str = "proportional", slot: str = "hour", scope: str = "pool"
) -> World:
    """One pool over everything; its price is formed hour by hour."""
    text = POLICY.format(method=method, scope=scope, zone=ZONE).replace(
        f"method: {method}", f"method: {method}, slot: {slot}"
    )
    return World(
        Period(2026, 10),
        load_policy(text, "bench.yaml"),
        cost_lines(),
        usage,
        capacity(100 * GPU),
        RESERVATIONS.empty_table(),
        workloads_of(size),
    )
