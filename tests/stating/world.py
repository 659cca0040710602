"""A small organisation over three months, with numbers that can be checked by hand."""

from pathlib import Path

import apportion
from apportion.verbs.project import Project
from tests.sources import making

SETTINGS = """\
[[sources]]
name = "cloud"
kind = "focus"
path = "bills/*.csv"

[[sources]]
name = "jobs"
kind = "usage"
path = "logs/*.csv"
columns = { workload = "job", resource = "node", start = "start", end = "end", outcome = "state", name = "name" }
meters = { gpu = "gpus" }
used_meters = { gpu = "used" }
used_units = { gpu = "percent of allocated" }
labels = { account = "account", project = "project", user = "user" }
"""
POLICY = """\
policy: small
effective: 2026-01-01
currency: USD
time_zone: UTC
statements: {number: "AP-{year}-{number}", issuer: "Platform Engineering"}
teams:
  vision:   {cost_centre: "100", department: research, mode: chargeback}
  speech:   {cost_centre: "100", department: research}
  platform: {cost_centre: "900", department: central, mode: chargeback}
carried_by: {_unallocated: platform, showback: platform}
owners:
  - {when: {account: "*"}, team: "{account}", project: "{project}", user: "{user}"}
  - {when: {tag.team: "*"}, team: "{tag.team}"}
facets:
  - {when: {name: "train-*"}, phase: training}
pools:
  # The cards that everybody shares.
  gpus: {costs: {ServiceName: Cards}, meter: gpu, method: proportional}
  rest: {costs: otherwise, method: direct}
quotas:
  - {team: vision, money: 200, per: quarter}
"""
NEXT = {"2026-09": "2026-10", "2026-10": "2026-11", "2026-11": "2026-12", "2026-12": "2027-01"}
# month -> what the cards cost; team -> GPUs over ten hours of the 5th
CARDS = {"2026-09": "100", "2026-10": "180", "2026-11": "180"}
WORK = {
    "2026-09": {"vision": 6, "speech": 4},
    "2026-10": {"vision": 12, "speech": 3},
    "2026-11": {"vision": 12, "speech": 3},
}


def line(month: str, cost: str, **columns: str) -> dict[str, str]:
    return {
        "BillingPeriodStart": f"{month}-01T00:00:00Z", "BillingPeriodEnd": f"{NEXT[month]}-01T00:00:00Z",
        "ChargePeriodStart": f"{month}-05T00:00:00Z", "ChargePeriodEnd": f"{month}-06T00:00:00Z",
        "EffectiveCost": cost, "BilledCost": cost, **columns,
    }  # fmt: skip


def write_bill(folder: Path, month: str, cards: str) -> None:
    rows = [
        line(month, cards, ServiceName="Cards", Tags="{}"),
        line(month, "30.006", ServiceName="Databases", Tags='{"team":"speech"}'),
        line(month, "9.991", ServiceName="Unknown", Tags="{}"),
    ]
    making.put(folder / "bills" / f"{month}.csv", making.bill_text(*rows))


def write_work(folder: Path, month: str) -> None:
    rows = [
        {
            "job": f"{month}-{team}-{n}", "node": "node-1", "start": f"{month}-05T00:00:00Z", "end": f"{month}-05T10:00:00Z",
            "gpus": str(gpus), "used": "75", "state": "COMPLETED", "account": team, "project": f"p{n}", "user": f"u{n}", "name": name,
        }
        for team, cards in WORK[month].items()
        for n, (gpus, name) in enumerate(((cards - 1, "train-x"), (1, "notebook")), 1)
    ]  # fmt: skip
    making.put(folder / "logs" / f"{month}.csv", making.csv_text(rows))


def new_project(folder: Path) -> Project:
    making.put(folder / "apportion.toml", SETTINGS)
    making.put(folder / "policy.yaml", POLICY)
    for month, cards in CARDS.items():
        write_bill(folder, month, cards)
        write_work(folder, month)
    return apportion.open_project(folder)


def post(project: Project, month: str) -> None:
    apportion.ingest(project)
    apportion.plan(project, month)
    apportion.apply(project, month)
