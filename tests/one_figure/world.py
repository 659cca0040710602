"""Drawn organisations whose amounts have many digits: two currencies, a closed month that was corrected, a credit, idle, overhead and rules."""

import random
from collections.abc import Iterator
from pathlib import Path

import apportion
from apportion.verbs.project import Project
from tests.sources import making

MONTH, BEFORE, AFTER = "2026-10", "2026-09", "2026-11"
TEAMS = ("vision", "speech", "search", "platform")
FOLLOWING = {BEFORE: MONTH, MONTH: AFTER}
SETTINGS = """\
[[sources]]
name = "cloud"
kind = "focus"
path = "bills/*.csv"

[[sources]]
name = "jobs"
kind = "usage"
path = "logs/jobs-*.csv"
columns = { workload = "job", resource = "node", start = "start", end = "end" }
meters = { gpu = "gpus" }
labels = { account = "account", project = "project", user = "user" }

[[sources]]
name = "nodes"
kind = "usage"
records = "capacity"
path = "logs/nodes-*.csv"
columns = { resource = "node", meter = "meter", start = "start", end = "end", amount = "amount", state = "state" }
"""
POLICY = """\
policy: drawn
effective: 2026-01-01
currency: USD
time_zone: UTC
teams:
  vision: {cost_centre: "100", department: research, mode: chargeback}
  speech: {cost_centre: "100", department: research, mode: chargeback}
  search: {cost_centre: "200", department: product, mode: chargeback}
  platform: {cost_centre: "900", department: central, mode: chargeback}
carried_by: {_idle: platform, _unallocated: platform, _residual: platform}
owners:
  - {when: {account: [vision, speech, search, platform]}, team: "{account}", project: "{project}", user: "{user}"}
  - {when: {tag.team: "*"}, team: "{tag.team}"}
pools:
  gpus:
    costs: {ServiceName: Cards}
    usage: {node: "n*"}
    meter: gpu
    method: capacity_rate
    idle: {unsold: central, held: holder, down: central}
  support: {costs: {ServiceName: Support}, by: cost, over: all}
  rest: {costs: otherwise, method: direct}
adjustments:
  - {team: speech, pool: gpus, percent: -7, sponsor: platform, why: nights}
"""


def drawn_project(folder: Path, seed: int, *, corrected: bool = True) -> Project:
    """September is closed, October is posted and open; it holds a correction of September and a credit, unless it is to hold its own alone."""
    chance = random.Random(seed)
    making.put(folder / "apportion.toml", SETTINGS)
    making.put(folder / "policy.yaml", POLICY)
    for month in (BEFORE, MONTH):
        making.put(folder / "bills" / f"{month}.csv", making.bill_text(*lines(month, chance)))
        making.put(folder / "logs" / f"jobs-{month}.csv", making.csv_text(list(jobs(month, chance))))
        making.put(folder / "logs" / f"nodes-{month}.csv", making.csv_text(list(nodes(month))))
    project = apportion.open_project(folder)
    post(project, BEFORE)
    assert apportion.close(project, BEFORE, override="drawn").closed
    post(project, MONTH)
    if not corrected:
        return apportion.open_project(folder)
    making.put(folder / "bills" / f"{BEFORE}.csv", making.bill_text(*lines(BEFORE, chance)))
    post(project, BEFORE)
    apportion.adjust(project, MONTH, apportion.CreditWish("vision", "platform", "1.03", "a node was down"))
    return apportion.open_project(folder)


def post(project: Project, month: str) -> None:
    apportion.ingest(project)
    apportion.plan(project, month)
    for finding in apportion.plan(project, month).findings:
        if finding.stops:
            apportion.accept(project, month, finding.finding.code, "drawn")
    apportion.apply(project, month)


def lines(month: str, chance: random.Random) -> Iterator[dict[str, str]]:
    billed = {"BillingPeriodStart": f"{month}-01T00:00:00Z", "BillingPeriodEnd": f"{FOLLOWING[month]}-01T00:00:00Z"}
    for day in (3, 4, 11):
        time = {
            **billed,
            "ChargePeriodStart": f"{month}-{day:02}T00:00:00Z",
            "ChargePeriodEnd": f"{month}-{day + 1:02}T00:00:00Z",
        }
        for node in ("n1", "n2"):
            yield {**time, **priced(chance), "ServiceName": "Cards", "ResourceId": node, "Tags": "{}"}
        yield {**time, **priced(chance), "ServiceName": "Support", "ResourceId": "", "Tags": "{}"}
        for team in ("vision", "search", "nobody"):
            tags = "{}" if team == "nobody" else f'{{"team":"{team}"}}'
            yield {**time, **priced(chance), "ServiceName": "Databases", "ResourceId": f"db-{team}", "Tags": tags}
            yen = {"BillingCurrency": "JPY", "InvoiceIssuerName": "Stratus"}
            yield {**time, **priced(chance), **yen, "ServiceName": "Disks", "ResourceId": f"fs-{team}", "Tags": tags}


def priced(chance: random.Random) -> dict[str, str]:
    cost = f"{chance.randrange(10, 900)}.{chance.randrange(10**9):09}"
    return {"EffectiveCost": cost, "BilledCost": cost}


def jobs(month: str, chance: random.Random) -> Iterator[dict[str, str]]:
    for number in range(14):
        day, hour = chance.choice((3, 4, 11)), chance.randrange(0, 12)
        yield {
            "job": f"{month[-2:]}{number:02}",
            "node": chance.choice(("n1", "n2")),
            "start": f"{month}-{day:02}T{hour:02}:00:00Z",
            "end": f"{month}-{day:02}T{hour + chance.randrange(1, 11):02}:{chance.randrange(60):02}:00Z",
            "gpus": str(chance.randrange(1, 3)),
            "account": chance.choice((*TEAMS, "nobody")),
            "project": f"p{chance.randrange(3)}",
            "user": f"u{chance.randrange(4)}",
        }


def nodes(month: str) -> Iterator[dict[str, str]]:
    for node in ("n1", "n2"):
        yield {
            "node": node,
            "meter": "gpu",
            "start": f"{month}-01T00:00:00Z",
            "end": f"{FOLLOWING[month]}-01T00:00:00Z",
            "amount": "32",
            "state": "up",
        }
