"""A small organisation with everything that pages show: three teams that share GPUs and disks, two months posted of which one is closed,
a third that has usage and no bill yet, a reservation, a quota, idle and down capacity, work that nobody owns, disputes and a draft.

`zebra` is the team that others may not see. Its own words (SECRET) occur nowhere else, so that any of them in an answer is a leak.
"""

import shutil
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

import apportion
from apportion.books.audit import acting
from apportion.books.whatifs import id_of
from apportion.render.kept import packed
from apportion.render.sheet import Sheet, Table
from apportion.reports.report import Column
from apportion.verbs.dispute import Doubt
from apportion.verbs.draft import propose
from apportion.verbs.project import Project
from apportion.verbs.saved import Wish, asked_text, save
from tests.sources import making

SETTINGS = """\
[project]
name = "small"

[web]
requests_per_minute = 1000000  # tests ask faster than people

[[sources]]
name = "cloud"
kind = "focus"
path = "bills/*.csv"

[[sources]]
name = "slurm"
kind = "usage"
path = "usage/jobs-*.csv"
columns = { workload = "job", run = "run", name = "name", resource = "node", start = "start", end = "end", outcome = "state" }
meters = { gpu = "gpus" }
used_meters = { gpu = "gpus_used" }
labels = { "slurm.account" = "account", "slurm.wckey" = "wckey", "slurm.user" = "user" }

[[sources]]
name = "disks"
kind = "usage"
path = "usage/disks-*.csv"
columns = { workload = "volume", resource = "system", start = "start", end = "end", outcome = "state" }
meters = { storage = "bytes" }
units = { storage = "bytes" }
labels = { "tag.team" = "team" }

[[sources]]
name = "nodes"
kind = "usage"
records = "capacity"
path = "usage/nodes-*.csv"
columns = { resource = "node", meter = "meter", start = "start", end = "end", amount = "amount", state = "state" }
"""
POLICY = """\
policy: small
effective: 2026-01-01
currency: USD
time_zone: UTC
teams:
  vision: {department: research, cost_centre: "4100", mode: chargeback}
  speech: {department: research, cost_centre: "4110"}
  zebra: {department: stripes, cost_centre: "zulu-cc", mode: chargeback}
  platform: {department: infrastructure, cost_centre: "9000"}
carried_by: {_idle: platform, _unallocated: platform, _residual: platform}
owners:
  - {when: {slurm.account: "vis-*"}, team: vision, project: "{slurm.wckey}", user: "{slurm.user}"}
  - {when: {slurm.account: "spk-*"}, team: speech, project: "{slurm.wckey}", user: "{slurm.user}"}
  - {when: {slurm.account: "zbr-*"}, team: zebra, project: "{slurm.wckey}", user: "{slurm.user}"}
  - {when: {tag.team: "*"}, team: "{tag.team}"}
reservations:
  - {team: speech, pool: gpus, meter: gpu, amount: 2, from: 2026-10-10, until: 2026-10-12}
pools:
  gpus:
    costs: {ServiceCategory: Compute}
    usage: {node: "node-*"}
    meter: gpu
    method: capacity_rate
    idle: {unsold: central, reserved: holder, held: holder, down: central}
  disks: {costs: {ServiceCategory: Storage}, usage: {resource: "fs-*"}, meter: storage, method: proportional}
  rest: {costs: otherwise, by: cost, over: all}
adjustments:
  - {team: speech, pool: gpus, percent: -10, sponsor: platform, why: "moved to nights"}
quotas:
  - {team: vision, meter: gpu, hours: 400, per: month, warn: [80, 95]}
  - {team: zebra, money: 5000, per: month, warn: [80, 95]}
"""  # fmt: skip
MONTHS = {"2026-09": ("2026-10", 30), "2026-10": ("2026-11", 31), "2026-11": ("2026-12", 30)}
BILLED = ("2026-09", "2026-10")
SECRET = (
    "zebra",
    "stripes",
    "zulu-cc",
    "halcyon",
    "quagga",
    "zbr-",
    "zjob",
)  # team, department, cost centre, project, user, account, job; none of them can be part of a hash
LONG = 5  # characters of an amount that nobody has by chance
ACCOUNTS = {"vision": "vis-core", "speech": "spk-asr", "zebra": "zbr-run", "": "odd-one"}
PEOPLE = {"vision": ("detect", "ada"), "speech": ("asr", "grace"), "zebra": ("halcyon", "quagga"), "": ("", "kurt")}

# A what-if that somebody saved: of two policies, one of them named after the team that others may not see.
TRIED = {
    name: POLICY.replace('why: "moved to nights"', f"why: {why}")
    for name, why in (("zebra first", "halcyon"), ("even", "all"))
}
PARTS = ("posted", "zebra first_instead", "zebra first_change", "even_instead", "even_change")
FIGURES = {"vision": ("4000.5", "4100.5", "100", "3900.5", "-100"), "zebra": ("9000", "8900", "-100", "9100", "100")}
WISH = Wish(("2026-10",), TRIED)
SHEET = Sheet(
    "2026-10 by 2 policies: zebra first.",
    (
        Table(
            (Column("owner", "owner"), *(Column(name, name.removesuffix("_instead"), "money") for name in PARTS)),
            tuple((team, *map(Decimal, amounts)) for team, amounts in FIGURES.items()),
            ("", *(sum((Decimal(amounts[n]) for amounts in FIGURES.values()), Decimal(0)) for n in range(len(PARTS)))),
            "USD",
        ),
    ),
    {"rows": FIGURES, "sums": ["13000.5"]},
    ("adjustments[1].why changes from moved to nights to halcyon; no figure changes",),
)
SAVED = id_of("zebra first", WISH.months, asked_text(WISH), packed(SHEET))


def jobs(month: str) -> Iterator[dict[str, str]]:
    """Each team runs on some days; job numbers tell the month, and those of zebra begin with zjob."""
    of_month = month[-2:]
    for day in range(1, 15, 2):
        for place, team in enumerate(("vision", "speech", "zebra", "")):
            project, user = PEOPLE[team]
            number = f"zjob{of_month}{day:02}" if team == "zebra" else f"{place + 1}{of_month}{day:02}"
            hours = {"vision": 20, "speech": 12, "zebra": 9, "": 2}[team]
            yield {
                "job": number, "run": number, "name": f"train-{project or 'odd'}", "account": ACCOUNTS[team], "wckey": project, "user": user,
                "node": f"node-{1 + place % 2}", "start": f"{month}-{day:02}T00:00:00Z", "end": f"{month}-{day:02}T{hours:02}:30:00Z",
                "gpus": str(place + 1), "gpus_used": str(1 + place // 2), "state": "FAILED" if day == 7 else "COMPLETED",
            }  # fmt: skip


def disks(month: str) -> Iterator[dict[str, str]]:
    end = f"{MONTHS[month][0]}-01T00:00:00Z"
    for team, size in (("vision", 5 * 10**12), ("speech", 2 * 10**12), ("zebra", 3 * 10**12)):
        held = {"state": "running", "bytes": str(size), "team": team}
        yield {"volume": f"{team}-data", "system": "fs-1", "start": f"{month}-01T00:00:00Z", "end": end, **held}  # fmt: skip


def nodes(month: str) -> Iterator[dict[str, str]]:
    end = f"{MONTHS[month][0]}-01T00:00:00Z"
    for node in ("node-1", "node-2"):
        yield {
            "node": node,
            "meter": "gpu",
            "start": f"{month}-01T00:00:00Z",
            "end": f"{month}-20T00:00:00Z",
            "amount": "8",
            "state": "up",
        }
        yield {
            "node": node,
            "meter": "gpu",
            "start": f"{month}-20T00:00:00Z",
            "end": f"{month}-21T00:00:00Z",
            "amount": "8",
            "state": "down",
        }
        yield {"node": node, "meter": "gpu", "start": f"{month}-21T00:00:00Z", "end": end, "amount": "8", "state": "up"}  # fmt: skip


def lines(month: str) -> Iterator[dict[str, str]]:
    after, days = MONTHS[month]
    billed = {
        "BillingPeriodStart": f"{month}-01T00:00:00Z",
        "BillingPeriodEnd": f"{after}-01T00:00:00Z",
        "InvoiceIssuerName": "Nimbus",
    }
    for day in range(1, days + 1):
        end = f"{month}-{day + 1:02}T00:00:00Z" if day < days else f"{after}-01T00:00:00Z"
        time = {**billed, "ChargePeriodStart": f"{month}-{day:02}T00:00:00Z", "ChargePeriodEnd": end}
        for node, cost in (("node-1", "384.37"), ("node-2", "399.99")):
            yield {
                **time,
                "EffectiveCost": cost,
                "BilledCost": cost,
                "ServiceCategory": "Compute",
                "ResourceId": node,
                "Tags": "{}",
            }
        yield {
            **time,
            "EffectiveCost": "41.13",
            "BilledCost": "41.13",
            "ServiceCategory": "Storage",
            "ResourceId": "fs-1",
            "Tags": "{}",
        }
        yield {**time, "EffectiveCost": "7.77", "BilledCost": "7.77", "ServiceCategory": "Other", "ResourceId": "", "Tags": "{}"}  # fmt: skip


def write_month(folder: Path, month: str, *, billed: bool = True) -> None:
    put: Mapping[str, Any] = {"jobs": jobs, "disks": disks, "nodes": nodes}
    for name, rows in put.items():
        making.put(folder / "usage" / f"{name}-{month}.csv", making.csv_text(rows(month)))
    if billed:
        making.put(folder / "bills" / f"{month}.csv", making.bill_text(*lines(month)))


def make(folder: Path) -> Project:
    """September closed, October posted, November running."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "apportion.toml").write_text(SETTINGS, "utf-8")
    (folder / "policy.yaml").write_text(POLICY, "utf-8")
    for month in MONTHS:
        write_month(folder, month, billed=month in BILLED)
    project = apportion.open_project(folder)
    apportion.ingest(project)
    for month in BILLED:
        apportion.plan(project, month)
        apportion.apply(project, month)
    apportion.close(project, BILLED[0], override="what nobody owns is known")
    apportion.open_dispute(project, BILLED[1], Doubt("vision", "the eval jobs were not ours"))
    apportion.open_dispute(project, BILLED[1], Doubt("zebra", "halcyon moved away"))
    with acting("root"):
        propose(project, POLICY.replace("money: 5000", "money: 6130"), "halcyon needs more")
        save(project, "zebra first", WISH, SHEET)
    return project


def secret_amounts(project: Project) -> set[str]:
    """What zebra owes, in sum and in parts, as texts, also as JSON has them, and as people read them; no other team has the same amounts.

    Nor has one so far in a running month: on some days a part of what it owes in all is just what zebra owes.
    """
    amounts: dict[str, set[Decimal]] = {"zebra": set(), "vision": set(), "speech": set()}
    for team, by in product(amounts, ("team", "pool", "project", "day")):
        for month in BILLED:
            made = apportion.report(project, "showback", month, by=by, where=[f"team={team}"])
            amounts[team] |= {cell for row in made.sections[0].rows for cell in row if isinstance(cell, Decimal)}
    others = amounts["vision"] | amounts["speech"]
    so_far = {round(one * day / days, 2) for one in others for days in (30, 31) for day in range(1, days + 1)}
    own = {one for one in amounts["zebra"] - others if abs(one) > 1 and round(one, 2) not in so_far}
    plain = {one: f"{one:f}".rstrip("0").rstrip(".") for one in own}
    return {text for one in own for text in (plain[one], f'"{plain[one]}"', f"{one:,.2f}") if len(text) > LONG}


def copied(project: Project, folder: Path) -> Project:
    """Books of one's own, to write in."""
    shutil.copytree(project.folder, folder)
    return apportion.open_project(folder)
