"""Three months of three teams on four pools, August to October 2026, as steady as work is: weekends are quieter, days differ by some percent.

In October five things change, each of another kind:

    spend       vision runs half as much again on h100 from the 12th on
    price       an hour of l40s costs a quarter more from the 10th on
    idle        speech leaves a third of a100 from the 8th on, and so spends less
    failures    half of zebra's attempts fail from the 15th on, one in twenty before
    unit cost   zebra works fewer hours on dearer GPUs from the 5th on, for about the same money
"""

import random
import shutil
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import apportion
from apportion.verbs.project import Project
from tests.cli.tiny import HEAD

FIRST, LAST = date(2026, 8, 1), date(2026, 10, 31)
MONTHS = ("2026-08", "2026-09", "2026-10")
TODAY = date(2026, 11, 2)
GPUS = {"h100": 16, "a100": 16, "t4": 4, "l40s": 4}  # of a job
CAPACITY = {"h100": 64, "a100": 32, "t4": 64}
DAILY = {"h100": Decimal("1536.00"), "a100": Decimal("384.00"), "t4": Decimal("192.00"), "l40s": Decimal("96.00")}
SPEND, PRICE, IDLE, FAILURES, UNIT_COST = (date(2026, 10, day) for day in (12, 10, 8, 15, 5))
SETTINGS = """\
[project]
name = "restless"

[web]
requests_per_minute = 1000000  # tests ask faster than people

[[sources]]
name = "acme"
kind = "focus"
path = "acme.csv"

[[sources]]
name = "jobs"
kind = "usage"
path = "jobs.csv"
time_zone = "UTC"
columns = { workload = "job", run = "run", resource = "node", start = "start", end = "end", outcome = "state" }
meters = { gpu = "gpus" }
labels = { team = "team", project = "project", user = "user" }

[[sources]]
name = "nodes"
kind = "usage"
records = "capacity"
path = "nodes.csv"
time_zone = "UTC"
columns = { resource = "node", meter = "meter", start = "start", end = "end", amount = "amount" }
"""
POLICY = """\
policy: restless
effective: 2026-08-01
currency: USD
time_zone: UTC
teams: {vision: {}, speech: {}, zebra: {}, platform: {}}
carried_by: {_idle: platform, _unallocated: platform, _residual: platform}
owners:
  - {when: {team: "*"}, team: "{team}", project: "{project}", user: "{user}"}
pools:
  h100: {costs: {ServiceName: h100}, usage: {resource: h100}, meter: gpu, method: capacity_rate, idle: central}
  a100: {costs: {ServiceName: a100}, usage: {resource: a100}, meter: gpu, method: capacity_rate, idle: central}
  t4: {costs: {ServiceName: t4}, usage: {resource: t4}, meter: gpu, method: capacity_rate, idle: central}
  l40s: {costs: {ServiceName: l40s}, usage: {resource: l40s}, meter: gpu, method: proportional}
"""


def days() -> Iterator[date]:
    yield from (FIRST + timedelta(days=n) for n in range((LAST - FIRST).days + 1))


def held(team: str, pool: str, day: date) -> float:
    """GPU-hours a day, before chance."""
    if team == "zebra":
        return {"h100": 40.0 if day >= UNIT_COST else 0.0, "t4": 0.0 if day >= UNIT_COST else 320.0}.get(pool, 0.0)
    usual = {("vision", "h100"): 240.0, ("speech", "a100"): 600.0, ("vision", "l40s"): 60.0, ("speech", "l40s"): 60.0}
    grown = {("vision", "h100"): (SPEND, 1.5), ("speech", "a100"): (IDLE, 0.6)}
    since, factor = grown.get((team, pool), (LAST, 1.0))
    return usual.get((team, pool), 0.0) * (factor if day >= since else 1.0)


def jobs() -> Iterator[str]:
    """Two of vision and speech in each pool, twelve small ones of zebra."""
    chance = random.Random(8)
    yield "job,run,team,project,user,node,gpus,start,end,state"
    for day in days():
        quiet = 0.8 if day.weekday() > 4 else 1.0
        for team, pool in (
            ("vision", "h100"),
            ("vision", "l40s"),
            ("speech", "a100"),
            ("speech", "l40s"),
            ("zebra", "h100"),
            ("zebra", "t4"),
        ):
            whole = held(team, pool, day) * quiet * chance.gauss(1, 0.04)
            count = 12 if team == "zebra" else 2
            for n in range(count if whole > 0 else 0):
                gpus = 1 if (team, pool) == ("zebra", "h100") else GPUS[pool]
                seconds = min(86_399, int(whole * 3600 / count / gpus))
                fails = team == "zebra" and chance.random() < (0.5 if day >= FAILURES else 0.05)
                name = f"{team[0]}{pool}-{day:%m%d}-{n}"
                end = f"{day}T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"
                project = "halcyon" if team == "zebra" else f"{team}-{n % 2}"
                yield f"{name},{name},{team},{project},{team}-user,{pool},{gpus},{day}T00:00:00Z,{end},{'FAILED' if fails else 'COMPLETED'}"


def bill(*months: str) -> Iterator[str]:
    yield HEAD
    for day in (day for day in days() if f"{day:%Y-%m}" in months):
        first = day.replace(day=1)
        after = (first + timedelta(days=32)).replace(day=1)
        times = f"{first}T00:00:00Z,{after}T00:00:00Z,{day}T00:00:00Z,{day + timedelta(days=1)}T00:00:00Z"
        for pool, usual in DAILY.items():
            cost = usual * Decimal("1.25") if pool == "l40s" and day >= PRICE else usual
            yield f"Acme,1,{times},Usage,{','.join([str(cost)] * 4)},USD,{pool},Compute,{pool},{pool} Usage,"


def nodes() -> Iterator[str]:
    yield "node,meter,start,end,amount"
    end = LAST + timedelta(days=1)
    for pool, amount in CAPACITY.items():
        yield f"{pool},gpu,{FIRST}T00:00:00Z,{end}T00:00:00Z,{amount}"


def make(folder: Path) -> tuple[Project, Project]:
    """As it was while October ran and had no bill, and with October posted."""
    before = folder / "before"
    before.mkdir(parents=True)
    texts = {"acme.csv": bill(*MONTHS[:-1]), "jobs.csv": jobs(), "nodes.csv": nodes()}
    for name, lines in texts.items():
        (before / name).write_text("\n".join([*lines, ""]), "utf-8")
    (before / "apportion.toml").write_text(SETTINGS, "utf-8")
    (before / "policy.yaml").write_text(POLICY, "utf-8")
    project = apportion.open_project(before)
    assert [one.problems for one in apportion.ingest(project)] == [(), (), ()]
    post(project, *MONTHS[:-1])
    shutil.copytree(before, folder / "after")
    (folder / "after" / "acme.csv").write_text("\n".join([*bill(*MONTHS), ""]), "utf-8")
    after = apportion.open_project(folder / "after")
    apportion.ingest(after)
    post(after, MONTHS[-1])
    return project, after


def post(project: Project, *months: str) -> None:
    for month in months:
        apportion.plan(project, month)
        apportion.apply(project, month)


def copied(project: Project, folder: Path) -> Project:
    """Books of one's own, to write in."""
    shutil.copytree(project.folder, folder)
    return apportion.open_project(folder)
