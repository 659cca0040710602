"""A project whose months are worked out by hand: two teams on one node of 8 GPUs, one bill a month, and what comes late."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path

import apportion
from apportion.verbs.apply import Applied
from apportion.verbs.project import Project
from tests.sources import making

BILLS = '[[sources]]\nname = "cloud"\nkind = "focus"\npath = "bills/*.csv"\n'
WORK = """
[[sources]]
name = "jobs"
kind = "usage"
path = "jobs.csv"
time_zone = "UTC"
columns = { workload = "job", resource = "node", start = "start", end = "end" }
meters = { gpu = "gpus" }
labels = { team = "team", user = "user" }

[[sources]]
name = "nodes"
kind = "usage"
records = "capacity"
path = "nodes.csv"
time_zone = "UTC"
columns = { resource = "node", meter = "meter", start = "start", end = "end", amount = "amount" }
"""
POLICY = """\
policy: small
effective: 2026-01-01
currency: USD
time_zone: UTC
teams: {vision: {department: research, cost_centre: "1"}, speech: {department: research, cost_centre: "2"}}
owners:
  - {when: {team: "*"}, team: "{team}", user: "{user}"}
  - {when: {tag.team: "*"}, team: "{tag.team}"}
pools:
"""
DIRECT = "  all: {costs: otherwise, method: direct}\n"
MONTHS = ["2026-07", "2026-08", "2026-09", "2026-10", "2026-11", "2026-12", "2027-01"]
NODES = "node,meter,start,end,amount\nn1,gpu,2026-07-01T00:00:00Z,2027-01-01T00:00:00Z,8\n"


def write(folder: Path, pools: str = DIRECT, jobs: Iterable[str] = (), head: str = POLICY) -> Path:
    """`jobs` are `job,team,start,end,gpus`; times in UTC, to the hour."""
    rows = [job.split(",") for job in jobs]
    lines = [f"{job},n1,{team},{team}-user,{start}:00:00Z,{end}:00:00Z,{gpus}" for job, team, start, end, gpus in rows]
    making.put(folder / "apportion.toml", BILLS + (WORK if rows else ""))
    making.put(folder / "policy.yaml", head + pools)
    making.put(folder / "jobs.csv", "\n".join(["job,node,team,user,start,end,gpus", *lines, ""]))
    making.put(folder / "nodes.csv", NODES)
    return folder


def line(month: str, amount: str, charge: str = "", **columns: str) -> dict[str, str]:
    """A cost line of a month's bill; `charge` is its charge period `2026-09-05/2026-09-06`, the whole month unless given."""
    after = MONTHS[MONTHS.index(month) + 1]
    start, _, end = (charge or f"{month}-01/{after}-01").partition("/")
    return {
        "BillingPeriodStart": f"{month}-01T00:00:00Z", "BillingPeriodEnd": f"{after}-01T00:00:00Z",
        "ChargePeriodStart": f"{start}T00:00:00Z", "ChargePeriodEnd": f"{end}T00:00:00Z",
        "EffectiveCost": amount, "BilledCost": amount, "ResourceId": "n1", "Tags": "{}", **columns,
    }  # fmt: skip


def tagged(team: str) -> str:
    return f'{{"team":"{team}"}}'


def bill(folder: Path, month: str, *lines: Mapping[str, str], vendor: str = "") -> None:
    making.put(folder / "bills" / f"{month}{vendor}.csv", making.bill_text(*lines))


def owes(folder: Path, month: str, amounts: Mapping[str, str], vendor: str = "") -> None:
    """A bill whose lines carry their team."""
    named = {"InvoiceIssuerName": vendor} if vendor else {}
    some = [
        line(month, amount, f"{month}-05/{month}-06", Tags=tagged(team), **named) for team, amount in amounts.items()
    ]
    bill(folder, month, *some, vendor=vendor)


def post(project: Project, month: str) -> Applied:
    apportion.ingest(project)
    return put(project, month)


def put(project: Project, month: str) -> Applied:
    """Plan and apply what is read already; the plan is not computed twice."""
    return apportion.apply(project, month, made=apportion.plan(project, month).plan)


def closed(project: Project, *months: str) -> None:
    for month in months:
        done = apportion.close(project, month, override="for the test")
        assert done.closed is not None


def owed(project: Project, month: str, *keys: str) -> dict[tuple[str, ...], Decimal]:
    """By columns of the postings, added up here and not by the reports."""
    sums: dict[tuple[str, ...], Decimal] = {}
    for row in project.books.posted(month).to_pylist():
        key = tuple(str(row[name]) for name in keys)
        sums[key] = sums.get(key, Decimal(0)) + row["amount"]
    return {key: amount for key, amount in sums.items() if amount}
