"""A project with bills in plain CSV, and what its ledger says, added up without the code under test."""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import apportion
from apportion.verbs.project import Project
from tests.sources import making

SETTINGS = '[[sources]]\nname = "cloud"\nkind = "focus"\npath = "bills/*.csv"\n'
POLICY = """\
policy: small
effective: 2026-01-01
currency: USD
time_zone: UTC
teams: {vision: {cost_centre: "1", department: research}, speech: {cost_centre: "2"}, office: {cost_centre: "9"}}
owners:
  - {when: {tag.team: "*"}, team: "{tag.team}", project: "{tag.project}"}
  - {when: {tag.team: "*"}, team: "{tag.team}"}
pools:
  disks: {costs: {ServiceCategory: Storage}, method: direct}
  rest: {costs: otherwise, method: direct}
"""
MONTHS = {"2026-09": "2026-10", "2026-10": "2026-11", "2026-11": "2026-12"}
Line = tuple[str, str, str]  # team, service category, amount


def bill(folder: Path, month: str, lines: Iterable[Line], issuer: str = "Nimbus", project: str = "") -> None:
    times = {
        "BillingPeriodStart": f"{month}-01T00:00:00Z", "BillingPeriodEnd": f"{MONTHS[month]}-01T00:00:00Z",
        "ChargePeriodStart": f"{month}-05T00:00:00Z", "ChargePeriodEnd": f"{month}-06T00:00:00Z", "InvoiceIssuerName": issuer,
    }  # fmt: skip
    more = f',"project":"{project}"' if project else ""
    rows = [
        {**times, "EffectiveCost": amount, "BilledCost": amount, "ServiceCategory": category, "Tags": f'{{"team":"{team}"{more}}}'}
        for team, category, amount in lines
    ]  # fmt: skip
    making.put(folder / "bills" / f"{month}-{issuer}{project}.csv", making.bill_text(*rows))


def started(folder: Path, policy: str = POLICY) -> Project:
    folder.mkdir(exist_ok=True)
    (folder / "apportion.toml").write_text(SETTINGS, "utf-8")
    (folder / "policy.yaml").write_text(policy, "utf-8")
    return apportion.open_project(folder)


def post(project: Project, month: str) -> None:
    apportion.ingest(project)
    apportion.plan(project, month)
    apportion.apply(project, month)


def entries(project: Project, **chosen: object) -> list[dict[str, Any]]:
    """The owners' side of the ledger, as it lies there."""
    return [row for row in project.books.entries(**chosen).to_pylist() if not row["account"].startswith("bill:")]


def sums(rows: Iterable[Mapping[str, Any]], *keys: str) -> dict[tuple[str, ...], Decimal]:
    found: dict[tuple[str, ...], Decimal] = {}
    for row in rows:
        key = tuple(str(row[name]) for name in keys)
        found[key] = found.get(key, Decimal(0)) + row["amount"]
    return {key: amount for key, amount in found.items() if amount}


def owed(project: Project, month: str) -> dict[str, Decimal]:
    return {team: amount for (team,), amount in sums(entries(project, period=month), "team").items()}
