"""The cost lines of a period with where each went: for those who split a vendor's own lines instead of pools."""

from typing import TYPE_CHECKING

import pyarrow as pa

from apportion.engine.exchange import exchange_of
from apportion.engine.labels import Combinations
from apportion.engine.lines import (
    Placed,
    amounts_of,
    bill_column,
    bills_of,
    by_owner,
    component_column,
    labelled,
    place_all,
)
from apportion.engine.workloads import owner_of
from apportion.model.kinds import kinds
from apportion.model.times import Interval, Period
from apportion.policy.document import Policy

if TYPE_CHECKING:
    from apportion.model.owner import Owner

OWN = ("team", "project", "user")
ADDED = ("pool", "bill", "posted_component", "posted_currency", "amount", *OWN)


def placed_lines(lines: pa.Table, policy: Policy, period: Period, rates: pa.Table) -> pa.Table:
    """The lines, with the pool (or the engine's word for none), bill, component, currency and amount that they were posted by.

    Where a line's own labels say whose it is, with that owner; else the owner is null.
    """
    lines = lines.combine_chunks()
    found = labelled(lines, policy)
    placed = place_all(lines, found, policy)
    amounts, _ = amounts_of(lines, placed, policy)
    bill_of = bill_column(lines, period)
    bills, amounts = bills_of(lines, bill_of, amounts, exchange_of(policy, period, rates))
    currencies, coded = {bill.id: bill.currency for bill in bills}, bill_of.dictionary_encode()
    told = pa.array([currencies[bill] for bill in coded.dictionary.to_pylist()], pa.string())
    columns = (
        placed.column({name: name for name in placed.names}, None, pa.string()),
        bill_of,
        component_column(lines, placed, policy.pools),
        told.take(coded.indices),
        amounts,
        *owners(lines, found, placed, policy),
    )
    for name, column in zip(ADDED, columns, strict=True):
        lines = lines.append_column(name, column)
    return lines


def owners(lines: pa.Table, found: Combinations, placed: Placed, policy: Policy) -> list[pa.Array]:
    """Told once for each combination of labels and start, since owner rules have dates."""
    alike = kinds([pa.array(found.of_row), pa.array(placed.codes), lines["charge_start_s"]], len(lines))
    starts = lines["charge_start_s"].take(pa.array(alike.first)).to_pylist()
    direct = placed.inside(by_owner(policy))
    told: list[Owner | None] = [
        owner_of(found.labels[found.of_row[row]], policy, Interval(start, start + 1), []) if direct[row] else None
        for row, start in zip(alike.first.tolist(), starts, strict=True)
    ]
    of_row = pa.array(alike.of)
    return [pa.array([owner and getattr(owner, name) for owner in told], pa.string()).take(of_row) for name in OWN]
