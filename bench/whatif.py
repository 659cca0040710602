"""A year of history under other rules: by one policy, and by twenty variants in one pass."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

import apportion
from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.model.rows import CAPACITY, COST_LINES, LABELS, USAGE, WORKLOADS
from apportion.model.times import Interval, Period, parse_period
from apportion.verbs.backtest import Wanted
from apportion.verbs.draft import policy_text
from apportion.verbs.supposed import read_variation
from apportion.verbs.world import UTC_ZONE
from bench.measure import Clock, peak_gb

JOBS, MANY_JOBS = 80_000, 960_000  # of each month; those that run past midnight are charged twice
NODES, TEAMS, PROJECTS = 200, 50, 4
LONGEST = 7200
THREADS = 2
YEAR = [f"2025-{month:02d}" for month in range(1, 13)]
SETTINGS = '[project]\nname = "bench"\n\n[engine]\nthreads = 2\n'
POLICY = """\
policy: bench
effective: 2025-01-01
currency: USD
time_zone: UTC
teams: {{{teams}}}
owners:
  - {{when: {{team: "*"}}, team: "{{team}}", project: "{{project}}"}}
pools:
  east: {{costs: {{ResourceId: "east-*"}}, usage: {{node: "east-*"}}, meter: gpu, method: capacity_rate, idle: central}}
  west: {{costs: {{ResourceId: "west-*"}}, usage: {{node: "west-*"}}, meter: gpu, method: proportional}}
  rest: {{costs: otherwise, by: cost, over: all}}
"""
VARIANTS = (
    *(f"price {pool} {by}: price {pool}={by}" for pool in ("east", "west", "rest") for by in ("+5%", "-10%")),
    *(f"capacity {by}: capacity east={by}" for by in ("+10%", "-10%", "+10% at the same bill")),
    *(f"idle {rule}: idle east={rule}" for rule in ("proportional", "even")),
    *(f"{pool} by {method}: method {pool}={method}" for pool in ("east", "west") for method in ("coincident_peak", "temporal_shapley", "noncoincident_peak")),
    "east shared: method east=proportional",
    "west at a rate: method west=capacity_rate; idle west=proportional",
    "moved: move team-01=labs",
)  # fmt: skip


def whatif(folder: Path) -> dict[str, Any]:
    """Twelve months with a million charges in all: one policy, the one in force, which must change nothing; then twenty variants."""
    return over_a_year(folder, JOBS)


def whatif_12m(folder: Path) -> dict[str, Any]:
    """The same with a million charges in each month, for the record; building it takes far longer."""
    return over_a_year(folder, MANY_JOBS)


def over_a_year(folder: Path, jobs: int, months: int = 12) -> dict[str, Any]:
    project = apportion.open_project(build(folder / f"whatif-{jobs}-{months}", jobs, YEAR[:months]))
    asked, clock = f"{YEAR[0]}..{YEAR[months - 1]}", Clock()
    same = clock.time(
        "one", lambda: apportion.backtest(project, asked, Wanted({"same": policy_text(project)}, workers=THREADS))
    )
    if any(row.change for row in same.variants[0].months):
        raise SystemExit("the policy in force does not come to what is posted")
    variants = [read_variation(project, text) for text in VARIANTS]
    made = clock.time("twenty", lambda: apportion.backtest(project, asked, Wanted(variants=variants, workers=THREADS)))
    if not all(variant.bills or variant.clauses for variant in made.variants):
        raise SystemExit("a variant changes nothing")
    return {
        "months": months,
        "charges": len(project.books.scan("charges", columns=["period"])),
        "postings": sum(len(project.books.posted(month)) for month in YEAR[:months]),
        "variants": len(variants),
        "one_policy_seconds": round(clock.cold("one"), 1),
        "variants_seconds": round(clock.cold("twenty"), 1),
        "peak_gb": round(peak_gb(), 2),
    }


def build(folder: Path, jobs: int, months: list[str]) -> Path:
    """Posted books, kept between runs."""
    if (folder / "ready").exists():
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "apportion.toml").write_text(SETTINGS, "utf-8")
    teams = ", ".join(f"team-{n:02d}: {{department: d{n % 5}}}" for n in range(TEAMS))
    (folder / "policy.yaml").write_text(POLICY.format(teams=teams), "utf-8")
    project = apportion.open_project(folder)
    for month in months:
        project.books.ingest(delivered(parse_period(month), jobs))
        apportion.plan(project, month)
        apportion.apply(project, month)
    (folder / "ready").touch()
    return folder


def delivered(period: Period, jobs: int) -> Delivery:
    own = period.interval(UTC_ZONE)
    usage, workloads = worked(period, jobs, own)
    tables = {"usage": usage, "workloads": workloads, "capacity": capacity(own), "cost_lines": lines(period, own)}
    return Delivery("bench", own, tables)


def worked(period: Period, jobs: int, own: Interval) -> tuple[pa.Table, pa.Table]:
    """By DuckDB's hash of the jobs' numbers, so that every run sees the same."""
    room = own.seconds - LONGEST - 60
    rows = duckdb.sql(f"""
        select 'bench' as source, '{period}-' || i as workload, 'gpu' as meter,
               (case when hash(i) % 2 = 0 then 'east-' else 'west-' end) || lpad((hash(i * 3) % {NODES // 2})::varchar, 3, '0') as resource,
               start_s, start_s + 60 + (hash(i * 13) % {LONGEST})::bigint as end_s,
               {GPU} * (1 + hash(i * 17) % 4)::bigint as allocated, ({GPU} // 2)::bigint as used
        from (select i, {own.start_s} + (hash(i * 11) % {room})::bigint as start_s from range({jobs}) jobs(i)) order by i
    """).fetch_arrow_table()
    named = duckdb.sql(f"""
        select map(['team', 'project'],
                   ['team-' || lpad((hash(i * 19) % {TEAMS})::varchar, 2, '0'), 'p' || (hash(i * 23) % {PROJECTS})]) as labels
        from range({jobs}) jobs(i) order by i
    """).fetch_arrow_table()
    described = {
        **{name: rows[name] for name in ("source", "workload", "start_s", "end_s")},
        "run": rows["workload"],
        "name": pa.nulls(jobs, pa.string()),
        "outcome": pa.repeat("completed", jobs),
        "labels": named["labels"].cast(LABELS),
    }
    return rows.select(USAGE.names).cast(USAGE), pa.table({name: described[name] for name in WORKLOADS.names}).cast(
        WORKLOADS
    )


def nodes() -> Iterator[str]:
    yield from (f"{side}-{n:03d}" for side in ("east", "west") for n in range(NODES // 2))


def capacity(own: Interval) -> pa.Table:
    level = {"source": "bench", "meter": "gpu", "start_s": own.start_s, "end_s": own.end_s, "state": "up", "labels": []}
    return pa.Table.from_pylist([level | {"resource": node, "amount": 64 * GPU} for node in nodes()], schema=CAPACITY)


def lines(period: Period, own: Interval) -> pa.Table:
    """A line for each node and day, and one for what is left."""
    same = {
        "source": "bench", "component": "compute", "BillingCurrency": "USD", "InvoiceIssuerName": "Bench", "ChargeCategory": "Usage",
        "ServiceName": "Nodes", "billing_start_s": own.start_s, "billing_end_s": own.end_s, "Tags": [],
    }  # fmt: skip
    days = range(own.start_s, own.end_s, 86400)
    places = [(node, day) for node in (*nodes(), "network") for day in days]
    rows = [
        same | {"line_id": f"{period}-{n}", "charge_start_s": day, "charge_end_s": day + 86400, "EffectiveCost": f"{1000 + n % 97}.37", "ResourceId": node}
        for n, (node, day) in enumerate(places)
    ]  # fmt: skip
    table = {
        field.name: pa.array([row.get(field.name) for row in rows], pa.string()).cast(field.type)
        if field.name == "EffectiveCost"
        else pa.array([row.get(field.name) for row in rows], field.type)
        for field in COST_LINES
    }
    return pa.table(table, schema=COST_LINES)
