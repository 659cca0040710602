"""Pages of a large organisation: a million charges and a hundred thousand postings in a month, served by two processes to twenty people at once."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import duckdb
import httpx

import apportion
from apportion.books.doors import Person
from apportion.verbs.adjust import Wish
from apportion.verbs.project import Project

JOBS, EARLIER = 1_000_000, 100_000  # of October, and of September before it
NODES, TEAMS, USERS = 250, 100, 33
PEOPLE, ROUNDS = 20, 40
QUIET_S = 0.1  # of a second
MONTHS = {"2026-09": ("2026-10-01", 30, EARLIER), "2026-10": ("2026-11-01", 31, JOBS)}
CHROMIUM = Path("/usr/bin/chromium")
SETTINGS = """\
[project]
name = "bench"

[web]
requests_per_minute = 1000000

[[sources]]
name = "cloud"
kind = "focus"
path = "bills/*.csv"

[[sources]]
name = "slurm"
kind = "usage"
path = "usage/jobs-*.csv"
columns = { workload = "job", resource = "node", start = "start", end = "end", outcome = "state" }
meters = { gpu = "gpus" }
labels = { team = "team", project = "project", user = "user" }

[[sources]]
name = "nodes"
kind = "usage"
records = "capacity"
path = "usage/nodes-*.csv"
columns = { resource = "node", meter = "meter", start = "start", end = "end", amount = "amount", state = "state" }
"""
POLICY = """\
policy: bench
effective: 2026-01-01
currency: USD
time_zone: UTC
owners:
  - {when: {team: "*"}, team: "{team}", project: "{project}", user: "{user}"}
pools:
  gpus: {costs: {ServiceCategory: Compute}, usage: {node: "node-*"}, meter: gpu, method: capacity_rate, slot: hour}
"""


def pages(folder: Path) -> dict[str, Any]:
    """Overview and Team for 20 people at once, warm and after a new posting; what a page weighs, and when it is first painted."""
    project = apportion.open_project(build(folder / "pages"))
    with served(project) as (address, server):
        people = crowd(project)
        first = ask(address, people, 1)  # while the server still reads the month
        settle(server)
        busy = of_server(server).cpu_s
        steady = ask(address, people, ROUNDS)
        each_ms = round(1000 * (of_server(server).cpu_s - busy) / (2 * PEOPLE * ROUNDS), 1)
        apportion.adjust(project, "2026-10", credit())
        after = ask(address, people, 1)
        settle(server)
        return {
            **counted(project),
            **steady,
            "server_cpu_ms_each": each_ms,
            "just_after_the_start": first,
            "just_after_a_posting": after,
            "weight_kb": weights(address, people[0]),
            "first_paint_ms": painted(address, people[0]),
            "server_gb": of_server(server).memory_gb,
        }


def counted(project: Project) -> dict[str, int]:
    return {
        "charges": len(project.books.scan("charges", columns=["period"])),
        "postings": sum(len(project.books.posted(month)) for month in MONTHS),
    }


def credit() -> Wish:
    return Wish(owner="team-001", sponsor="team-002", amount="1.00", why="measured", reference=str(os.getpid()))


def settle(server: int) -> None:
    """Until it has nothing more to do by itself."""
    before = -1.0
    while (now := of_server(server).cpu_s) - before > QUIET_S:
        before = now
        time.sleep(1)


class Spent(NamedTuple):
    cpu_s: float
    memory_gb: float


def of_server(server: int) -> Spent:
    """Of the server and its processes, so far."""
    ticks, pages, own = 0, 0, {server}
    for stat in sorted(Path("/proc").glob("[0-9]*/stat"), key=lambda path: int(path.parent.name)):
        fields = told_by(stat)
        if not fields:
            continue
        if int(stat.parent.name) in own or int(fields[1]) in own:
            own.add(int(stat.parent.name))
            ticks += int(fields[11]) + int(fields[12])
            pages += int(fields[21])
    return Spent(ticks / os.sysconf("SC_CLK_TCK"), round(pages * os.sysconf("SC_PAGE_SIZE") / 1e9, 2))


def told_by(stat: Path) -> list[str]:
    """Nothing where the process has ended meanwhile."""
    with suppress(OSError):
        return stat.read_text().rpartition(")")[2].split()
    return []


def crowd(project: Project) -> list[dict[str, Any]]:
    """Most see one team, some all of them."""
    people = []
    for n in range(PEOPLE):
        team = f"team-{n:03d}"
        person = (
            Person(f"p{n}", "finance", None, "link")
            if n % 5 == 0
            else Person(f"p{n}", "lead", frozenset({team}), "link")
        )
        key = project.books.doors.open_session(person, 3600)
        people.append({"key": key, "paths": ["/?period=2026-10", f"/teams/{team}?period=2026-10"]})
    return people


def ask(address: str, people: list[dict[str, Any]], rounds: int) -> dict[str, Any]:
    asked = json.dumps({"address": address, "people": people, "rounds": rounds})
    done = subprocess.run(
        [sys.executable, "-m", "bench.users"], input=asked, check=True, stdout=subprocess.PIPE, text=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@contextmanager
def served(project: Project, processes: int = 2) -> Iterator[tuple[str, int]]:
    command = [
        sys.executable,
        "-c",
        "from apportion.cli.main import main; main()",
        "--project",
        str(project.folder),
        "serve",
    ]
    server = subprocess.Popen(
        [*command, "--port", "0", "--processes", str(processes)], stderr=subprocess.PIPE, text=True
    )
    try:
        told = re.search(r"http://[\d.:]+", (server.stderr.readline() if server.stderr else ""))
        if not told:
            raise SystemExit("the server did not say where it is")
        yield told[0], server.pid
    finally:
        server.terminate()
        server.wait()


def weights(address: str, person: dict[str, Any]) -> dict[str, float]:
    """Over the wire, packed as a browser asks for it."""
    with httpx.Client(base_url=address, cookies={"apportion": person["key"]}, timeout=60) as client:
        sizes = {name: packed(client, path) for name, path in zip(("overview", "team"), person["paths"], strict=True)}
        files = {
            name: packed(client, f"/static/{name}")
            for name in ("apportion.css", "apportion.early.js", "apportion.js", "vega.js")
        }
    own = sum(size for name, size in files.items() if name != "vega.js")
    return {
        **{name: round(size + own, 1) for name, size in sizes.items()},
        "with_charts": round(max(sizes.values()) + own + files["vega.js"], 1),
    }


def packed(client: httpx.Client, path: str) -> float:
    with client.stream("GET", path, headers={"Accept-Encoding": "gzip"}) as answer:
        return round(sum(map(len, answer.iter_raw())) / 1000, 1)


def painted(address: str, person: dict[str, Any]) -> dict[str, float]:
    """First paint of both pages in a fresh browser; nothing where there is none."""
    if not CHROMIUM.exists():
        return {}
    from playwright.sync_api import sync_playwright  # noqa: PLC0415  # only where there is a browser

    script = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
    found = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        for name, path in zip(("overview", "team"), person["paths"], strict=True):
            context = browser.new_context()
            context.add_cookies([{"name": "apportion", "value": person["key"], "url": address}])
            page = context.new_page()
            page.goto(address + path)
            page.wait_for_selector("[data-chart][data-drawn]")
            found[name] = round(page.evaluate(script))
            context.close()
        browser.close()
    return found


def build(folder: Path) -> Path:
    """Once: what is written stays in the folder for the next time."""
    done = folder / "done"
    if done.exists():
        return folder
    shutil.rmtree(folder, ignore_errors=True)
    for name in ("bills", "usage"):
        (folder / name).mkdir(parents=True)
    (folder / "apportion.toml").write_text(SETTINGS, "utf-8")
    (folder / "policy.yaml").write_text(POLICY, "utf-8")
    for month, (end, days, jobs) in MONTHS.items():
        write_month(folder, month, end, days, jobs)
    project = apportion.open_project(folder)
    apportion.ingest(project)
    for month in MONTHS:
        apportion.plan(project, month)
        apportion.apply(project, month)
    project.books.close()
    done.touch()
    return folder


def write_month(folder: Path, month: str, end: str, days: int, jobs: int) -> None:
    """Jobs of ten minutes to six hours, each of one of 3,300 people; the bill is by node and day."""
    start = f"timestamp '{month}-01'"
    node = "'node-' || lpad(({0} % {1})::varchar, 3, '0')"
    duckdb.sql(f"""copy (
        select '{month[-2:]}' || i as job,
               {node.format("hash(i)", NODES)} as node, 'team-' || lpad((person // {USERS})::varchar, 3, '0') as team,
               'project-' || (person % 5) as project, 'user-' || lpad(person::varchar, 4, '0') as "user",
               1 as gpus, 'COMPLETED' as state,
               strftime(begun, '%Y-%m-%dT%H:%M:%SZ') as start,
               strftime(least(begun + to_seconds(600 + (hash(i * 3) % 21000)::bigint), timestamp '{end}'), '%Y-%m-%dT%H:%M:%SZ') as "end"
        from (select i, (hash(i * 5) % {TEAMS * USERS})::bigint as person,
                     {start} + to_seconds((hash(i * 7) % {days * 86400 - 600})::bigint) as begun from range({jobs}) jobs(i))
        ) to '{folder}/usage/jobs-{month}.csv' (header)""")
    duckdb.sql(f"""copy (
        select {node.format("i", NODES)} as node, 'gpu' as meter, '{month}-01T00:00:00Z' as start, '{end}T00:00:00Z' as "end", 64 as amount, 'up' as state
        from range({NODES}) nodes(i)) to '{folder}/usage/nodes-{month}.csv' (header)""")
    duckdb.sql(f"""copy (
        select '{month}-01T00:00:00Z' as BillingPeriodStart, '{end}T00:00:00Z' as BillingPeriodEnd, 'Bench' as InvoiceIssuerName, 'USD' as BillingCurrency,
               strftime({start} + to_days(day::int), '%Y-%m-%dT%H:%M:%SZ') as ChargePeriodStart,
               strftime({start} + to_days(day::int + 1), '%Y-%m-%dT%H:%M:%SZ') as ChargePeriodEnd,
               '1536.97' as EffectiveCost, '1536.97' as BilledCost, 'Compute' as ServiceCategory, 'Nodes' as ServiceName,
               'Usage' as ChargeCategory, 'account' as BillingAccountId,
               {node.format("i", NODES)} as ResourceId, '{{}}' as Tags
        from range({NODES}) nodes(i), range({days}) days(day)) to '{folder}/bills/{month}.csv' (header)""")
