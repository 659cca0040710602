"""Charges: what each workload owes to each pool for each day, inside what its owner's posting says. The evidence behind a posting."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import lcm
from typing import Any

import pyarrow as pa

from apportion.engine.cards import price_for
from apportion.engine.claims import WHOLE_POOL, Reach, claim
from apportion.engine.curve import COUNTED, USED, grid_of, grid_of_units, value_rows
from apportion.engine.demand import UNITS
from apportion.engine.grids import measured
from apportion.engine.plan import Plan
from apportion.engine.pools import PoolResult
from apportion.engine.price import Market, sum_cells
from apportion.engine.setting import Setting
from apportion.engine.workloads import Season
from apportion.model.money import GRAINS_PER_NANO, from_nanos, round_children, share
from apportion.model.owner import Owner
from apportion.model.rows import CHARGES

UNKNOWN = ""
Posting = tuple[str, str, str, int, Owner]  # bill, component, pool, day, owner
Value = dict[str, list[int]]  # workload -> [value, units]


@dataclass(frozen=True, slots=True)
class Share:
    """One pool's charges under one bill and component."""

    name: str
    result: PoolResult
    market: Market
    key: tuple[str, str]
    setting: Setting

    @property
    def reach(self) -> Reach:
        return self.result.reach or Reach((), (), ())


def charges_of(plan: Plan) -> Iterator[pa.RecordBatch]:
    """Pool by pool, the usage postings of a plan shared by its workloads."""
    nanos = usage_nanos(plan)
    for name, result in plan.trace.pools.items():
        if result.market is None or result.reach is None or not result.reach.resources:
            continue
        direct: dict[Posting, Value] = {}
        for key in sorted({column[:2] for column, _, _ in result.usage}):
            direct |= workload_values(Share(name, result, result.market, key, plan.trace.setting))
        found = {posting: works for posting, works in direct.items() if posting in nanos}
        found |= followed(found, [posting for posting in nanos if posting[2] == name and posting not in found])
        rows = [row for posting, works in found.items() for row in shared(plan, posting, nanos[posting], works)]
        yield from pa.Table.from_pylist(rows, schema=CHARGES).to_batches()


def followed(found: Mapping[Posting, Value], postings: list[Posting]) -> dict[Posting, Value]:
    """Tax, credits and fees in a pool follow the workloads of the same bill, day and owner."""
    works: dict[tuple[str, int, Owner], Value] = defaultdict(dict)
    for (bill, _, _, day, owner), values in found.items():
        here = works[bill, day, owner]
        for name, (value, _) in values.items():
            here[name] = [here.get(name, [0])[0] + value, 0]
    return {
        posting: works[posting[0], posting[3], posting[4]]
        for posting in postings
        if works[posting[0], posting[3], posting[4]]
    }


def usage_nanos(plan: Plan) -> dict[Posting, int]:
    """What was posted for use, bursts included, by pool, day and owner; money that found no use has no workload."""
    days = {day: n for n, day in enumerate(plan.trace.setting.calendar.days)}
    out: dict[Posting, int] = defaultdict(int)
    for row in plan.postings.to_pylist():
        if row["reason"] in ("usage", "burst") and row["cause"] in ("", "no owner"):
            owner = Owner(row["cost_centre"], row["department"], row["team"], row["project"], row["user"])
            out[row["bill"], row["component"], row["pool"], days[row["day"]], owner] += int(row["amount"].scaleb(9))
    return out


def workload_values(share: Share) -> dict[Posting, Value]:
    """Each workload's value, in any unit, by posting: only the proportions inside one posting count."""
    out: dict[Posting, Value] = defaultdict(dict)
    setting, result = share.setting, share.result
    works = setting.workforce.ids
    for season in setting.workforce.seasons:
        first, last = (setting.calendar.cell(second) for second in (season.interval.start_s, season.interval.end_s))
        days = set(setting.calendar.day_of[first:last])
        rows = season_rows(share, season)
        for row in by_occupied_time(share, rows) if share.market.pool.method == "time" else rows:
            if row["day"] in days:
                posting = (*share.key, share.name, row["day"], setting.bearers[row["bearer"]].owner)
                work = works[row["work"]].as_py() if row["work"] >= 0 else UNKNOWN
                value = out[posting].setdefault(work, [0, 0])
                factor = result.weights.get((row["bearer"], row["rate"]), 1) * list_price(
                    share, row["bearer"], row["day"]
                )
                value[0] += int(row["value"]) * factor
                value[1] += int(row["units"])
    return out


def list_price(share: Share, bearer: int, day: int) -> int:
    """What a unit costs by the pool's price list, in whole numbers that compare; 1 where there is none."""
    pool = share.market.pool
    if pool.method != "rate_card":
        return 1
    price = price_for(pool, share.setting.bearers[bearer], share.setting.calendar.days[day])
    return int(price.price * lcm(*(listed.price.denominator for listed in pool.prices))) if price else 0


def by_occupied_time(share: Share, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a team pays for a resource on a day, by its workloads' own seconds there."""
    paid = team_days(share)
    curves = {row["curve"]: {row["curve"], WHOLE_POOL} for row in rows}
    teams = [share.setting.bearers[row["bearer"]].owner.team for row in rows]
    inside: dict[tuple[int, int, str], int] = defaultdict(int)
    for row, team in zip(rows, teams, strict=True):
        for curve in curves[row["curve"]]:
            inside[curve, row["day"], team] += int(row["units"])
    for row, team in zip(rows, teams, strict=True):
        places = [(curve, row["day"], team) for curve in curves[row["curve"]]]
        row["value"] = sum(int(row["units"]) * paid.get(place, 0) // inside[place] for place in places)
    return rows


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


def season_rows(share: Share, season: Season) -> list[dict[str, Any]]:
    """(work, bearer, rate, curve, day, units, value): by the pool's prices, or by the units alone where there are none, for `time` and for price lists."""
    market, setting, priced = share.market, share.setting, share.result.priced
    claimed = claim(share.name, share.reach, season, setting)
    rows = measured(claimed, claimed.rows, market.pool, "work")
    if market.pool.method != "time" and priced is not None and priced.curve:
        grid, value = grid_of(market, priced, share.key), USED
    else:
        by_resource = market.pool.scope == "resource"
        curves = [n + 1 for n in share.reach.resources] if by_resource else [WHOLE_POOL]
        grid, value = grid_of_units(curves, setting.calendar), COUNTED
    by = ("work", "bearer", "rate", "curve")
    found = value_rows(rows, grid, market, setting.backend, by)
    return [
        dict(zip((*by, "day"), key, strict=True)) | {"value": values.get(value, 0), "units": values.get(COUNTED, 0)}
        for key, values in found.items()
    ]


def shared(plan: Plan, posting: Posting, nanos: int, works: Mapping[str, list[int]]) -> Iterator[dict[str, object]]:
    """One posting over its workloads, whole nanos, adding up."""
    bill, component, pool, day, owner = posting
    names = sorted(works, key=str.encode)
    parts = nano_shares(nanos, [works[name][0] for name in names], names)
    for name, part in zip(names, parts, strict=True):
        yield {
            "period": str(plan.period), "bill": bill, "component": component, "pool": pool, "day": plan.trace.setting.calendar.days[day],
            "reason": "usage", "team": owner.team, "project": owner.project, "user": owner.user, "workload": name,
            "unit_seconds": Decimal(works[name][1]), "amount": from_nanos(part),
        }  # fmt: skip


def nano_shares(nanos: int, values: list[int], names: list[str]) -> list[int]:
    whole = sum(values)
    if whole and min(values) >= 0:
        return share(nanos, values, names)
    if whole and max(values) <= 0:
        return share(nanos, [-value for value in values], names)
    if not whole:
        return [nanos, *(0 for _ in names[1:])]
    exact = [nanos * GRAINS_PER_NANO * value // whole for value in values]
    exact[-1] += nanos * GRAINS_PER_NANO - sum(exact)
    return round_children(nanos, exact, GRAINS_PER_NANO, names)
