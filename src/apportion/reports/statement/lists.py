"""The lists of a statement that are about work: what was held against what was used, and the workloads that cost most."""

from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.currencies import grains_per_minor
from apportion.model.money import half_even, plain, to_grains
from apportion.reports.held import HOUR_S, places
from apportion.reports.statement.facts import KEYS, Facts
from apportion.reports.statement.shape import Use, Workload
from apportion.reports.statement.sums import Key, added, named

TOP = 10
QUANTITIES = ("held", "used", "unmeasured")


def uses(facts: Facts, level: str) -> dict[Key, list[Use]]:
    """By pool and unit, the largest amount first."""
    paid, wasted = added(facts.now, level, ["pool"]), added(facts.waste, level, ["pool"])
    aside = added(elsewhere(facts), level, ["pool"])
    keys = ["currency", *KEYS[level], "pool", "unit", "per_unit"]
    rows = named(facts.work, level)
    sums = rows.filter(pc.is_valid(rows["unit"])).group_by(keys).aggregate([(name, "sum") for name in QUANTITIES])
    found: dict[Key, list[Use]] = defaultdict(list)
    for row in sums.to_pylist():
        key = (row["currency"], *(row[name] for name in KEYS[level]))
        figures, pool = hours(row), (row["pool"],)
        other = int(aside.get(key, {}).get(pool, 0))
        found[key].append(
            Use(
                pool=row["pool"],
                unit=row["unit"],
                held=figures["held"] or "0",
                used=figures["used"],
                unmeasured=figures["unmeasured"] or "0",
                amount=int(paid.get(key, {}).get(pool, 0)) - other,
                waste=wasted.get(key, {}).get(pool),
                other_hours=other or None,
            )
        )
    return {key: sorted(some, key=lambda use: (-abs(use.amount), use.pool)) for key, some in found.items()}


def elsewhere(facts: Facts) -> pa.Table:
    """What is owed for other hours than the month's: what runs other than its plan say, and what is late."""
    return pa.concat_tables([facts.now.filter(pc.not_equal(facts.now["kind"], "")), facts.late])


def hours(row: Mapping[str, Any]) -> dict[str, str | None]:
    """Hours as text; nothing was used where all that was held is not measured."""
    per = int(row["per_unit"]) * HOUR_S
    exact = {name: Fraction(int(row[f"{name}_sum"] or 0), per) for name in QUANTITIES}
    measured = exact["held"] > exact["unmeasured"]
    return {
        name: plain(places(amount) or Decimal(0)) if name != "used" or measured else None
        for name, amount in exact.items()
    }


def workloads(facts: Facts, level: str, owed: Mapping[Key, int]) -> dict[Key, list[Workload]]:
    """The largest, then all others as one, then what is of no workload: together what is owed."""
    rows = named(facts.work, level)
    rows = rows.filter(pc.not_equal(rows["workload"], ""))
    keys = ["currency", *KEYS[level]]
    sums = rows.group_by([*keys, "workload"]).aggregate([("amount", "sum"), ("waste", "sum")])
    whole = sums.group_by(keys).aggregate([("amount_sum", "sum"), ("waste_sum", "sum")])
    found: dict[Key, list[Workload]] = defaultdict(list)
    best = largest(sums, keys)
    details = detailed(rows, best, keys)
    for row in best.to_pylist():
        key = tuple(row[name] for name in keys)
        more = details[key, row["workload"]]
        found[key].append(
            Workload(
                row["workload"],
                facts.names.get(row["workload"], ""),
                more["project"],
                more["user"],
                more["unit"] or "",
                more["held"] or "",
                more["used"],
                minor(row["amount_sum"], key[0]),
                minor_or_none(row["waste_sum"], key[0]),
            )
        )
    for row in whole.to_pylist():
        key = tuple(row[name] for name in keys)
        found[key] += remainder(found[key], row, key[0], owed.get(key, 0))
    return found


def largest(sums: pa.Table, keys: list[str]) -> pa.Table:
    """The first TOP rows of each owner, by size of amount."""
    size = pc.abs(sums["amount_sum"])
    ordered = sums.append_column("size", size).sort_by(
        [*((name, "ascending") for name in keys), ("size", "descending"), ("workload", "ascending")]
    )
    if not len(ordered):
        return ordered
    first = np.zeros(len(ordered), dtype=bool)
    first[0] = True
    for name in keys:
        codes = pc.dictionary_encode(ordered[name].combine_chunks()).indices.to_numpy()
        first[1:] |= codes[1:] != codes[:-1]
    starts = np.maximum.accumulate(np.where(first, np.arange(len(ordered)), 0))
    return ordered.filter(pa.array(np.arange(len(ordered)) - starts < TOP))


def detailed(rows: pa.Table, best: pa.Table, keys: list[str]) -> dict[tuple[Key, str], dict[str, Any]]:
    """Of the largest: project and user, and what was held of the unit that cost most."""
    some = rows.filter(
        pc.is_in(rows["workload"], pc.unique(best["workload"]) if len(best) else pa.array([], pa.string()))
    )
    by = list(dict.fromkeys([*keys, "workload", "project", "user", "unit", "per_unit"]))
    sums = some.group_by(by).aggregate([*((name, "sum") for name in QUANTITIES), ("amount", "sum")])
    found: dict[tuple[Key, str], dict[str, Any]] = {}
    for row in sorted(
        sums.to_pylist(), key=lambda row: (row["unit"] is not None, abs(row["amount_sum"]), row["unit"] or "")
    ):
        figures = hours(row) if row["unit"] is not None else dict.fromkeys(QUANTITIES)
        key = tuple(row[name] for name in keys)
        found[key, row["workload"]] = {**figures, "project": row["project"], "user": row["user"], "unit": row["unit"]}
    return found


def remainder(shown: list[Workload], whole: Mapping[str, Any], currency: str, owed: int) -> list[Workload]:
    amount, waste = minor(whole["amount_sum_sum"], currency), minor_or_none(whole["waste_sum_sum"], currency)
    others = amount - sum(one.amount for one in shown)
    wasted = None if waste is None else waste - sum(one.waste or 0 for one in shown)
    lines = []
    if others or wasted:
        lines.append(Workload("", "all others", "", "", "", "", None, others, wasted))
    if owed != amount:
        lines.append(Workload("", "of no workload", "", "", "", "", None, owed - amount, None))
    return lines


def minor(amount: Decimal, currency: str) -> int:
    return half_even(to_grains(amount), grains_per_minor(currency))


def minor_or_none(amount: Decimal | None, currency: str) -> int | None:
    return None if amount is None else minor(amount, currency)
