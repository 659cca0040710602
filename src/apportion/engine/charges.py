"""Charges: what each workload owes to each pool for each day, inside what its owner's posting says. The evidence behind a posting."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.curve import COUNTED, USED
from apportion.engine.held import ALLOCATED, HELD, MEASURED, UNMEASURED, WASTED, unit_of
from apportion.engine.nanos import share_nanos
from apportion.engine.plan import Plan
from apportion.engine.pools import PoolResult
from apportion.engine.portioned import by_measure, open_measures
from apportion.engine.price import Market, Priced
from apportion.engine.rates import Key
from apportion.engine.valued import Valued, joined
from apportion.engine.wide import Whole, starts_of, to_arrow, zeros
from apportion.engine.work import open_share, work_of
from apportion.model.money import NANO
from apportion.model.owner import Owner
from apportion.model.rows import CHARGES, MONEY, WHOLE

UNKNOWN = ""
VIEWS = ("unit", "per_unit", "held", "used", "unmeasured", "waste")


class Place(NamedTuple):
    pool: str
    bill: str
    component: str


Posted = Mapping[Place, Mapping[int, int]]  # posting (day * owners + owner) -> nanos


@dataclass(frozen=True, slots=True)
class Desk:
    """What turns numbers into names, and what is posted to each owner and day: for use, and for what was held without use."""

    plan: Plan
    owners: tuple[Owner, ...]
    names: pa.Array
    used: Posted
    held: Posted

    def is_posted(self, work: Valued, pool: str, key: Key) -> np.ndarray:
        return np.isin(work.keys["posting"], list(self.used.get(Place(pool, *key), ())))


def charges_of(plan: Plan) -> Iterator[pa.RecordBatch]:
    """Pool by pool, the usage postings of a plan shared by its workloads; of what is late after those of the period's own."""
    for part in plan.parts:
        yield from charges_of(part)
    if plan.parts:
        return
    desk = desk_of(plan)
    for name, result in plan.trace.pools.items():
        if result.market is not None and result.reach is not None and result.reach.resources:
            yield from pool_charges(name, result, result.market, desk)


def desk_of(plan: Plan) -> Desk:
    """Money that found no use has no workload."""
    setting = plan.trace.setting
    owners = tuple(sorted({bearer.owner for bearer in setting.bearers.all}))
    number = {owner: n for n, owner in enumerate(owners)}
    days = {day: n for n, day in enumerate(setting.calendar.days)}
    used, held = (defaultdict[Place, dict[int, int]](lambda: defaultdict(int)) for _ in range(2))
    for row in plan.postings.to_pylist():
        owner = Owner(row["cost_centre"], row["department"], row["team"], row["project"], row["user"])
        place = Place(row["pool"], row["bill"], row["component"])
        where = days[row["day"]] * len(owners) + number.get(owner, 0)
        if row["reason"] in ("usage", "burst") and row["cause"] in ("", "no owner"):
            used[place][where] += int(row["amount"].scaleb(9))
        elif row["reason"] == "idle" and row["cause"] == "held":
            held[place][where] += int(row["amount"].scaleb(9))
    ids = setting.workforce.ids
    return Desk(plan, owners, pa.concat_arrays([ids, pa.array([UNKNOWN], ids.type)]), used, held)


def pool_charges(name: str, result: PoolResult, market: Market, desk: Desk) -> Iterator[pa.RecordBatch]:
    """Quantities stand under the first bill and component of each currency; there workloads are seen even on days that cost them nothing."""
    setting = desk.plan.trace.setting
    found = work_by_key(name, result, market, desk)
    first: dict[str, Key] = {}
    for key in found:
        first.setdefault(setting.currencies.get(key[0], setting.policy.currency), key)
    for key, work in found.items():
        counted = key in first.values()
        seen = desk.is_posted(work, name, key) | some(work.of(HELD)) | (some(work.of(ALLOCATED)) & counted)
        yield from shared(desk, Place(name, *key), work.only(seen), counted=counted).to_batches()
    for key, work in followed(found, name, desk):
        yield from shared(desk, Place(name, *key), work, counted=False).to_batches()


def work_by_key(name: str, result: PoolResult, market: Market, desk: Desk) -> dict[Key, Valued]:
    """What is held and burnt at once cannot be counted in one unit: there the first measure, what is held, counts."""
    measures = open_measures(name, result, desk.plan)
    if measures and market.pool.method == "energy_two_part":
        return {key: by_measure(measures, key, desk.owners, None) for key in keys_of(result)}
    share = open_share(name, result, market, desk.plan)
    found = {key: work_of(share, key, desk.owners) for key in keys_of(result)}
    return {key: by_measure(measures, key, desk.owners, work) if measures else work for key, work in found.items()}


def some(numbers: Whole) -> np.ndarray:
    """Which are not 0."""
    found: np.ndarray = (numbers != 0).astype(bool)
    return found


def keys_of(result: PoolResult) -> list[Key]:
    """The bills and components of a pool's money, used or idle."""
    priced = result.priced or Priced()
    columns = [column for parts in (result.usage, priced.held, priced.idle) for column, *_ in parts]
    return sorted({column[:2] for column in columns})


def followed(found: Mapping[Key, Valued], pool: str, desk: Desk) -> Iterator[tuple[Key, Valued]]:
    """Tax, credits and fees in a pool follow the workloads of the same bill, day and owner."""
    for key in sorted((place.bill, place.component) for place in desk.used if place.pool == pool):
        own = set(np.unique(found[key].keys["posting"]).tolist()) if key in found else set()
        alone = sorted(set(desk.used[Place(pool, *key)]) - own)
        parts = [
            work.only(desk.is_posted(work, pool, direct) & np.isin(work.keys["posting"], alone))
            for direct, work in found.items()
            if direct[0] == key[0]
        ]
        if any(map(len, parts)):
            whole = joined(parts)
            yield key, Valued(whole.keys, {kind: sums for kind, sums in whole.sums.items() if kind != COUNTED})


def shared(desk: Desk, place: Place, work: Valued, *, counted: bool) -> pa.Table:
    """Every posting over its workloads, whole nanos, adding up."""
    posting = work.keys["posting"]
    first = starts_of(posting) if len(work) else posting
    posted, nanos = desk.used.get(place, {}), zeros(len(first))
    nanos[:] = [posted.get(where, 0) for where in posting[first].tolist()]
    amount = share_nanos(nanos, work.of(USED), first)
    day, owner = np.divmod(posting, max(1, len(desk.owners)))
    texts = {"period": str(desk.plan.period), **place._asdict(), "reason": "usage"}
    columns = {
        **{name: pa.repeat(text, len(work)) for name, text in texts.items()},
        **{
            name: pa.array([getattr(owner, name) for owner in desk.owners], pa.string()).take(pa.array(owner))
            for name in ("team", "project", "user")
        },
        "day": pa.array(desk.plan.trace.setting.calendar.days, pa.date32()).take(pa.array(day)),
        "workload": desk.names.take(pa.array(work.keys["work"])),
        "unit_seconds": to_arrow(work.of(COUNTED), WHOLE),
        "amount": to_arrow(amount * NANO, MONEY),
        **views(desk, place, work, amount, counted=counted),
    }
    return pa.table({name: columns[name] for name in CHARGES.names}).cast(CHARGES)


def views(desk: Desk, place: Place, work: Valued, amount: Whole, *, counted: bool) -> dict[str, pa.Array]:
    """What was held and what was used, and the money of the difference; null where there are no such views or nothing was measured."""
    pool = desk.plan.trace.setting.policy.pools[place.pool]
    unit = unit_of(pool)
    if unit is None:
        return {name: pa.nulls(len(work), CHARGES.field(name).type) for name in VIEWS}
    held, used, unmeasured = (work.of(kind) for kind in (ALLOCATED, MEASURED, UNMEASURED))
    waste = waste_inside(amount, work) + waste_beside(desk, place, work, holder=pool.idle["held"] == "holder")
    measured, shown = some(held - unmeasured), some(held) if counted else np.zeros(len(work), dtype=bool)
    return {
        "unit": pc.if_else(pa.array(shown), unit.name, pa.scalar(None, pa.string())),
        "per_unit": known(zeros(len(work)) + unit.per, shown),
        "held": known(held, shown),
        "used": known(used, shown & measured),
        "unmeasured": known(unmeasured, shown),
        "waste": known(waste * NANO, measured | some(waste), MONEY),
    }


def known(numbers: Whole, where: np.ndarray, kind: pa.DataType = WHOLE) -> pa.Array:
    return pc.if_else(pa.array(where), to_arrow(numbers, kind), None)


def waste_inside(amount: Whole, work: Valued) -> Whole:
    """Of each charge, the part that paid for what was held without use: at the same prices and weights, floored to a nano, never more than all."""
    value, wasted = abs(work.of(USED)), np.minimum(abs(work.of(WASTED)), abs(work.of(USED)))
    part: Whole = abs(amount) * wasted // np.maximum(value, 1)
    part[(amount < 0).astype(bool)] *= -1
    return part


def waste_beside(desk: Desk, place: Place, work: Valued, *, holder: bool) -> Whole:
    """The pool's idle money of the cause `held`, over the workloads that held without use: each holder's own, if the holders pay."""
    found = zeros(len(work))
    owner = work.keys["posting"] % max(1, len(desk.owners)) if holder else np.zeros(len(work), dtype=np.int64)
    rows = np.flatnonzero(some(work.of(HELD)))
    rows = rows[np.argsort(owner[rows], kind="stable")]
    if not len(rows):
        return found
    due: dict[int, int] = defaultdict(int)
    for where, nanos in desk.held.get(place, {}).items():
        due[where % len(desk.owners) if holder else 0] += nanos
    first = starts_of(owner[rows])
    whole = zeros(len(first))
    whole[:] = [due[who] for who in owner[rows][first].tolist()]
    found[rows] = share_nanos(whole, work.of(HELD)[rows], first)
    return found
