"""Months with planted waste, and the runs in them as the rules see them. What is planted is known here alone."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib.resources import files
from pathlib import Path
from zoneinfo import ZoneInfo

from apportion.engine.plan import World
from apportion.model.rows import empty
from apportion.model.times import Interval, parse_period
from apportion.policy.load import load_policy
from apportion.reports.advice.kinds import KINDS
from apportion.reports.advice.work import Saving, Work
from apportion.sources.demo import Demo, make_demo
from apportion.sources.demo.tables import capacity_table, usage_table, workload_table
from apportion.verbs.advising.charged import Charged, counting
from apportion.verbs.advising.works import works_of

SCALE = "0.02"
PERIOD = parse_period("2026-10")
ZONE = ZoneInfo("America/Los_Angeles")
POLICY = files("apportion.sources.demo") / "policy.yaml"
SETTINGS = """\
[project]
name = "planted"
policy = "policy.yaml"

[[sources]]
name = "demo"
kind = "demo"
seed = {seed}
scale = "{scale}"
waste = true
"""


def write_planted(folder: Path, seed: int) -> Path:
    folder.mkdir(parents=True)
    (folder / "policy.yaml").write_text(POLICY.read_text("utf-8"), "utf-8")
    (folder / "apportion.toml").write_text(SETTINGS.format(seed=seed, scale=SCALE), "utf-8")
    return folder


@cache
def demo_of(seed: int) -> Demo:
    return make_demo(seed=seed, scale=SCALE, waste=True)


def planted_in(seed: int) -> Mapping[str, str]:
    planted = demo_of(seed).month.planted
    assert planted is not None
    return planted.kinds


PRICES = {"h100": 7, "a100": 1, "l40s": 5, "cpu": 1, "fs": 1}  # of an hour of a board, or of what the pool counts


TARIFF = tuple(Fraction(3, 5) if hour < 7 or hour >= 20 else Fraction(1) for hour in range(24))


def works_in(seed: int) -> list[Work]:
    """Every run that held a GPU or 8 cores for an hour, at a few dollars an hour."""
    demo = demo_of(seed)
    usage = usage_table(demo.month, demo.flows, "demo")
    policy = load_policy(POLICY.read_text("utf-8"))
    world = World(
        PERIOD,
        policy,
        empty("cost_lines"),
        usage,
        capacity_table(demo.month, "demo"),
        empty("reservations"),
        workload_table(demo.month, demo.flows, "demo"),
    )
    pools = counting(policy)
    pools["fs"] = pools["storage"]
    owners = owners_in(demo)
    paid: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for row in usage.to_pylist():
        pool = row["resource"].partition("-")[0]
        if pool in PRICES and row["meter"] in pools[pool].meters:
            within = Interval(row["start_s"], row["end_s"]).clip(PERIOD.interval(ZONE)).seconds
            weight = pools[pool].meters[row["meter"]]
            paid[row["workload"], pool] += PRICES[pool] * weight * Fraction(row["allocated"] * within, 3600)
    charged = {}
    for (name, pool), amount in paid.items():
        if amount >= PRICES[pool]:
            money = {"USD": Decimal(amount.numerator) / Decimal(amount.denominator)}
            charged[name, pools[pool].sort] = Charged(
                owners.get(name, ("team", name, "")), money, pools[pool].meters, pool
            )
    return works_of(world, charged, {"h100": TARIFF})


def owners_in(demo: Demo) -> Mapping[str, tuple[str, str, str]]:
    users = ("slurm.user", "k8s.label.user")
    return {
        one.workload: ("team", one.name, next((one.labels[key] for key in users if key in one.labels), ""))
        for one in demo.month.works
    }


Score = tuple[int, int, int]  # found, planted, both


def scores(found: Sequence[Saving], planted: Mapping[str, str]) -> dict[str, Score]:
    """By kind, and all of them together."""
    ours = {(one.work.workload, one.kind) for one in found}
    truth = set(planted.items())
    by_kind = {
        kind: tuple(sum(one[1] == kind for one in some) for some in (ours, truth, ours & truth)) for kind in KINDS
    }
    return {kind: (a, b, c) for kind, (a, b, c) in by_kind.items()} | {
        "overall": (len(ours), len(truth), len(ours & truth))
    }
