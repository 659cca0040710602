"""Price: what one unit of a pool costs in each slot, and what that makes of every bearer's demand.

Money, demand and capacity of a slot give its price; demand times price is the charge; what the slot's capacity held beyond the demand
is idle, split by cause. Everything is whole grains: a slot's charges and idle add up to its money exactly.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from apportion.engine.account import Account, Column, Entry, cumulative, divide_up
from apportion.engine.bearers import Bearers
from apportion.engine.calendar import Calendar, Slot
from apportion.engine.claims import WHOLE_POOL
from apportion.engine.demand import ALLOCATED, HELD, UNITS
from apportion.engine.lines import Tranche
from apportion.model.owner import Owner, system_owner
from apportion.model.rows import IDLE, UNALLOCATED
from apportion.model.times import Interval
from apportion.policy.pools import Pool

Load = tuple[int, int]  # bearer, rate
Cells = Mapping[int, Mapping[Load, list[int]]]  # cell -> load -> [units, allocated, held]
Part = tuple[Column, int, Load]  # column, day, load


@dataclass(frozen=True, slots=True)
class Supply:
    """Unit-seconds per cell: capacity in all states, the part of it that was not up, and what each team had reserved."""

    capacity: Mapping[int, Mapping[int, int]]  # curve -> cell -> units
    down: Mapping[int, Mapping[int, int]]
    reserved: Mapping[Owner, Mapping[int, int]]  # holder -> cell -> units


@dataclass(frozen=True, slots=True)
class Market:
    """All that forms a pool's prices. `credited[n]` is the demand that credit rule n gives back."""

    name: str
    pool: Pool
    money: Mapping[tuple[int, Slot], Mapping[Column, int]]
    demand: Mapping[int, Cells]  # curve -> cells
    credited: tuple[Mapping[int, Cells], ...]
    supply: Supply
    calendar: Calendar
    bearers: Bearers


@dataclass(slots=True)
class SlotPrice:
    """One step of the price curve: money / units, for those who ask why."""

    curve: int
    slot: Slot
    units: int
    demand: int
    idle: dict[str, int]


@dataclass(slots=True)
class Priced:
    """A pool's charges before weights (`usage`), its idle money, and its price curve."""

    usage: defaultdict[Part, int] = field(default_factory=lambda: defaultdict(int))
    credited: list[defaultdict[Part, int]] = field(default_factory=list)
    idle: defaultdict[tuple[Column, int, str, Slot], int] = field(default_factory=lambda: defaultdict(int))
    held: defaultdict[tuple[Column, int, str, int], int] = field(default_factory=lambda: defaultdict(int))
    nowhere: defaultdict[tuple[Column, int], int] = field(default_factory=lambda: defaultdict(int))
    loads: dict[Slot, dict[int, int]] = field(default_factory=dict)
    unused: dict[Slot, dict[Owner, int]] = field(default_factory=dict)
    curve: list[SlotPrice] = field(default_factory=list)


def slot_money(
    tranches: Iterable[Tranche], pool: Pool, calendar: Calendar, curve_of: Mapping[str, int]
) -> dict[tuple[int, Slot], dict[Column, int]]:
    """Each tranche over the slots of its charge period, evenly by the second."""
    out: dict[tuple[int, Slot], dict[Column, int]] = defaultdict(lambda: defaultdict(int))
    for tranche in tranches:
        column = Column(tranche.bill, tranche.component, tranche.family)
        curve = curve_of.get(tranche.resource, WHOLE_POOL) if pool.scope == "resource" else WHOLE_POOL
        for slot, grains in spread(tranche, pool.slot, calendar):
            out[curve, slot][column] += grains
    return {key: dict(columns) for key, columns in sorted(out.items())}


def spread(tranche: Tranche, kind: str, calendar: Calendar) -> list[tuple[Slot, int]]:
    """(slot, grains). The period slot of a line is its billing period, or its own charge period where it is billed late."""
    if kind == "period":
        inside = tranche.billing.start_s <= tranche.charge.start_s and tranche.charge.end_s <= tranche.billing.end_s
        return [(calendar.widen(tranche.billing if inside else tranche.charge), tranche.grains)]
    seconds: dict[Slot, int] = {}
    for cell, part in calendar.spread(tranche.charge):
        slot = calendar.slot_of(cell, kind)
        seconds[slot] = seconds.get(slot, 0) + part
    return list(zip(seconds, cumulative(tranche.grains, seconds.values()), strict=True))


def sum_cells(cells: Cells, slot: Slot, calendar: Calendar) -> dict[tuple[int, Load], list[int]]:
    """(day, load) -> [units, allocated, held] of a slot."""
    out: dict[tuple[int, Load], list[int]] = {}
    for cell in range(*slot):
        day = calendar.day_of[cell]
        for load, amounts in cells.get(cell, {}).items():
            known = out.get((day, load))
            out[day, load] = [known[n] + amounts[n] for n in range(3)] if known else amounts
    return out


def over(series: Mapping[int, int], slot: Slot) -> int:
    return sum(series.get(cell, 0) for cell in range(*slot))


def price_market(market: Market) -> Priced:
    """Every slot of a pool."""
    priced = Priced(credited=[defaultdict(int) for _ in market.credited])
    demands: dict[tuple[int, Slot], dict[tuple[int, Load], list[int]]] = {}
    for (curve, slot), columns in market.money.items():
        demand = demands.setdefault((curve, slot), sum_cells(market.demand.get(curve, {}), slot, market.calendar))
        price_slot(market, priced, (curve, slot), columns, demand)
    return priced


def price_slot(
    market: Market, priced: Priced, where: tuple[int, Slot], columns: Mapping[Column, int], demand: dict[tuple[int, Load], list[int]]
) -> None:
    curve, slot = where
    bearers = market.bearers
    order = sorted((key for key in demand if demand[key][UNITS]), key=lambda key: (key[0], bearers[key[1][0]], key[1][1]))
    wanted = sum(demand[key][UNITS] for key in order)
    offered = over(market.supply.capacity.get(curve, {}), slot) if market.pool.method == "capacity_rate" else wanted
    units = max(offered, wanted)
    idle = idle_units(market, priced, where, demand, units - wanted) if units > wanted else {}
    priced.curve.append(SlotPrice(curve, slot, units, wanted, idle))
    if units == 0:
        for column, grains in columns.items():
            nothing(market, priced, slot, column, grains)
        return
    note_load(market, priced, slot, demand)
    for column, grains in columns.items():
        parts = [grains * demand[key][UNITS] // units for key in order]
        rest = grains - sum(parts)
        if not idle:
            parts[-1] += rest
        for (day, load), part in zip(order, parts, strict=True):
            priced.usage[column, day, load] += part
        if idle:
            keep_idle(market, priced, where, column, rest, demand)
    for number, cells in enumerate(market.credited):
        for (day, load), amounts in sum_cells(cells.get(curve, {}), slot, market.calendar).items():
            for column, grains in columns.items():
                priced.credited[number][column, day, load] += grains * amounts[UNITS] // units


def nothing(market: Market, priced: Priced, slot: Slot, column: Column, grains: int) -> None:
    """Money in a slot that nobody used and whose capacity nobody stated."""
    days = market.calendar.seconds_by_day(slot)
    for (day, _), part in zip(days, cumulative(grains, [cells for _, cells in days]), strict=True):
        if market.pool.method == "capacity_rate":
            priced.idle[column, day, "unsold", slot] += part
        else:
            priced.nowhere[column, day] += part


def note_load(market: Market, priced: Priced, slot: Slot, demand: Mapping[tuple[int, Load], list[int]]) -> None:
    """Who ran in a slot, for policies that share a slot's idle by the slot's own use."""
    if market.pool.idle_slot == "period":
        return
    loads = priced.loads.setdefault(slot, {})
    for (_, load), amounts in demand.items():
        loads[load[0]] = loads.get(load[0], 0) + amounts[UNITS]


def idle_units(market: Market, priced: Priced, where: tuple[int, Slot], demand: Mapping[tuple[int, Load], list[int]], idle: int) -> dict[str, int]:
    """Idle units by cause, in the order held, down, reserved, unsold; each takes at most what the earlier ones left."""
    curve, slot = where
    held = min(idle, sum(amounts[HELD] for amounts in demand.values()))
    down = min(idle - held, over(market.supply.down.get(curve, {}), slot))
    rest = idle - held - down
    reserved = 0
    unused = sum(unused_reservations(market, priced, slot).values())
    if rest and unused:
        whole = rest if curve == WHOLE_POOL else pool_rest(market, slot)
        reserved = rest * min(unused, whole) // whole if whole else 0
    return {"held": held, "down": down, "reserved": reserved, "unsold": rest - reserved}


def pool_rest(market: Market, slot: Slot) -> int:
    """Idle units of a whole pool that are neither held nor down, where each resource has its own price."""
    whole = sum_cells(market.demand.get(WHOLE_POOL, {}), slot, market.calendar).values()
    idle = over(market.supply.capacity.get(WHOLE_POOL, {}), slot) - sum(amounts[UNITS] for amounts in whole)
    held = min(max(0, idle), sum(amounts[HELD] for amounts in whole))
    return max(0, idle - held - over(market.supply.down.get(WHOLE_POOL, {}), slot))


def unused_reservations(market: Market, priced: Priced, slot: Slot) -> dict[Owner, int]:
    """What each holder had reserved beyond what it held of the pool in the slot."""
    if slot not in priced.unused:
        held: dict[str, int] = defaultdict(int)
        for (_, load), amounts in sum_cells(market.demand.get(WHOLE_POOL, {}), slot, market.calendar).items():
            held[market.bearers[load[0]].owner.team] += amounts[ALLOCATED]
        spare = {holder: over(cells, slot) - held[holder.team] for holder, cells in sorted(market.supply.reserved.items())}
        priced.unused[slot] = {holder: units for holder, units in spare.items() if units > 0}
    return priced.unused[slot]


def keep_idle(
    market: Market, priced: Priced, where: tuple[int, Slot], column: Column, grains: int, demand: Mapping[tuple[int, Load], list[int]]
) -> None:
    """Idle money of a slot by cause and day; what a holder pays goes to the holder at once."""
    slot = where[1]
    causes = {cause: units for cause, units in priced.curve[-1].idle.items() if units}
    days = market.calendar.seconds_by_day(slot)
    for cause, money in zip(causes, divide_up(grains, causes.values(), sum(causes.values())), strict=True):
        for (day, _), part in zip(days, cumulative(money, [cells for _, cells in days]), strict=True):
            if market.pool.idle[cause] != "holder":
                priced.idle[column, day, cause, slot] += part
                continue
            holders = holders_of(market, priced, cause, slot, demand)
            for bearer, share in zip(holders, divide_up(part, holders.values(), sum(holders.values())), strict=True):
                priced.held[column, day, cause, bearer] += share


def holders_of(
    market: Market, priced: Priced, cause: str, slot: Slot, demand: Mapping[tuple[int, Load], list[int]]
) -> dict[int, int]:
    """Who held or reserved the idle units, by how many."""
    out: dict[int, int] = {}
    if cause == "held":
        for (_, load), amounts in demand.items():
            if amounts[HELD]:
                out[load[0]] = out.get(load[0], 0) + amounts[HELD]
        return dict(sorted(out.items(), key=lambda item: market.bearers[item[0]]))
    return {market.bearers.number(holder): units for holder, units in unused_reservations(market, priced, slot).items()}


def system_entry(column: Column, pool: str, day: int, cause: str, bearers: Bearers) -> Entry:
    """`_idle` for idle money, `_unallocated` for money that found nobody."""
    name, reason = (IDLE, "idle") if cause in ("unsold", "reserved", "held", "down") else (UNALLOCATED, "usage")
    return Entry(column, pool, day, reason, cause, bearers.number(system_owner(name)))


def window_of(tranches: Iterable[Tranche]) -> Interval | None:
    """The hull of every charge and billing period."""
    found = [interval for tranche in tranches for interval in (tranche.charge, tranche.billing)]
    if not found:
        return None
    return Interval(min(interval.start_s for interval in found), max(max(interval.end_s, interval.start_s + 1) for interval in found))


def settle_account(market: Market, priced: Priced, usage: Mapping[tuple[Column, int, int], int]) -> Account:
    """A pool's account so far: usage by bearer (weights done), holders' idle, and money that found nobody."""
    account = Account()
    for (column, day, bearer), grains in usage.items():
        cause = "no owner" if market.bearers[bearer].owner.team == UNALLOCATED else ""
        account.add(Entry(column, market.name, day, "usage", cause, bearer), grains)
    for (column, day, cause, bearer), grains in priced.held.items():
        account.add(Entry(column, market.name, day, "idle", cause, bearer), grains)
    for (column, day), grains in priced.nowhere.items():
        account.add(system_entry(column, market.name, day, "no demand", market.bearers), grains)
    return account
