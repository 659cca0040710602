"""Price: what one unit of a pool costs in each slot, and what that makes of every bearer's demand.

Money, demand and capacity of a slot give its price; demand times price is the charge; what the slot's capacity held beyond the demand
is idle, split by cause. Everything is whole grains: a slot's charges and idle add up to its money exactly.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

from apportion.engine.account import Account, Column, Entry, cumulative, divide_up, part_of
from apportion.engine.bearers import Bearers
from apportion.engine.boards import NO_BOARDS, Boards
from apportion.engine.calendar import Calendar, Slot
from apportion.engine.claims import WHOLE_POOL
from apportion.engine.demand import ALLOCATED, HELD, UNITS, Scale, plus, scale_of
from apportion.engine.lines import Tranche
from apportion.model.owner import Owner, system_owner
from apportion.model.rows import IDLE, RESIDUAL, UNALLOCATED
from apportion.policy.methods import SHOWS_IDLE, VALUED
from apportion.policy.pool_parts import Cause
from apportion.policy.pools import Pool

Load = tuple[int, int]  # bearer, rate
Cells = Mapping[int, Mapping[Load, list[int]]]  # cell -> load -> [units, allocated, held]
Part = tuple[Column, int, Load]  # column, day, load
Used = dict[tuple[Column, int, int], int]  # column, day, bearer -> grains
Money = Mapping[
    tuple[int, Slot], Mapping[Column, Mapping[int, int]]
]  # curve, slot -> column -> day of the money -> grains


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
    money: Money
    demand: Mapping[int, Cells]  # curve -> cells
    credited: tuple[Mapping[int, Cells], ...]
    supply: Supply
    calendar: Calendar
    bearers: Bearers
    boards: Boards = NO_BOARDS

    @property
    def scale(self) -> Scale:
        """How amounts became units."""
        return scale_of(self.pool, self.boards.fine)


@dataclass(slots=True)
class SlotPrice:
    """One step of the price curve: money / units, for those who ask why."""

    curve: int
    slot: Slot
    units: int
    demand: int
    idle: dict[Cause, Fraction]


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a Shapley value was estimated, so that anybody can draw the same orders. `errors`: standard errors in millionths of the peak."""

    seed: str
    orders: int
    errors: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Played:
    """What each team is worth beside the others, in one stretch of one curve."""

    curve: int
    slot: Slot
    values: Mapping[str, int]
    sampling: Sampling | None = None


@dataclass(slots=True)
class Priced:
    """A pool's charges before weights (`usage`), its idle money, and its price curve."""

    usage: defaultdict[Part, int] = field(default_factory=lambda: defaultdict(int))
    credited: list[defaultdict[Part, int]] = field(default_factory=list)
    idle: defaultdict[tuple[Column, int, Cause, Slot | None], int] = field(default_factory=lambda: defaultdict(int))
    held: defaultdict[tuple[Column, int, str, int], int] = field(default_factory=lambda: defaultdict(int))
    nowhere: defaultdict[tuple[Column, int], int] = field(default_factory=lambda: defaultdict(int))
    loads: defaultdict[tuple[str, str, Slot | None], defaultdict[Load, int]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(int))
    )
    unused: dict[Slot, dict[Owner, int]] = field(default_factory=dict)
    burst: defaultdict[Part, int] = field(
        default_factory=lambda: defaultdict(int)
    )  # what of `usage` is above a reservation
    bursting: dict[Slot, Mapping[str, Fraction]] = field(default_factory=dict)
    lent: defaultdict[tuple[Column, int, int], int] = field(default_factory=lambda: defaultdict(int))
    rest: defaultdict[tuple[Column, int], int] = field(default_factory=lambda: defaultdict(int))  # of bursts at a price
    users: defaultdict[Slot | None, set[int]] = field(
        default_factory=lambda: defaultdict(set)
    )  # bearers that used the pool, by the stretch over which idle is shared
    curve: Sequence[SlotPrice] = ()
    played: list[Played] = field(default_factory=list)


def slot_money(tranches: Iterable[Tranche], pool: Pool, calendar: Calendar, curve_of: Mapping[str, int]) -> Money:
    """Each tranche over the slots of its charge period, evenly by the second; whole where the method says what an hour or a team is worth."""
    kind = "period" if pool.method in VALUED else pool.slot
    out: dict[tuple[int, Slot], dict[Column, dict[int, int]]] = {}
    for tranche in tranches:
        column = Column(tranche.bill, tranche.component, tranche.family)
        curve = curve_of.get(tranche.resource, WHOLE_POOL) if pool.scope == "resource" else WHOLE_POOL
        for slot, day, grains in spread(tranche, kind, calendar):
            days = out.setdefault((curve, slot), {}).setdefault(column, {})
            days[day] = days.get(day, 0) + grains
    return dict(sorted(out.items()))


def spread(tranche: Tranche, kind: str, calendar: Calendar) -> list[tuple[Slot, int, int]]:
    """(slot, day, grains). The period slot of a line is its billing period, or its own charge period where it is billed late."""
    whole = None
    if kind == "period":
        inside = tranche.billing.start_s <= tranche.charge.start_s and tranche.charge.end_s <= tranche.billing.end_s
        whole = calendar.widen(tranche.billing if inside else tranche.charge)
    seconds: dict[tuple[Slot, int], int] = {}
    for cell, part in calendar.spread(tranche.charge):
        key = (whole or calendar.slot_of(cell, kind), calendar.day_of[cell])
        seconds[key] = seconds.get(key, 0) + part
    parts = cumulative(tranche.grains, seconds.values())
    return [(slot, day, grains) for (slot, day), grains in zip(seconds, parts, strict=True)]


def sum_cells(cells: Cells, slot: Slot, calendar: Calendar) -> dict[tuple[int, Load], list[int]]:
    """(day, load) -> [units, allocated, held] of a slot."""
    out: dict[tuple[int, Load], list[int]] = {}
    for cell in range(*slot):
        day = calendar.day_of[cell]
        for load, amounts in cells.get(cell, {}).items():
            known = out.get((day, load))
            out[day, load] = plus(known, amounts) if known else amounts
    return out


def by_team(market: Market, slot: Slot, what: int) -> defaultdict[str, int]:
    """What each team had of the whole pool: its units, or what was allocated to it."""
    found: defaultdict[str, int] = defaultdict(int)
    for (_, load), amounts in sum_cells(market.demand.get(WHOLE_POOL, {}), slot, market.calendar).items():
        found[market.bearers[load[0]].owner.team] += amounts[what]
    return found


def over(series: Mapping[int, int], slot: Slot) -> int:
    return sum(series.get(cell, 0) for cell in range(*slot))


def price_market(market: Market, priced: Priced | None = None) -> Priced:
    """Every slot of a pool, beside what is priced already."""
    priced = priced or Priced(credited=[defaultdict(int) for _ in market.credited])
    priced.curve = [price_slot(market, priced, where, columns) for where, columns in market.money.items()]
    return priced


def price_slot(
    market: Market, priced: Priced, where: tuple[int, Slot], columns: Mapping[Column, Mapping[int, int]]
) -> SlotPrice:
    curve, slot = where
    demand = sum_cells(market.demand.get(curve, {}), slot, market.calendar)
    order = sorted(
        (key for key in demand if demand[key][UNITS]),
        key=lambda key: (key[0], market.bearers.rank(key[1][0]), key[1][1]),
    )
    wanted = sum(demand[key][UNITS] for key in order)
    offered = over(market.supply.capacity.get(curve, {}), slot) if market.pool.method == "capacity_rate" else wanted
    units = max(offered, wanted)
    step = SlotPrice(curve, slot, units, wanted, idle_units(market, priced, where, demand, units - wanted))
    for column, days in columns.items():
        if units == 0:
            nothing(market, priced, slot, column, days)
            continue
        grains = sum(days.values())
        parts = [grains * demand[key][UNITS] // units for key in order]
        if units == wanted:
            parts[0] += grains - sum(parts)
        else:
            keep_idle(market, priced, (step, column, idle_by_day(days, sum(parts), step)), demand)
        for (day, load), part in zip(order, parts, strict=True):
            priced.usage[column, day, load] += part
            note_burst(market, priced, slot, (column, day, load), part)
            if market.pool.idle_slot != "period":
                priced.loads[column.bill, column.component, idle_span(market, slot)][load] += part
        for number, cells in enumerate(market.credited):
            for (day, load), amounts in sum_cells(cells.get(curve, {}), slot, market.calendar).items():
                priced.credited[number][column, day, load] += grains * amounts[UNITS] // units
    return step


def note_burst(market: Market, priced: Priced, slot: Slot, where: Part, grains: int) -> None:
    """Which part of a charge in a slot is for use above the team's reservation."""
    if market.supply.reserved:
        share = burst_shares(market, priced, slot).get(market.bearers[where[2][0]].owner.team)
        if share:
            priced.burst[where] += part_of(grains, share)


def burst_shares(market: Market, priced: Priced, slot: Slot) -> Mapping[str, Fraction]:
    """Of each team that holds a reservation: which part of what it used of the pool in the slot was above it."""
    if slot not in priced.bursting:
        used = by_team(market, slot, UNITS)
        above = {holder.team: used[holder.team] - over(cells, slot) for holder, cells in market.supply.reserved.items()}
        priced.bursting[slot] = {team: Fraction(units, used[team]) for team, units in above.items() if units > 0}
    return priced.bursting[slot]


def idle_span(market: Market, slot: Slot) -> Slot | None:
    """The stretch over which idle is collected and shared: the period, or a day or slot (never finer than the price's own slot)."""
    if market.pool.idle_slot == "period":
        return None
    by_day = market.pool.idle_slot == "day" and market.pool.slot != "period"
    return market.calendar.slot_of(slot[0], "day") if by_day else slot


def nothing(market: Market, priced: Priced, slot: Slot, column: Column, days: Mapping[int, int]) -> None:
    """Money in a slot that nobody used and whose capacity nobody stated."""
    for day, grains in days.items():
        if market.pool.method in SHOWS_IDLE:
            priced.idle[column, day, "unsold", idle_span(market, slot)] += grains
        else:
            priced.nowhere[column, day] += grains


def idle_units(
    market: Market, priced: Priced, where: tuple[int, Slot], demand: Mapping[tuple[int, Load], list[int]], idle: int
) -> dict[Cause, Fraction]:
    """Idle units by cause, in the order held, down, reserved, unsold; each takes at most what the earlier ones left.

    Where each resource has its own price, the part of its idle that is reserved is that of the whole pool.
    """
    if idle <= 0:
        return {}
    curve, slot = where
    held = min(idle, sum(amounts[HELD] for amounts in demand.values()))
    down = min(idle - held, over(market.supply.down.get(curve, {}), slot))
    rest = idle - held - down
    unused = sum(unused_reservations(market, priced, slot).values())
    whole = rest if curve == WHOLE_POOL or not unused else pool_rest(market, slot)
    reserved = Fraction(rest * min(unused, whole), whole) if whole else Fraction(0)
    return {"held": Fraction(held), "down": Fraction(down), "reserved": reserved, "unsold": rest - reserved}


def pool_rest(market: Market, slot: Slot) -> int:
    """Idle units of a whole pool that are neither held nor down."""
    whole = sum_cells(market.demand.get(WHOLE_POOL, {}), slot, market.calendar).values()
    idle = max(0, over(market.supply.capacity.get(WHOLE_POOL, {}), slot) - sum(amounts[UNITS] for amounts in whole))
    held = min(idle, sum(amounts[HELD] for amounts in whole))
    return max(0, idle - held - over(market.supply.down.get(WHOLE_POOL, {}), slot))


def unused_reservations(market: Market, priced: Priced, slot: Slot) -> dict[Owner, int]:
    """What each holder had reserved beyond what it held of the pool in the slot."""
    if not market.supply.reserved:
        return {}
    if slot not in priced.unused:
        held = by_team(market, slot, ALLOCATED)
        spare = {
            holder: over(cells, slot) - held[holder.team] for holder, cells in sorted(market.supply.reserved.items())
        }
        priced.unused[slot] = {holder: units for holder, units in spare.items() if units > 0}
    return priced.unused[slot]


def idle_by_day(days: Mapping[int, int], used: int, step: SlotPrice) -> dict[int, int]:
    """Idle money lies on the days of the money itself; the last day takes the grains that flooring left."""
    out = {day: grains * (step.units - step.demand) // step.units for day, grains in days.items()}
    out[max(out)] += sum(days.values()) - used - sum(out.values())
    return out


def keep_idle(
    market: Market,
    priced: Priced,
    idle: tuple[SlotPrice, Column, Mapping[int, int]],
    demand: Mapping[tuple[int, Load], list[int]],
) -> None:
    """Idle money of a slot (by column and day) by cause; what a holder pays goes to the holder at once."""
    step, column, days = idle
    causes = {cause: units for cause, units in step.idle.items() if units}
    below = lcm(*(units.denominator for units in causes.values()))
    weights = [int(units * below) for units in causes.values()]
    for day, grains in days.items():
        for cause, part in zip(causes, divide_up(grains, weights, sum(weights)), strict=True):
            if market.pool.idle[cause] != "holder":
                priced.idle[column, day, cause, idle_span(market, step.slot)] += part
                continue
            holders = holders_of(market, priced, cause, step.slot, demand)
            for bearer, share in zip(holders, divide_up(part, holders.values(), sum(holders.values())), strict=True):
                priced.held[column, day, cause, bearer] += share


def holders_of(
    market: Market, priced: Priced, cause: Cause, slot: Slot, demand: Mapping[tuple[int, Load], list[int]]
) -> dict[int, int]:
    """Who held or reserved the idle units, by how many."""
    out: dict[int, int] = {}
    if cause == "held":
        for (_, load), amounts in demand.items():
            if amounts[HELD]:
                owner = market.bearers.owner_of(load[0])
                out[owner] = out.get(owner, 0) + amounts[HELD]
        return dict(sorted(out.items(), key=lambda item: market.bearers.rank(item[0])))
    return {market.bearers.number(holder): units for holder, units in unused_reservations(market, priced, slot).items()}


def system_entry(column: Column, pool: str, day: int, cause: str, bearers: Bearers) -> Entry:
    """`_idle` for idle money, `_unallocated` for money that found nobody."""
    name, reason = (IDLE, "idle") if cause in ("unsold", "reserved", "held", "down") else (UNALLOCATED, "usage")
    return Entry(column, pool, day, reason, cause, bearers.number(system_owner(name)))


def settle_account(market: Market, priced: Priced, usage: Used, burst: Used) -> Account:
    """A pool's account so far: usage and bursts by bearer (weights done), holders' idle and credits, and money that found nobody."""
    account = Account()
    for (column, day, bearer), grains in usage.items():
        cause = "no owner" if market.bearers[bearer].owner.team == UNALLOCATED else ""
        entry, above = Entry(column, market.name, day, "usage", cause, bearer), burst.get((column, day, bearer), 0)
        account.add(entry, grains - above)
        account.add(entry._replace(reason="burst"), above)
    for (column, day, bearer), grains in priced.lent.items():
        account.add(Entry(column, market.name, day, "credit", "lent", bearer), grains)
    residual = market.bearers.number(system_owner(RESIDUAL))
    for (column, day), grains in priced.rest.items():
        account.add(Entry(column, market.name, day, "recovery", "", residual), grains)
    for (column, day, cause, bearer), grains in priced.held.items():
        account.add(Entry(column, market.name, day, "idle", cause, bearer), grains)
    for (column, day), grains in priced.nowhere.items():
        account.add(system_entry(column, market.name, day, "no demand", market.bearers), grains)
    return account
