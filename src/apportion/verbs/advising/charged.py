"""What workloads were charged for boards, for cores and memory, and for what they store: the money that advice speaks of."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyarrow.compute as pc

from apportion.model.currencies import is_money
from apportion.model.kinds import summed
from apportion.model.meters import GPU, METERS
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.reports.advice.work import BOARDS, HOSTS, HOUR_S, STORES
from apportion.reports.report import Record
from apportion.reports.sums import total
from apportion.verbs.project import Project

ACCELERATORS = tuple(sorted(meter.name for meter in METERS.values() if meter.base == GPU))
COUNTED = {BOARDS: ACCELERATORS, HOSTS: ("cpu", "memory"), STORES: ("storage",)}
LEAST_HOURS = {BOARDS: 1, HOSTS: 8, STORES: 10_000}  # of a unit, in the month: nobody acts on less
OWNER = ("team", "project", "user")
KEYS = ("workload", "bill", "pool", *OWNER, "unit")
SUMS = ("amount", "held")
Row = Mapping[str, Any]
Key = tuple[str, str]  # workload and what it was charged for


@dataclass(frozen=True, slots=True)
class Charged:
    """What one workload was charged for one sort of thing in the month. `meters`: what the pool counts, and what a base unit of each weighs."""

    owner: tuple[str, str, str]
    amounts: Mapping[str, Decimal]
    meters: Mapping[str, Fraction]
    pool: str = ""

    @property
    def meter(self) -> str:
        return next(iter(self.meters))


@dataclass(frozen=True, slots=True)
class Counting:
    """What a pool counts: of which sort that is, and its meters by weight."""

    sort: str
    meters: Mapping[str, Fraction] = field(default_factory=dict)


def with_charges(project: Project, record: Record, period: Period) -> Record:
    """The charges of the owners in a record, with their workloads."""
    where = (pc.field("period") == str(period)) & pc.field("team").isin(pc.unique(record.posted["team"]))
    return replace(
        record, charges=project.books.scan("charges", columns=["period", *KEYS, "per_unit", *SUMS], where=where)
    )


def counting(policy: Policy) -> dict[str, Counting]:
    """Pools that count something that advice knows of."""
    found = {}
    for name, pool in policy.pools.items():
        weights = {meter: Fraction(weight) / METERS[meter].base for meter, weight in pool.meter.items() if weight}
        sort = next((sort for sort, meters in COUNTED.items() if set(meters) & set(weights)), "")
        if sort and not any(METERS[meter].flow for meter in weights):
            found[name] = Counting(sort, {meter: weights[meter] for meter in weights if meter in COUNTED[sort]})
    return found


def charged_in(record: Record, pools: Mapping[str, Counting]) -> dict[Key, Charged]:
    """Workloads that held enough to speak of, with the money of the pools in which they held it."""
    if record.charges is None or not len(record.charges):
        return {}
    rows = summed(record.charges, (*KEYS, "per_unit"), SUMS).to_pylist()
    currencies = dict(zip(*(record.posted[name].to_pylist() for name in ("bill", "currency")), strict=True))
    groups: dict[Key, list[Row]] = defaultdict(list)
    for row in rows:
        if row["pool"] in pools:
            groups[row["workload"], pools[row["pool"]].sort].append(row)
    found = {key: charged(some, currencies, pools) for key, some in groups.items() if held_enough(some, key[1])}
    return {key: one for key, one in found.items() if one.amounts}


def held_enough(rows: Iterable[Row], sort: str) -> bool:
    least = LEAST_HOURS[sort] * HOUR_S
    return any((row["held"] or 0) >= least * row["per_unit"] for row in rows if row["per_unit"])


def charged(rows: Sequence[Row], currencies: Mapping[str, str], pools: Mapping[str, Counting]) -> Charged:
    """In money, where there is some to save; whoever paid most can act. Cores and memory may be charged in pools of their own: the greater counts."""
    most = max(rows, key=lambda row: (row["amount"], *(row[name] for name in OWNER)))
    amounts: dict[str, list[Decimal]] = defaultdict(list)
    for row in rows:
        if row["pool"] == most["pool"] or pools[row["pool"]].sort != HOSTS:
            amounts[currencies[row["bill"]]].append(row["amount"])
    sums = {currency: total(some) for currency, some in sorted(amounts.items()) if is_money(currency)}
    team, project, user = (most[name] for name in OWNER)
    positive = {name: amount for name, amount in sums.items() if amount > 0}
    return Charged((team, project, user), positive, pools[most["pool"]].meters, most["pool"])
