"""Rows for worlds that a person can check with a pencil. Times are hours after 2026-10-14T00:00Z."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

from apportion.model.meters import METERS
from apportion.model.rows import FOCUS_NUMBERS, FOCUS_TEXT
from apportion.model.times import parse_instant
from tests.property.oracle import attribute
from tests.property.worlds import World

POOL = "pools:\n  gpus: {costs: {ServiceName: EC2}, usage: {node: 'n*'}, meter: gpu, "

NOON = parse_instant("2026-10-14T00:00:00Z")
HEAD = """
policy: by-hand
effective: 2026-10-01
currency: USD
time_zone: UTC
teams: {a: {}, b: {}, c: {}, office: {}}
owners:
  - {when: {team: "*"}, team: "{team}", project: "{project}"}
"""


def at(hour: float) -> int:
    return NOON + round(hour * 3600)


def line(amount: str, start: float, end: float, **columns: Any) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys((*FOCUS_NUMBERS, *FOCUS_TEXT))
    row.update({
        "source": "bill", "line_id": f"{amount}/{start}/{end}/{sorted(columns)}", "charge_start_s": at(start), "charge_end_s": at(end),
        "billing_start_s": at(0), "billing_end_s": at(48), "component": "compute", "EffectiveCost": Decimal(amount), "BillingCurrency": "USD",
        "InvoiceIssuerName": "Cloud", "BillingAccountId": "b", "ChargeCategory": "Usage", "ServiceName": "EC2", "Tags": {}, "problem": None,
    })  # fmt: skip
    return row | columns


def usage(workload: str, start: float, end: float, amount: float | None = 1, **more: Any) -> dict[str, Any]:
    meter = more.pop("meter", "gpu")
    row = {
        "source": "s", "workload": workload, "meter": meter, "resource": "n1", "start_s": at(start), "end_s": at(end),
        "allocated": None if amount is None else round(amount * METERS[meter].base), "used": None,
    }  # fmt: skip
    if "used" in more:
        row["used"] = round(more.pop("used") * METERS[meter].base)
    return row | more


def capacity(start: float, end: float, amount: float, **more: Any) -> dict[str, Any]:
    row = {
        "source": "s",
        "resource": "n1",
        "meter": "gpu",
        "start_s": at(start),
        "end_s": at(end),
        "amount": round(amount * METERS["gpu"].base),
    }
    return row | {"state": "up", "labels": {}} | more


def reservation(team: str, start: float, end: float, amount: float) -> dict[str, Any]:
    return {
        "source": "s", "reservation": f"r-{team}", "meter": "gpu", "start_s": at(start), "end_s": at(end),
        "amount": round(amount * METERS["gpu"].base), "labels": {"team": team, "node": "n1"},
    }  # fmt: skip


def workload(name: str, team: str | None = None, **labels: str) -> dict[str, Any]:
    outcome = labels.pop("outcome", "completed")
    labels |= {"team": team} if team else {}
    return {
        "source": "s", "workload": name, "run": name, "name": None, "start_s": at(0), "end_s": at(48), "outcome": outcome, "labels": labels,
        "label_set": labels.pop("label_set", None),
    }  # fmt: skip


def by_hand(rules: str, lines: list[Any], uses: list[Any], **tables: Any) -> World:
    """Workloads `a`, `b` and `c` of the teams of that name are there unless told."""
    jobs = tables.pop("workloads", [workload(team, team) for team in "abc"])
    return World(
        "2026-10", HEAD + rules, tuple(lines), tuple(uses), tuple(tables.get("capacity", ())), tuple(tables.get("reservations", ())), tuple(jobs),
        previous=tables.get("previous", {}),
    )  # fmt: skip


def owed(world: World, *names: str) -> dict[Any, Fraction]:
    """Exact amounts by team and by the other `names` (reason, cause, day, project, bill)."""
    places = {
        "bill": 0,
        "currency": 1,
        "component": 2,
        "pool": 3,
        "day": 4,
        "reason": 5,
        "cause": 6,
        "team": 9,
        "project": 10,
    }
    found: dict[Any, Fraction] = {}
    for key, amount in attribute(world).items():
        short = tuple(str(key[places[name]]) for name in ("team", *names))
        found[short if names else short[0]] = found.get(short if names else short[0], Fraction(0)) + amount
    return {key: amount for key, amount in found.items() if amount}
