"""Bursts, measured: what each team used above its reservation, and how much of a team's charge is for the bursts of others.

One price for a whole pool is also the price of the nodes that were started for somebody's burst. Of each slot we ask what a unit would have cost
without the nodes that only bursting teams used; what it cost more, times what a team used elsewhere, is what it paid for those others. Where every
resource has a price of its own, nobody does.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import ibis
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.calendar import HOUR_S, Slot
from apportion.engine.claims import WHOLE_POOL, Reach, claim
from apportion.engine.demand import UNITS, WIDE
from apportion.engine.grids import measured
from apportion.engine.lines import Tranche
from apportion.engine.markets import read_demand
from apportion.engine.plan import Plan
from apportion.engine.pools import PoolResult
from apportion.engine.price import Market, Priced, over, spread, sum_cells
from apportion.engine.setting import Setting
from apportion.engine.supply import integrate_supply, read_levels
from apportion.model.money import GRAIN, to_grains
from apportion.model.times import Interval

ONE_PRICE = ("proportional", "capacity_rate", "two_part")
Use = dict[int, dict[str, int]]  # curve -> team -> unit-seconds
Costs = dict[tuple[int, Slot], dict[str, int]]  # curve, slot -> currency -> grains


@dataclass(frozen=True, slots=True)
class Burst:
    """A team in a pool: unit-hours above its reservation, in how many slots, and by currency what of its charge is for others' bursts."""

    pool: str
    team: str
    unit_hours: Fraction
    slots: int
    for_others: Mapping[str, Fraction]


def bursts_of(plan: Plan, cost_lines: pa.Table) -> Iterator[Burst]:
    """Of every pool in which somebody used more than it had reserved; by pool and team."""
    for name, result in sorted(plan.trace.pools.items()):
        market, priced = result.market, result.priced
        if market is None or priced is None or result.reach is None or not any(priced.bursting.values()):
            continue
        setting = plan.trace.setting.with_pools({name: market.pool.model_copy(update={"scope": "resource"})})
        slots = sorted(slot for slot, shares in priced.bursting.items() if shares)
        use = (
            counted_use(market, result.reach, setting, slots)
            if market.boards
            else use_of(name, result.reach, setting, slots)
        )
        paid: Mapping[str, Mapping[str, Fraction]] = {}
        if market.pool.scope == "pool" and market.pool.method in ONE_PRICE:
            placed = plan.trace.lines
            lines = cost_lines.append_column("currency", placed.currencies()).append_column("amount", placed.amounts)
            costs = costs_of(lines.filter(pc.equal(placed.pool_of, name)), setting, market)
            paid = paid_for_others(Shared(market, priced, result.reach, setting), use, costs)
        yield from team_bursts(name, result, use, paid)


def team_bursts(
    name: str, result: PoolResult, use: Mapping[Slot, Use], paid: Mapping[str, Mapping[str, Fraction]]
) -> Iterator[Burst]:
    market, priced = result.market, result.priced
    if market is None or priced is None:
        return
    hours = market.scale.natural / HOUR_S
    above: dict[str, list[Fraction]] = defaultdict(list)
    for slot, here in use.items():
        for team, share in priced.bursting[slot].items():
            above[team].append(share * sum(teams.get(team, 0) for teams in here.values()))
    for team in sorted({*above, *paid}):
        yield Burst(name, team, sum(above[team], Fraction(0)) * hours, len(above[team]), paid.get(team, {}))


def use_of(name: str, reach: Reach, setting: Setting, slots: list[Slot]) -> dict[Slot, Use]:
    """Unit-seconds by slot, resource and team."""
    calendar, backend = setting.calendar, setting.backend
    found: dict[Slot, Use] = {slot: defaultdict(lambda: defaultdict(int)) for slot in slots}
    lent = backend.lend(pa.table({
        "number": pa.array(range(len(slots)), pa.int64()),
        "first_s": pa.array([calendar.interval(slot).start_s for slot in slots], pa.int64()),
        "last_s": pa.array([calendar.interval(slot).end_s for slot in slots], pa.int64()),
    }))  # fmt: skip
    for season in setting.workforce.seasons:
        claimed = claim(name, reach, season, setting)
        rows = measured(claimed, claimed.rows, setting.policy.pools[name])
        rows = rows.join(lent, [rows.start_s < lent.last_s, rows.end_s > lent.first_s])
        seconds = ibis.least(rows.end_s, rows.last_s) - ibis.greatest(rows.start_s, rows.first_s)
        rows = rows.mutate(amount=rows.units.cast(WIDE) * seconds.cast(WIDE))
        sums = rows.group_by("number", "curve", "bearer").aggregate(amount=rows.amount.sum().cast(WIDE)).to_pyarrow()
        for row in sums.to_pylist():
            team = setting.bearers[row["bearer"]].owner.team
            found[slots[row["number"]]][row["curve"]][team] += int(row["amount"])
    return found


def counted_use(market: Market, reach: Reach, setting: Setting, slots: list[Slot]) -> dict[Slot, Use]:
    """The same where less counts than was asked for."""
    demand = read_demand(market.name, reach, setting, replace(market.boards, by_resource=True)).demand
    found: dict[Slot, Use] = {slot: defaultdict(lambda: defaultdict(int)) for slot in slots}
    for slot, use in found.items():
        for curve in demand.keys() - {WHOLE_POOL}:
            for (_, load), amounts in sum_cells(demand[curve], slot, setting.calendar).items():
                use[curve][setting.bearers[load[0]].owner.team] += amounts[UNITS]
    return found


def costs_of(lines: pa.Table, setting: Setting, market: Market) -> Costs:
    """Money of the lines that name a resource, by resource, slot and currency."""
    numbers = {resource: n + 1 for n, resource in enumerate(setting.encoded.resources)}
    out: Costs = defaultdict(lambda: defaultdict(int))
    names = ("charge_start_s", "charge_end_s", "billing_start_s", "billing_end_s", "ResourceId", "ResourceName")
    for row in lines.select([*names, "currency", "amount"]).to_pylist():
        curve = numbers.get(row["ResourceId"]) or numbers.get(row["ResourceName"])
        if curve is None:
            continue
        charge, billing = (Interval(row[f"{name}_start_s"], row[f"{name}_end_s"]) for name in ("charge", "billing"))
        tranche = Tranche("", "", "", -1, "", charge, billing, (), to_grains(row["amount"]))
        for slot, _, grains in spread(tranche, market.pool.slot, market.calendar):
            out[curve, slot][row["currency"]] += grains
    return out


@dataclass(frozen=True, slots=True)
class Shared:
    """A pool with one price, beside the setting in which its resources are told apart."""

    market: Market
    priced: Priced
    reach: Reach
    setting: Setting


def paid_for_others(pool: Shared, use: Mapping[Slot, Use], costs: Costs) -> dict[str, dict[str, Fraction]]:
    """Team -> currency -> what of its charge is for nodes that only other, bursting teams used."""
    out: dict[str, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    offered = capacity_by_curve(pool)
    for step in pool.priced.curve:
        here = use.get(step.slot, {})
        bursting = set(pool.priced.bursting.get(step.slot, ()))
        started = {
            n: teams for n, teams in here.items() if {team for team, units in teams.items() if units} <= bursting
        }
        taken = sum(sum(teams.values()) for teams in started.values())
        if not taken:
            continue
        there = sum(over(offered.get(n, {}), step.slot) for n in started)
        left = step.units - (taken if pool.market.pool.method == "proportional" else max(taken, there))
        for currency, money in currencies_of(pool, step.slot).items():
            without = money - sum(costs[n, step.slot][currency] for n in started)
            extra = Fraction(money, step.units) - Fraction(without, left) if left > 0 else Fraction(0)
            if extra <= 0:
                continue
            for team in {team for teams in here.values() for team in teams}:
                own = sum(teams.get(team, 0) for teams in started.values())
                elsewhere = sum(teams.get(team, 0) for teams in here.values()) - own
                out[team][currency] += elsewhere * extra * Fraction(taken - own, taken) / GRAIN
    return {
        team: {key: part for key, part in parts.items() if part} for team, parts in out.items() if any(parts.values())
    }


def capacity_by_curve(pool: Shared) -> dict[int, Mapping[int, int]]:
    levels = read_levels(pool.market.name, pool.reach, set(), pool.setting)
    return dict(integrate_supply(levels, pool.setting.calendar, pool.market.boards.fine).capacity)


def currencies_of(pool: Shared, slot: Slot) -> dict[str, int]:
    out: dict[str, int] = defaultdict(int)
    for column, days in pool.market.money[WHOLE_POOL, slot].items():
        out[pool.setting.currencies[column.bill]] += sum(days.values())
    return out
