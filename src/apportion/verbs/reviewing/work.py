"""A month's workloads as a review sees them: what each held and was charged in each pool, and what kind of work it was."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.clusters import locate_tables
from apportion.engine.facets import faceted
from apportion.engine.label_sets import with_sets
from apportion.model.currencies import is_money
from apportion.model.kinds import summed
from apportion.model.meters import METERS
from apportion.model.rows import SYSTEM_OWNERS
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.reports.report import Record
from apportion.reports.review.drift import DIMENSIONS, Worked
from apportion.reports.review.owners import Owed
from apportion.reports.sums import by_currency, grouped
from apportion.verbs.advising.charged import ACCELERATORS
from apportion.verbs.advising.works import models_of
from apportion.verbs.project import Project
from apportion.verbs.stating.working import mapped
from apportion.verbs.world import Pins, touches

HOUR_S = 3600
BOARDS = frozenset(METERS[name].unit for name in ACCELERATORS)
FACETS = ("phase", "framework", "outcome")
SEVERAL = "several"
SUMS = ("amount", "held", "used", "unmeasured")
KEYS = ("currency", "pool", "team", "workload", "unit", "per_unit")
TEXTS = ("workload", "gpu_model", *FACETS)


@dataclass(frozen=True, slots=True)
class Month:
    """`charged`: a row for each workload, pool and currency. `kinds`: one for each workload; `placed`: one for each workload and node."""

    record: Record
    charged: pa.Table
    kinds: pa.Table
    placed: pa.Table


def month_of(project: Project, period: Period, record: Record, rules: tuple[Policy, Pins]) -> Month:
    """By the facets of one policy for both months, so that what differs is the work and not the rules."""
    policy, pins = rules
    window = touches(period.interval(ZoneInfo(policy.time_zone)))
    capacity = project.books.scan("capacity", pins["capacity"], columns=["cluster", "resource", "labels"], where=window)
    used = project.books.scan(
        "usage",
        pins["usage"],
        columns=["workload", "cluster", "resource", "label_set"],
        where=window & pc.field("meter").isin(ACCELERATORS),
    )
    capacity, used = locate_tables(capacity, used)
    placed = with_sets(used).group_by(["workload", "resource"]).aggregate([])
    workloads = project.books.scan("workloads", pins["workloads"], where=window)
    known = faceted(with_sets(workloads), policy, period.interval(ZoneInfo(policy.time_zone)))
    return Month(
        record, charged_in(project, period, record), kinds_of(known, single(placed, models_of(capacity))), placed
    )


def charged_in(project: Project, period: Period, record: Record) -> pa.Table:
    """Sums of the charges of workloads, in money."""
    bills = dict(zip(*(record.posted[name].to_pylist() for name in ("bill", "currency")), strict=True))
    bills = {bill: currency for bill, currency in bills.items() if is_money(currency)}
    columns = ["bill", *KEYS[1:], *SUMS]
    rows = project.books.scan("charges", columns=columns, where=pc.field("period") == str(period))
    rows = rows.filter(
        pc.and_(pc.not_equal(rows["workload"], ""), pc.is_in(rows["bill"], pa.array(list(bills), pa.string())))
    )
    rows = rows.append_column("currency", mapped(rows["bill"], bills))
    return summed(rows, KEYS, SUMS)


def single(placed: pa.Table, values: Mapping[str, str]) -> dict[str, str]:
    """By workload, what all of its nodes are called by some label; one that ran on different ones has no single value."""
    told = pa.table({"workload": placed["workload"], "value": mapped(placed["resource"], values)})
    told = told.filter(pc.not_equal(told["value"], ""))
    ends = told.group_by("workload").aggregate([("value", "min"), ("value", "max")])
    columns = (ends[name].to_pylist() for name in ("workload", "value_min", "value_max"))
    return {name: least if least == most else SEVERAL for name, least, most in zip(*columns, strict=True)}


def kinds_of(known: pa.Table, gpus: Mapping[str, str]) -> pa.Table:
    ids = known["workload"]
    columns = {name: known[name] if name in known.column_names else pa.repeat("", len(known)) for name in FACETS}
    told = pa.array([gpus.get(one, "") for one in ids.to_pylist()], pa.string())
    return pa.table({"workload": ids, "gpu_model": told, **columns})


def worked(month: Month) -> list[Worked]:
    """By all kinds at once: few rows, however many workloads there were."""
    joined = month.charged.join(month.kinds, "workload")
    names = tuple(DIMENSIONS)
    rows = summed(joined, ("currency", *names, "unit", "per_unit"), ("amount", "held")).to_pylist()
    return [
        Worked(row["currency"], {name: row[name] or "" for name in names}, held_hours(row), row["amount"] or Decimal(0))
        for row in rows
    ]


def held_hours(row: Mapping[str, object]) -> Fraction:
    """Of accelerators; nothing of other units."""
    if row["unit"] not in BOARDS or not row["held"]:
        return Fraction(0)
    return hours(row, "held")


def hours(row: Mapping[str, object], name: str) -> Fraction:
    amount, per = row[name], row["per_unit"]
    return Fraction(int(str(amount or 0)), int(str(per)) * HOUR_S) if per else Fraction(0)


def owed(record: Record) -> Iterator[tuple[str, Owed]]:
    """By currency, what each team and project owes."""
    for currency, posted in by_currency(record.posted):
        if is_money(currency):
            sums = grouped(posted, ("team", "project"))
            yield currency, {(team, name): amount for (team, name), amount in sums.items() if team not in SYSTEM_OWNERS}
