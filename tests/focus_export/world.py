"""A small organisation of two closed months and an open one: thirds, dust, two currencies, transfers, corrections and odd names."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import pyarrow as pa

import apportion
from apportion.books.shapes import Run
from apportion.model.rows import BILL_DAYS, POSTINGS
from apportion.verbs.project import Project
from tests.sources import making

SETTINGS = '[[sources]]\nname = "cloud"\nkind = "focus"\npath = "bills/*.csv"\n'
POLICY = """\
policy: small
effective: 2026-01-01
currency: USD
time_zone: Europe/Berlin
statements: {issuer: Platform Office}
teams:
  vision: {department: research, cost_centre: "4711"}
  speech: {department: research, cost_centre: "4712"}
  "equipe / \\"b\\"": {cost_centre: "=1+1"}
owners:
  - {when: {tag.team: "*"}, team: "{tag.team}", project: "{tag.project}"}
pools:
  "gpu/h100": {costs: {ServiceName: "GPU*"}, method: fixed, shares: {vision: 33, speech: 66}}
  disks: {costs: {ServiceName: "Disk*"}, method: even}
  rest: {costs: otherwise, method: direct}
adjustments:
  - {team: speech, pool: "gpu/h100", percent: -30, sponsor: vision, why: "spoken, for now"}
"""
LINES: tuple[dict[str, str], ...] = (
    {"ServiceName": "GPU box", "EffectiveCost": "100.01", "days": "05/08", "Tags": "{}"},
    {"ServiceName": "GPU box", "EffectiveCost": "0.000000000000000007", "days": "05/06", "Tags": "{}"},
    {"ServiceName": "GPU box", "EffectiveCost": "33.333333333333", "days": "09/10", "Tags": "{}", "ResourceId": "node-2"},
    {"ServiceName": "Disk", "EffectiveCost": "10", "days": "01/30", "ServiceCategory": "Storage", "Tags": "{}"},
    {"ServiceName": "Notebook", "EffectiveCost": "7.5", "days": "11/12", "Tags": '{"team":"equipe / \\"b\\"","project":"a,b"}'},
    {"ServiceName": "Notebook", "EffectiveCost": "-2.25", "days": "11/12", "Tags": '{"team":"vision","project":"p"}'},
    {"ServiceName": "Notebook", "EffectiveCost": "1.1", "days": "12/13", "Tags": "{}"},
    {"ServiceName": "Notebook", "EffectiveCost": "5", "days": "12/13", "BillingCurrency": "EUR", "InvoiceIssuerName": "Stratus"},
    {"ServiceName": "Notebook", "EffectiveCost": "3.01", "days": "01/30", "ChargeCategory": "Tax", "ResourceId": "", "Tags": "{}"},
)  # fmt: skip
AFTER = {"2026-08": "2026-09", "2026-09": "2026-10", "2026-10": "2026-11"}


def bill(folder: Path, month: str, times: str = "1") -> None:
    rows = []
    for line in LINES:
        first, last = line["days"].split("/")
        amount = str(Decimal(line["EffectiveCost"]) * Decimal(times))
        rows.append({
            "BillingPeriodStart": f"{month}-01T00:00:00Z", "BillingPeriodEnd": f"{AFTER[month]}-01T00:00:00Z",
            "ChargePeriodStart": f"{month}-{first}T00:00:00Z", "ChargePeriodEnd": f"{month}-{last}T00:00:00Z",
            **{key: value for key, value in line.items() if key != "days"},
            "EffectiveCost": amount, "BilledCost": amount, "ContractedCost": amount, "ListCost": amount,
        })  # fmt: skip
    making.put(folder / "bills" / f"{month}.csv", making.bill_text(*rows))


def post(project: Project, month: str) -> None:
    apportion.ingest(project)
    apportion.plan(project, month)
    apportion.apply(project, month)


def make(folder: Path) -> Project:
    (folder / "apportion.toml").write_text(SETTINGS, "utf-8")
    (folder / "policy.yaml").write_text(POLICY, "utf-8")
    project = apportion.open_project(folder)
    bill(folder, "2026-09")
    post(project, "2026-09")
    return project


def with_corrections(project: Project) -> None:
    """September is closed; what comes late and what people decide about it is booked in October, beside October's own."""
    apportion.close(project, "2026-09", override="for the test")
    bill(project.folder, "2026-09", "1.1")
    post(project, "2026-09")
    transfer(project, "2026-10", {"speech": "-1.000000001", "vision": "1.000000001"}, kind="reclass", about="2026-09")
    bill(project.folder, "2026-10")
    post(project, "2026-10")
    transfer(project, "2026-10", {"speech": "-2", "vision": "2"}, kind="credit", about="")


def transfer(project: Project, period: str, amounts: Mapping[str, str], **said: str) -> None:
    last = project.books.runs()[-1]
    known = project.books.posted().slice(0, 1).to_pylist()[0]
    rows = [
        {**known, "period": period, "reason": "credit", "cause": "", "team": team, "project": "", "user": "", "amount": Decimal(amount)}
        for team, amount in amounts.items()
    ]  # fmt: skip
    run = Run(
        f"{period}-{said['kind']}", period, "", last.policy_version, {}, pa.Table.from_pylist(rows, POSTINGS),
        BILL_DAYS.empty_table(), project.books.head(), cause="agreed",
    )  # fmt: skip
    project.books.post(replace(run, **said))  # type: ignore[arg-type]


def ledger(project: Project, period: str) -> dict[tuple[str, ...], Decimal]:
    """What the ledger's raw entries say, by bill, pool, component and day."""
    found: dict[tuple[str, ...], Decimal] = defaultdict(Decimal)
    rows: list[dict[str, Any]] = project.books.entries(period=period).to_pylist()
    with localcontext() as context:
        context.prec = 60
        for row in rows:
            if row["account"].startswith("team:"):
                found[row["bill"], row["pool"], row["component"], str(row["day"])] += row["amount"]
    return {key: amount for key, amount in found.items() if amount}
