"""Facts of other projects as a world of the engine: a policy, a bill, use and capacity; what a golden folder leaves out is usual here too."""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from apportion.engine.backend import Backend
from apportion.engine.backends.duckdb import connect_duckdb
from apportion.engine.plan import Plan, World, make_plan
from apportion.model.rows import TABLES
from apportion.model.times import Period
from apportion.policy.load import load_policy
from tests.engine import golden_world
from tests.engine.golden_world import Row

BY_TEAM = [{"when": {"team": "*"}, "team": "{team}"}]
Amounts = dict[str, Decimal]


@dataclass(frozen=True)
class Facts:
    policy: Mapping[str, Any]
    bill: Sequence[Row] = ()
    usage: Sequence[Row] = ()
    capacity: Sequence[Row] = ()
    workloads: Sequence[Row] = ()
    lines: pa.Table | None = None  # a bill that a source has read


def policy(month: str, teams: Sequence[str], pools: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    usual = {"policy": "checked", "effective": f"{month}-01", "currency": "USD", "time_zone": "UTC", "owners": BY_TEAM}
    return usual | {"teams": {team: {} for team in teams}, "pools": dict(pools)} | more


def plan_of(facts: Facts) -> Plan:
    agreed = load_policy(json.dumps(facts.policy), "policy.yaml")
    period = Period(agreed.effective.year, agreed.effective.month)
    rows = {
        "cost_lines": golden_world.cost_lines(list(facts.bill), period, ZoneInfo("UTC")),
        "usage": golden_world.usage(list(facts.usage)),
        "capacity": golden_world.capacity(list(facts.capacity)),
        "reservations": iter(()),
        "workloads": workloads(facts),
    }
    tables = {name: pa.Table.from_pylist(list(found), schema=TABLES[name]) for name, found in rows.items()}
    tables |= {} if facts.lines is None else {"cost_lines": facts.lines}
    try:
        return make_plan(World(period, agreed, **tables), connected())
    finally:
        connected().forget()


@cache
def connected() -> Backend:
    return connect_duckdb(threads=1)


def workloads(facts: Facts) -> Iterator[dict[str, object]]:
    """Those that are told; else the name of a workload is that of its team."""
    names = sorted({row["workload"] for row in facts.usage})
    for row in facts.workloads or [{"workload": name, "labels": f"team={name}"} for name in names]:
        what = {"workload": row["workload"], "run": row["workload"], "outcome": "completed", "source": "golden"}
        yield what | {"start_s": 0, "end_s": 0, "labels": golden_world.labels_of(row["labels"])}


def by_team(made: Plan, *, pools: Collection[str] = (), unit: str = "", reason: str = "") -> Amounts:
    """What each owes, in these pools, in this unit, for this reason; of all where nothing is said."""
    found: Amounts = defaultdict(Decimal)
    for row in made.postings.to_pylist():
        if (not pools or row["pool"] in pools) and row["bill"].endswith(unit) and reason in ("", row["reason"]):
            found[row["team"]] += row["amount"]
    return found
