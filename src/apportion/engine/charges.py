"""Charges: what each workload owes to each pool for each day, inside what its owner's posting says. The evidence behind a posting."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import lcm

import numpy as np
import pyarrow as pa

from apportion.engine.cards import price_for
from apportion.engine.claims import WHOLE_POOL, Reach, claim
from apportion.engine.curve import COUNTED, USED, grid_of, grid_of_units, look_up
from apportion.engine.demand import UNITS
from apportion.engine.grids import measured
from apportion.engine.nanos import share_nanos
from apportion.engine.plan import Plan
from apportion.engine.pools import PoolResult
from apportion.engine.price import Market, sum_cells
from apportion.engine.setting import Setting
from apportion.engine.valued import Valued, joined, tabulated
from apportion.engine.wide import Whole, starts_of, to_arrow, zeros
from apportion.engine.workloads import Season
from apportion.model.money import NANO
from apportion.model.owner import Owner
from apportion.model.rows import CHARGES

UNKNOWN = ""
Key = tuple[str, str]  # bill, component
Posting = tuple[str, str, str, int, Owner]  # bill, component, pool, day, owner


@dataclass(frozen=True, slots=True)
class Share:
    """One pool's charges under one bill and component."""

    name: str
    result: PoolResult
    market: Market
    key: Key
    setting: Setting

    @property
    def reach(self) -> Reach:
        return self.result.reach or Reach((), (), ())


@dataclass(frozen=True, slots=True)
class Work:
    """Workloads by posting, those of one posting together and in the order of their names: each one's value, in any unit, and its units."""

    posting: np.ndarray  # day * owners + owner
    work: np.ndarray
    value: Whole
    units: Whole

    def only(self, rows: np.ndarray) -> "Work":
        return Work(self.posting[rows], self.work[rows], self.value[rows], self.units[rows])


@dataclass(frozen=True, slots=True)
class Desk:
    """What turns numbers into names: the plan's owners, days and workloads, and what is posted to each owner and day for use."""

    plan: Plan
    owners: tuple[Owner, ...]
    names: pa.Array
    posted: Mapping[tuple[str, str, str], Mapping[int, int]]  # bill, component, pool -> posting -> nanos

    def nanos(self, pool: str, key: Key) -> Mapping[int, int]:
        return self.posted.get((*key, pool), {})


def charges_of(plan: Plan) -> Iterator[pa.RecordBatch]:
    """Pool by pool, the usage postings of a plan shared by its workloads."""
    desk = desk_of(plan)
    for name, result in plan.trace.pools.items():
        if result.market is None or result.reach is None or not result.reach.resources:
            continue
        found: dict[Key, Work] = {}
        for key in sorted({column[:2] for column, _, _ in result.usage}):
            work = work_of(Share(name, result, result.market, key, plan.trace.setting), desk)
            found[key] = work.only(np.isin(work.posting, list(desk.nanos(name, key))))
        for key, work in [*found.items(), *followed(found, name, desk)]:
            yield from shared(desk, name, key, work).to_batches()


def desk_of(plan: Plan) -> Desk:
    """Money that found no use has no workload."""
    setting = plan.trace.setting
    owners = tuple(sorted({bearer.owner for bearer in setting.bearers.all}))
    place = {owner: n for n, owner in enumerate(owners)}
    days = {day: n for n, day in enumerate(setting.calendar.days)}
    posted: dict[tuple[str, str, str], dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for row in plan.postings.to_pylist():
        if row["reason"] in ("usage", "burst") and row["cause"] in ("", "no owner"):
            owner = Owner(row["cost_centre"], row["department"], row["team"], row["project"], row["user"])
            where = days[row["day"]] * len(owners) + place[owner]
            posted[row["bill"], row["component"], row["pool"]][where] += int(row["amount"].scaleb(9))
    ids = setting.workforce.ids
    return Desk(plan, owners, pa.concat_arrays([ids, pa.array([UNKNOWN], ids.type)]), posted)


def followed(found: Mapping[Key, Work], pool: str, desk: Desk) -> Iterator[tuple[Key, Work]]:
    """Tax, credits and fees in a pool follow the workloads of the same bill, day and owner."""
    for key in sorted(where[:2] for where in desk.posted if where[2] == pool):
        alone = set(desk.nanos(pool, key)) - (set(np.unique(found[key].posting).tolist()) if key in found else set())
        parts = [work.only(np.isin(work.posting, sorted(alone))) for (bill, _), work in found.items() if bill == key[0]]
        if any(len(part.posting) for part in parts):
            whole = joined([Valued({"posting": part.posting, "work": part.work}, {USED: part.value}) for part in parts])
            yield key, Work(whole.keys["posting"], whole.keys["work"], whole.sums[USED], zeros(len(whole)))


def work_of(share: Share, desk: Desk) -> Work:
    """Each workload's value by posting: only the proportions inside one posting count."""
    setting = share.setting
    rows = joined([season_rows(share, season) for season in setting.workforce.seasons])
    values = by_occupied_time(share, rows) if share.market.pool.method == "time" else rows.sums[USED]
    values = values * factors(share, rows) if share.result.weights or share.market.pool.prices else values
    place = {owner: n for n, owner in enumerate(desk.owners)}
    owner_of = np.array([place[bearer.owner] for bearer in setting.bearers.all], dtype=np.int64)
    posting = rows.keys["day"].astype(np.int64) * len(desk.owners) + owner_of[rows.keys["bearer"]]
    work = np.where(rows.keys["work"] < 0, len(desk.names) - 1, rows.keys["work"])
    summed = Valued(rows.keys, {USED: values, COUNTED: rows.sums[COUNTED]}).summed({"posting": posting, "work": work})
    return Work(summed.keys["posting"], summed.keys["work"], summed.sums[USED], summed.sums[COUNTED])


def each(find: Callable[..., int], *keys: np.ndarray) -> Whole:
    """What a function finds for every row; it is asked once about rows that are alike."""
    codes = np.ravel_multi_index(keys, [int(key.max()) + 1 for key in keys]) if len(keys[0]) else keys[0]
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    answers = zeros(len(first))
    answers[:] = [find(*place) for place in zip(*(key[first].tolist() for key in keys), strict=True)]
    found: Whole = answers[inverse]
    return found


def factors(share: Share, rows: Valued) -> Whole:
    """The weight of each row times its price by the pool's list."""
    weights = share.result.weights

    def factor(bearer: int, rate: int, day: int) -> int:
        return weights.get((bearer, rate), 1) * list_price(share, bearer, day)

    return each(factor, rows.keys["bearer"], rows.keys["rate"], rows.keys["day"])


def list_price(share: Share, bearer: int, day: int) -> int:
    """What a unit costs by the pool's price list, in whole numbers that compare; 1 where there is none."""
    pool = share.market.pool
    if pool.method != "rate_card":
        return 1
    price = price_for(pool, share.setting.bearers[bearer], share.setting.calendar.days[day])
    return int(price.price * lcm(*(listed.price.denominator for listed in pool.prices))) if price else 0


def by_occupied_time(share: Share, rows: Valued) -> Whole:
    """What a team pays for a resource on a day, by its workloads' own seconds there."""
    paid = team_days(share)
    teams = sorted({bearer.owner.team for bearer in share.setting.bearers.all})
    team_of = np.array([teams.index(bearer.owner.team) for bearer in share.setting.bearers.all], dtype=np.int64)
    units, curve = rows.sums[COUNTED], rows.keys["curve"]
    values = zeros(len(rows))
    for curves in (curve,) if not curve.any() else (curve, np.full_like(curve, WHOLE_POOL)):
        place = (curves, rows.keys["day"], team_of[rows.keys["bearer"]])
        grains = each(lambda here, day, team: paid.get((here, day, teams[team]), 0), *place)
        codes = np.ravel_multi_index(place, [int(key.max()) + 1 for key in place])
        _, inverse = np.unique(codes, return_inverse=True)
        inside = zeros(int(inverse.max()) + 1)
        np.add.at(inside, inverse, units)
        values += units * grains // inside[inverse]
    return values


def team_days(share: Share) -> dict[tuple[int, int, str], int]:
    """(curve, day, team) -> grains of one bill and component."""
    market = share.market
    out: dict[tuple[int, int, str], int] = defaultdict(int)
    for (curve, slot), columns in market.money.items():
        grains = sum(sum(days.values()) for column, days in columns.items() if column[:2] == share.key)
        occupied = sum_cells(market.demand.get(curve, {}), slot, market.calendar)
        total = sum(amounts[UNITS] for amounts in occupied.values())
        for (day, load), amounts in occupied.items():
            out[curve, day, market.bearers[load[0]].owner.team] += grains * amounts[UNITS] // total
    return out


def season_rows(share: Share, season: Season) -> Valued:
    """By work, bearer, rate, curve (for `time`) and day: units, and what they cost by the pool's prices; where it has none, for `time` and for
    price lists, the units themselves.
    """
    market, setting, priced = share.market, share.setting, share.result.priced
    claimed = claim(share.name, share.reach, season, setting)
    rows = measured(claimed, claimed.rows, market.pool, "work")
    by = ("work", "bearer", "rate", "curve") if market.pool.method == "time" else ("work", "bearer", "rate")
    if market.pool.method != "time" and priced is not None and priced.curve:
        return tabulated(look_up(rows, grid_of(market, priced, share.key), market, setting.backend, by))
    by_resource = market.pool.scope == "resource"
    curves = [n + 1 for n in share.reach.resources] if by_resource else [WHOLE_POOL]
    found = tabulated(look_up(rows, grid_of_units(curves, setting.calendar), market, setting.backend, by))
    return Valued(found.keys, {USED: found.sums[COUNTED], **found.sums})


def shared(desk: Desk, pool: str, key: Key, work: Work) -> pa.Table:
    """Every posting over its workloads, whole nanos, adding up."""
    first = starts_of(work.posting) if len(work.posting) else work.posting
    nanos = zeros(len(first))
    nanos[:] = [desk.nanos(pool, key)[posting] for posting in work.posting[first].tolist()]
    day, owner = np.divmod(work.posting, len(desk.owners))
    known = pa.array(owner)
    columns = {
        **{
            name: pa.repeat(text, len(owner))
            for name, text in zip(
                ("period", "bill", "component", "pool", "reason"),
                (str(desk.plan.period), *key, pool, "usage"),
                strict=True,
            )
        },
        **{
            name: pa.array([getattr(owner, name) for owner in desk.owners], pa.string()).take(known)
            for name in ("team", "project", "user")
        },
        "day": pa.array(desk.plan.trace.setting.calendar.days, pa.date32()).take(pa.array(day)),
        "workload": desk.names.take(pa.array(work.work)),
        "unit_seconds": to_arrow(work.units, CHARGES.field("unit_seconds").type),
        "amount": to_arrow(share_nanos(nanos, work.value, first) * NANO, CHARGES.field("amount").type),
    }
    return pa.table({name: columns[name] for name in CHARGES.names}).cast(CHARGES)
