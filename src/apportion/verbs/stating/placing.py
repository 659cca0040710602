"""Whose account each minor unit goes to: the owner's own, or that of whoever carries it."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import StoredRun
from apportion.engine.workloads import declared
from apportion.model.minor import apart, table_of
from apportion.model.rows import MINOR_KEY, SYSTEM_OWNERS
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.policy.modes import borne_by, charged
from apportion.reports.statement.facts import CARRIED, OWNER, PLACED

AT = {name: place for place, name in enumerate(MINOR_KEY)}
OWNERS = slice(AT["cost_centre"], AT["user"] + 1)


def placed(
    policy: Policy, period: Period, minor: pa.Table, others: pa.Table, runs: Mapping[str, StoredRun]
) -> pa.Table:
    """Every row of a period's minor units. What the system's owners hold is on the account of whom `carried_by` names."""
    rows = apart(minor, others)
    return on_accounts(policy, period, zip(*(column.to_pylist() for column in rows.columns), strict=True), runs)


def on_accounts(
    policy: Policy, period: Period, rows: Iterable[Sequence[Any]], runs: Mapping[str, StoredRun]
) -> pa.Table:
    """Of rows of the key of minor units, with their run and amount."""
    made = []
    for *key, run, amount in rows:
        team, pool = key[AT["team"]], key[AT["pool"]]
        owner, of, booked = tuple(key[OWNERS]), "", charged(policy, period, team, pool)
        carrier = borne_by(policy, period, team, pool).team if team in SYSTEM_OWNERS else ""
        if carrier:
            owner, of, booked = place_of(policy, carrier), team, True
        rest = key[OWNERS.stop :]
        made.append((*key[:2], *owner, *rest, of, run, runs[run].kind if run else "", booked, amount))
    return table_of(PLACED, made)


def place_of(policy: Policy, team: str) -> tuple[str, ...]:
    return tuple(getattr(declared(team, policy), name) for name in OWNER)


def carried(policy: Policy, period: Period, now: pa.Table) -> pa.Table:
    """What is booked for owners who are only shown their cost, on the account of whom `carried_by` names for them."""
    shown = now.filter(pc.invert(now["charged"]))
    sums: dict[tuple[str, ...], int] = defaultdict(int)
    rows = shown.group_by(["currency", "team", "pool"]).aggregate([("amount", "sum")])
    for currency, team, pool, amount in zip(*(rows[name].to_pylist() for name in rows.column_names), strict=True):
        carrier = "" if team in SYSTEM_OWNERS else borne_by(policy, period, team, pool).team
        if carrier:
            sums[currency, *place_of(policy, carrier)] += amount
    return table_of(CARRIED, [(*key, amount) for key, amount in sorted(sums.items()) if amount])
