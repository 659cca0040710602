"""From lists, logs and a bill to money: seat-days, token-hours, GPU-hours and fixed parts, worked out by hand."""

from decimal import Decimal
from pathlib import Path

import pytest

from apportion.model.times import parse_period, zone_named
from apportion.verbs.ingest import ingest
from apportion.verbs.plan import plan
from apportion.verbs.project import Project, open_project
from tests.sources.making import bill_text, csv_text, put, read

SETTINGS = """\
[project]
name = "software"
policy = "policy.yaml"

[[sources]]
name = "bill"
kind = "focus"
path = "bill.csv"

[[sources]]
name = "copilot"
kind = "licences"
path = "seats"

[[sources]]
name = "solver"
kind = "licences"
path = "checkouts.csv"
tokens = { solver = 25, mesher = 5 }

[[sources]]
name = "jobs"
kind = "usage"
path = "jobs.csv"
window = "2026-10"
columns = { workload = "job", resource = "node", start = "from", end = "until" }
meters = { gpu = "gpus" }
labels = { team = "team" }
"""
POLICY = """\
policy: software
effective: 2026-10-01
currency: USD
time_zone: UTC
teams: {vision: {}, speech: {}}
owners:
  - {when: {team: "*"}, team: "{team}"}
  - {when: {licence.user: alice}, team: vision}
  - {when: {licence.user: bob}, team: speech}
pools:
  machines: {costs: {ServiceCategory: Compute}, usage: {node: "?100-*"}, meter: gpu, method: proportional}
  copilot: {costs: {ServiceName: Copilot*}, usage: {node: "licence/Copilot"}, meter: licence, SEATS}
  solver: {costs: {ServiceName: Solver*}, usage: {node: [licence/solver, licence/mesher]}, meter: licence, method: proportional}
  enterprise: {costs: {component: licence, ChargeCategory: Purchase}, usage: {node: "h100-*"}, meter: gpu, SOFTWARE}
  campus: {costs: {ServiceName: Campus*}, method: fixed, shares: {vision: 60, speech: 40}}
"""
SEAT_DAYS, GPU_HOURS = "method: proportional", "method: proportional, component: licence"
ALL_SEATS = "method: capacity_rate"
PRICE_LIST = 'method: rate_card, component: licence, prices: [{per: hour, price: "9.50"}]'
MONTH = {"ChargePeriodStart": "2026-10-01T00:00:00Z", "ChargePeriodEnd": "2026-11-01T00:00:00Z", "ResourceId": ""}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    folder = tmp_path_factory.mktemp("software")
    other = {"ServiceCategory": "Other", **MONTH}
    bill = bill_text(
        {"ServiceName": "Virtual Machines", "EffectiveCost": "700", "ServiceSubcategory": "", **MONTH},
        {"ServiceName": "Copilot licence", "EffectiveCost": "620", **other},
        {"ServiceName": "Solver licence", "EffectiveCost": "1000", **other},
        {
            "ServiceName": "AI Enterprise subscription",
            "ServiceSubcategory": "Software",
            "ChargeCategory": "Purchase",
            "EffectiveCost": "3000",
            **other,
        },
        {"ServiceName": "Campus licence", "EffectiveCost": "100", **other},
    )
    put(folder / "bill.csv", bill)
    put(
        folder / "seats/assigned.csv",
        "product,user,team,from,until\n"
        "Copilot,alice,vision,2026-08-01,2026-10-10\n"  # 10 days of October
        "Copilot,bob,speech,2026-10-11,\n"  # the same seat for the other 21
        "Copilot,carol,vision,2026-10-01,2026-12-31\n",  # 31
    )
    put(folder / "seats/orders.csv", "product,seats,from,until\nCopilot,4,2026-01-01,2026-12-31\n")
    put(
        folder / "checkouts.csv",
        "feature,user,out,in,count\n"
        "solver,alice,2026-10-05T08:00:00Z,2026-10-05T10:00:00Z,1\n"  # 2 h at 25
        "solver,alice,2026-10-06T08:00:00Z,2026-10-06T09:00:00Z,3\n"  # 3 h at 25
        "mesher,bob,2026-10-05T20:00:00Z,2026-10-06T11:00:00Z,1\n",  # 15 h at 5
    )
    day = "2026-10-05T"
    jobs = [
        {"job": 1, "node": "h100-1", "from": day + "00:00:00Z", "until": "2026-10-06T06:00:00Z", "gpus": 8, "team": "vision"},
        {"job": 2, "node": "h100-2", "from": day + "00:00:00Z", "until": day + "15:00:00Z", "gpus": 4, "team": "speech"},
        {"job": 3, "node": "a100-1", "from": day + "00:00:00Z", "until": day + "10:00:00Z", "gpus": 5, "team": "speech"},
    ]  # fmt: skip
    put(folder / "jobs.csv", csv_text(jobs))
    put(folder / "apportion.toml", SETTINGS)
    put(folder / "policy.yaml", policy(SEAT_DAYS, GPU_HOURS))
    ingest(open_project(folder))
    return open_project(folder)


def policy(seats: str, software: str) -> str:
    return POLICY.replace("SEATS", seats).replace("SOFTWARE", software)


def shares(project: Project, seats: str = SEAT_DAYS, software: str = GPU_HOURS) -> dict[tuple[str, str], Decimal]:
    put(project.folder / "policy.yaml", policy(seats, software))
    found: dict[tuple[str, str], Decimal] = {}
    for row in plan(open_project(project.folder), "2026-10").plan.postings.to_pylist():
        key = row["pool"], row["team"]
        found[key] = found.get(key, Decimal(0)) + row["amount"]
    assert sum(found.values()) == 700 + 620 + 1000 + 3000 + 100
    return {key: round(amount, 6) for key, amount in found.items() if amount}  # a day's rest is a nano-unit


def test_the_four_ways(project: Project) -> None:
    assert shares(project) == {
        ("machines", "vision"): 480,  # 240 of 350 GPU-hours, 50 of them where the software does not run
        ("machines", "speech"): 220,
        ("copilot", "vision"): 410,  # 10 + 31 of 62 seat-days
        ("copilot", "speech"): 210,  # 21
        ("solver", "vision"): 625,  # 50 + 75 of 200 token-hours
        ("solver", "speech"): 375,
        ("enterprise", "vision"): 2400,  # 240 of 300 GPU-hours of the nodes that run it
        ("enterprise", "speech"): 600,
        ("campus", "vision"): 60,
        ("campus", "speech"): 40,
    }


def test_seats_that_nobody_has_are_idle(project: Project) -> None:
    """4 seats for 31 days cost 620, a seat-day 5; 62 of them are nobody's."""
    found = shares(project, seats=ALL_SEATS)
    of_seats = {owner: amount for (pool, owner), amount in found.items() if pool == "copilot"}
    assert of_seats == {"vision": 205, "speech": 105, "_idle": 310}


def test_software_by_a_price_list(project: Project) -> None:
    """9.50 for a GPU-hour recovers 2850 of 3000."""
    found = shares(project, software=PRICE_LIST)
    of_software = {owner: amount for (pool, owner), amount in found.items() if pool == "enterprise"}
    assert of_software == {"vision": 2280, "speech": 570, "_residual": 150}


def test_what_a_check_out_takes(tmp_path: Path) -> None:
    """Tokens count where a seat is taken, where it comes back, and in what lmstat says of the feature; what was bought is in tokens already."""
    log = ' 0:00:00 (lmgrd) TIMESTAMP 10/1/2026\n 1:00:00 (a) OUT: "F" u@h  (2 licenses)\n 4:00:00 (a) IN: "F" u@h\n'
    put(tmp_path / "l/debug.log", log + " 6:00:00 (lmgrd) TIMESTAMP 10/1/2026\n")
    issued = "Users of F:  (Total of 3 licenses issued;  Total of 1 license in use)\nUsers of G:  (Total of 9 licenses issued;)\n"
    put(tmp_path / "l/lmstat.txt", "Flexible License Manager status on Thu 10/1/2026 2:00\n" + issued)
    put(tmp_path / "l/orders.csv", "feature,seats,from,until\nG,40,2020-01-01,\n")
    october = parse_period("2026-10").interval(zone_named("UTC"))
    (found,) = read("licences", tmp_path, october, path="l", tokens={"F": 25, "G": 5})
    levels = [(row["allocated"], (row["end_s"] - row["start_s"]) // 3600) for row in found.tables["usage"].to_pylist()]
    assert levels == [(50, 3), (25, 2)]
    capacity = sorted((row["resource"], row["amount"]) for row in found.tables["capacity"].to_pylist())
    assert capacity == [("licence/F", 75), ("licence/G", 40)]
