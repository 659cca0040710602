"""What is measured. Each part returns figures, the bound each must keep, and has checked its sums."""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from apportion.books.open import open_books
from apportion.books.shapes import Run
from apportion.engine.backends.duckdb import connect_duckdb
from apportion.engine.charges import charges_of
from apportion.engine.plan import Plan, World, charge_pools, make_plan, survey
from apportion.model.delivery import Delivery
from apportion.model.money import GRAINS_PER_NANO, NANO, plain, total_of
from apportion.model.rows import USAGE
from apportion.model.times import Interval
from bench.bills import cur_1m, cur_5m
from bench.measure import Clock, peak_gb
from bench.pages import pages
from bench.peaks import peaks
from bench.prometheus import prometheus_day
from bench.slurm import slurm_1m
from bench.spark import spark
from bench.statements import statements_500
from bench.traces import surf_lisa
from bench.whatif import whatif, whatif_12m
from bench.worlds import FOUR, HOURS, NODE_HOUR, NODES, START_S, TEAMS, ZONE, Size, world_of, write_usage

ROUNDS, FEW_ROUNDS = 5, 3
THREADS = 2
HOUR_LONG, DAY_LONG = 7080, 172_680  # a minute to two hours: about one hour; a minute to two days: about one day
Figures = dict[str, Any]


def group_by(path: Path) -> int:
    """What any tool must do at least: read the file once and sum it by owner and node."""
    with duckdb.connect() as connection:
        connection.execute(f"set threads = {THREADS}")
        sql = "select count(*) from (select owner, resource, sum(allocated * (end_s - start_s)) from read_parquet(?) group by all)"
        found = connection.execute(sql, [str(path)]).fetchone()
    return int(found[0]) if found else 0


def price_and_charge(world: World, path: Path) -> int:
    """What every team owes for each day, before rounding: the engine up to the account of the pool. Gives back the grains that were used."""
    backend = connect_duckdb(threads=THREADS)
    usage = backend.read([str(path)])
    lines, setting = survey(world, usage, backend)
    results = charge_pools(lines, setting)
    backend.forget()
    return sum(grains for result in results.values() for entry, grains in result.account if not entry.cause)


def whole_plan(world: World, path: Path) -> Plan:
    backend = connect_duckdb(threads=THREADS)
    return make_plan(
        World(**{name: getattr(world, name) for name in World.__slots__} | {"usage": backend.read([str(path)])}),
        backend,
    )


def check(plan: Plan) -> None:
    posted = total_of(plan.postings["amount"].to_pylist())
    bill = total_of(bill.total for bill in plan.bills)
    if posted != bill:
        raise SystemExit(f"postings of {plain(posted)} against a bill of {plain(bill)}")


def ratios(clock: Clock, name: str, against: str) -> Figures:
    return {
        "seconds_warm": round(clock.warm(name), 2),
        "seconds_cold": round(clock.cold(name), 2),
        "ratio_warm": round(clock.warm(name) / clock.warm(against), 1),
        "ratio_cold": round(clock.cold(name) / clock.cold(against), 1),
    }


def plan_20m(folder: Path) -> Figures:
    """20 million rows of about one hour, one pool, against the bare GROUP BY over the same file; interleaved."""
    return plan_against_group_by(folder, Size(20_000_000, HOUR_LONG), "pool")


def plan_100m(folder: Path) -> Figures:
    """100 million rows and five million workloads, the same way; one cold round and two warm ones. Its file, 2 GB, is removed."""
    size = Size(100_000_000, HOUR_LONG)
    found = plan_against_group_by(folder, size, "pool", rounds=2)
    size.file(folder).unlink()
    return found


def four_pools(folder: Path) -> Figures:
    """20 million rows shared by four pools, a quarter of the nodes each, against the same shared by one; interleaved."""
    size = Size(20_000_000, HOUR_LONG)
    path, clock = write_usage(size, folder), Clock()
    worlds = {
        "one": world_of(size, method="capacity_rate"),
        "four": world_of(size, method="capacity_rate", pools=FOUR),
    }
    for _ in range(FEW_ROUNDS + 1):
        for name, world in worlds.items():
            plan = clock.time(name, lambda world=world: whole_plan(world, path))  # type: ignore[misc]
            check(plan)
            plan.trace.setting.backend.forget()
    return {
        "one_seconds_warm": round(clock.warm("one"), 2),
        "four_seconds_warm": round(clock.warm("four"), 2),
        "ratio_warm": round(clock.warm("four") / clock.warm("one"), 2),
    }


def plan_1m_by_resource(folder: Path) -> Figures:
    """One million rows with a price per node (`scope: resource`), for the record: its grid is a thousand times finer."""
    return plan_against_group_by(folder, Size(1_000_000, HOUR_LONG), "resource")


def plan_against_group_by(folder: Path, size: Size, scope: str, rounds: int = ROUNDS) -> Figures:
    path = write_usage(size, folder)
    world = world_of(size, method="capacity_rate", scope=scope)
    clock = Clock()
    groups = postings = 0
    for _ in range(rounds + 1):
        groups = clock.time("group by", lambda: group_by(path))
        clock.time("price + charge", lambda: price_and_charge(world, path))
        plan = clock.time("plan", lambda: whole_plan(world, path))
        check(plan)
        postings = len(plan.postings)
        plan.trace.setting.backend.forget()
        del plan
    return {
        "groups": groups,
        "postings": postings,
        "group by": {
            "seconds_warm": round(clock.warm("group by"), 2),
            "seconds_cold": round(clock.cold("group by"), 2),
        },
        "price + charge": ratios(clock, "price + charge", "group by"),
        "whole plan": ratios(clock, "plan", "group by"),
        "peak_gb": round(peak_gb(), 2),
    }


# What one writes by hand: every interval cut into its hours, the hours' demand and price by node, and each owner's part of every local day,
# exact to the nano. Over timestamps, as bills and schedulers have them, and over whole seconds, which is as fast as it gets.
EXPLODED = """
with cut as ({cut}),
parts as (select owner, resource, hour, sum(units) as units from cut group by all),
whole as (select resource, hour, sum(units) as units from parts group by all),
price as (select resource, hour, nano * {fine} // units as price from whole join money using (resource, hour) where units > 0)
select owner, {day} as day, sum(units * price) // {fine} as nano from parts join price using (resource, hour) group by all"""
BY_TIMESTAMP = """
select owner, resource, hour, allocated * epoch(least(end_at, hour + interval 1 hour) - greatest(start_at, hour))::bigint as units
from (select owner, resource, allocated, start_at, end_at,
             unnest(generate_series(date_trunc('hour', start_at), end_at, interval 1 hour)) as hour
      from (select *, to_timestamp(start_s) as start_at, to_timestamp(end_s) as end_at from read_parquet('{path}')))"""
BY_SECOND = """
select owner, resource, hour, allocated * (least(end_s, hour + 3600) - greatest(start_s, hour)) as units
from (select owner, resource, allocated, start_s, end_s, unnest(range(start_s - (start_s - {start}) % 3600, end_s, 3600)) as hour
      from read_parquet('{path}'))"""
FINE = 10**20
NODE_NANO = int(NODE_HOUR * NANO)
GROUPS_OF_A_MONTH = TEAMS * 31  # each floored to a nano


def explode(path: Path, cut: str, hour: str, day: str) -> int:
    """Nanos that the SQL shares out."""
    opens = hour.format(second=f"({START_S} + h * 3600)")
    money = f"""
        select 'node-' || lpad(n::varchar, 4, '0') as resource, {opens} as hour, ({NODE_NANO} + n * 1000)::hugeint as nano
        from range({NODES}) nodes(n), range({HOURS}) hours(h)"""
    with duckdb.connect() as connection:
        connection.execute(f"set threads = {THREADS}; set memory_limit = '8GB'; set preserve_insertion_order = false")
        connection.execute(f"set timezone = '{ZONE}'")
        connection.execute(f"create temp table money as {money}")
        text = EXPLODED.format(cut=cut.format(path=path, start=START_S), day=day, fine=FINE)
        return sum(int(nano) for _, _, nano in connection.execute(text).fetchall())


def against_explosion(folder: Path) -> Figures:
    """5 million rows of about one day, a price for each node: the engine against SQL that explodes every interval into its hours."""
    size = Size(5_000_000, DAY_LONG)
    path = write_usage(size, folder)
    world = world_of(size, scope="resource")
    clock = Clock()

    def engine() -> int:
        return int([clock.time("engine", lambda: price_and_charge(world, path)) for _ in range(ROUNDS)][-1])

    engine()  # before, between and after, so that all see the same machine
    seconds = clock.time("by second", lambda: explode(path, BY_SECOND, "{second}", f"(hour - {START_S}) // 86400"))
    engine()
    stamps = clock.time("by timestamp", lambda: explode(path, BY_TIMESTAMP, "to_timestamp({second})", "hour::date"))
    shared = engine() // GRAINS_PER_NANO
    if max(abs(shared - seconds), abs(shared - stamps)) > GROUPS_OF_A_MONTH:
        raise SystemExit(f"the three do not share the same money: {shared}, {seconds} and {stamps} nanos")
    return {
        "engine_seconds": round(clock.warm("engine"), 2),
        "explode_seconds": round(clock.warm("by timestamp"), 2),
        "times_faster": round(clock.warm("by timestamp") / clock.warm("engine"), 1),
        "explode_integers_seconds": round(clock.warm("by second"), 2),
        "times_faster_than_integers": round(clock.warm("by second") / clock.warm("engine"), 1),
        "peak_gb": round(peak_gb(), 2),
    }


def job_length(folder: Path) -> Figures:
    """Does planning grow when jobs get twice as long? 5 million rows of about one day against two days; interleaved."""
    sizes = {"one day": Size(5_000_000, DAY_LONG), "two days": Size(5_000_000, 2 * DAY_LONG + 60)}
    paths = {name: write_usage(size, folder) for name, size in sizes.items()}
    worlds = {name: world_of(size) for name, size in sizes.items()}
    clock = Clock()
    for _ in range(ROUNDS + 1):
        for name in sizes:
            plan = clock.time(name, lambda name=name: whole_plan(worlds[name], paths[name]))  # type: ignore[misc]  # bound at once
            check(plan)
            plan.trace.setting.backend.forget()
    one, two = clock.warm("one day"), clock.warm("two days")
    return {
        "one_day_seconds": round(one, 2),
        "two_days_seconds": round(two, 2),
        "change_percent": round(100 * (two / one - 1), 1),
    }


def charges_to_iceberg(folder: Path) -> Figures:
    """Charges of single workloads: computed, then written to the books with the postings they stand behind; apart from the plan."""
    size = Size(2_000_000, HOUR_LONG)
    plan = whole_plan(world_of(size), write_usage(size, folder))
    clock = Clock()
    batches = clock.time("compute", lambda: list(charges_of(plan)))
    charged = total_of(amount for batch in batches for amount in batch["amount"].to_pylist())
    posted = total_of(row["amount"] for row in plan.postings.to_pylist() if row["reason"] == "usage")
    if charged != posted:
        raise SystemExit(f"charges of {plain(charged)} against postings of {plain(posted)}")
    for name, charges in (("post", None), ("post with charges", batches)):
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            clock.time(name, lambda scratch=scratch, charges=charges: post(plan, charges, Path(scratch)))  # type: ignore[misc]
    return {
        "usage_rows": size.rows,
        "charges": sum(len(batch) for batch in batches),
        "compute_seconds": round(clock.cold("compute"), 2),
        "write_seconds": round(clock.cold("post with charges") - clock.cold("post"), 2),
    }


def post(plan: Plan, charges: list[pa.RecordBatch] | None, folder: Path) -> None:
    books = open_books(f"sqlite:///{folder}/books.db", str(folder / "warehouse"), create=True)
    policy = plan.trace.setting.policy
    books.save_policy(policy.version, policy.text, policy.file, policy.name, policy.effective)
    run = Run(
        run_id="bench", period=str(plan.period), plan_digest=plan.digest, policy_version=plan.policy_version, inputs={},
        postings=plan.postings, bill_days=plan.bill_days, expected_head=books.head(), charges=charges, engine="duckdb",
    )  # fmt: skip
    books.post(run)


def ingest_1m(folder: Path) -> Figures:
    """One million usage rows into the books, against pyarrow reading and rewriting the file; interleaved, each into fresh books."""
    size = Size(1_000_000, HOUR_LONG)
    path = write_usage(size, folder)
    clock = Clock()
    for _ in range(ROUNDS + 1):
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            copy = Path(scratch) / "copy.parquet"
            clock.time("rewrite", lambda copy=copy: pq.write_table(pq.read_table(path), copy))  # type: ignore[misc]
            books = open_books(f"sqlite:///{scratch}/books.db", f"{scratch}/warehouse", create=True)
            rows = pq.read_table(path, columns=USAGE.names).cast(USAGE)
            delivery = Delivery("bench", Interval(START_S, START_S + HOURS * 3600), {"usage": rows})
            receipt = clock.time("ingest", lambda books=books, delivery=delivery: books.ingest(delivery))  # type: ignore[misc]
            if receipt.rows["usage"] != size.rows:
                raise SystemExit(f"{receipt.rows['usage']} rows of {size.rows} arrived")
    return {
        "rewrite_seconds": round(clock.warm("rewrite"), 2),
        **ratios(clock, "ingest", "rewrite"),
        "peak_gb": round(peak_gb(), 2),
    }


def help_text(_: Path) -> Figures:
    """`apportion --help`, best of five."""
    clock = Clock()
    command = [str(Path(sys.executable).with_name("apportion")), "--help"]
    for _round in range(ROUNDS):
        clock.time("help", lambda: subprocess.run(command, check=True, capture_output=True))
    return {"seconds_best": round(min(clock.seconds["help"]), 2), "seconds_cold": round(clock.cold("help"), 2)}


PARTS: dict[str, Callable[[Path], Figures]] = {
    "plan_20m": plan_20m,
    "plan_100m": plan_100m,
    "four_pools": four_pools,
    "plan_1m_by_resource": plan_1m_by_resource,
    "against_explosion": against_explosion,
    "job_length": job_length,
    "charges": charges_to_iceberg,
    "ingest_1m": ingest_1m,
    "cur_1m": cur_1m,
    "cur_5m": cur_5m,
    "help": help_text,
    "peaks": peaks,
    "surf_lisa": surf_lisa,
    "slurm_1m": slurm_1m,
    "spark": spark,
    "prometheus_day": prometheus_day,
    "statements_500": statements_500,
    "pages": pages,
    "whatif": whatif,
    "whatif_12m": whatif_12m,
}

# (part, path to the figure, bound, how): what the project promises.
TARGETS: tuple[tuple[str, tuple[str, ...], float, str], ...] = (
    ("plan_20m", ("price + charge", "ratio_warm"), 20, "at most"),
    ("plan_20m", ("whole plan", "ratio_warm"), 35, "at most"),
    ("plan_20m", ("peak_gb",), 4, "at most"),
    ("plan_100m", ("price + charge", "ratio_warm"), 20, "at most"),
    ("plan_100m", ("whole plan", "ratio_warm"), 35, "at most"),
    ("plan_100m", ("peak_gb",), 8, "at most"),
    ("four_pools", ("ratio_warm",), 2.5, "at most"),
    ("against_explosion", ("times_faster",), 30, "at least"),
    ("job_length", ("change_percent",), 20, "at most"),
    ("ingest_1m", ("ratio_warm",), 5, "at most"),
    ("cur_5m", ("ratio",), 5, "at most"),
    ("cur_5m", ("memory_for_five_times_the_lines",), 1.3, "at most"),
    ("help", ("seconds_best",), 0.5, "at most"),
    ("peaks", ("temporal_shapley_1000_teams_seconds",), 2, "at most"),
    ("peaks", ("peak_shapley_200_teams_seconds",), 10, "at most"),
    ("surf_lisa", ("plan_seconds_first",), 10, "at most"),
    ("slurm_1m", ("seconds",), 30, "at most"),
    ("prometheus_day", ("import_seconds",), 300, "at most"),
    ("prometheus_day", ("six_metrics_seconds",), 300, "at most"),
    ("prometheus_day", ("six_metrics_peak_gb",), 1, "at most"),
    ("statements_500", ("seconds",), 120, "at most"),
    ("statements_500", ("worker_seconds_each",), 0.24, "at most"),
    ("pages", ("overview", "p95_ms"), 150, "at most"),
    ("pages", ("team", "p95_ms"), 150, "at most"),
    ("pages", ("first_paint_ms", "overview"), 1000, "at most"),
    ("pages", ("first_paint_ms", "team"), 1000, "at most"),
    ("pages", ("weight_kb", "overview"), 100, "at most"),
    ("pages", ("weight_kb", "team"), 100, "at most"),
    ("pages", ("weight_kb", "with_charts"), 1200, "at most"),
    ("whatif", ("one_policy_seconds",), 30, "at most"),
    ("whatif", ("variants_seconds",), 300, "at most"),
)
