"""Methods that say what an hour is worth: a period's money is laid on its slots by the worth of each, and shared there by demand.

`coincident_peak`: the k fullest slots are worth their demand, the others nothing. `temporal_shapley`: a slot is worth what it adds to the
peak (the airport game of slot totals). `time_of_use`: a slot is worth its demand times the weight of its time of day.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from math import lcm
from zoneinfo import ZoneInfo

from apportion.engine.account import Column, cumulative
from apportion.engine.calendar import Calendar, Slot
from apportion.engine.demand import UNITS
from apportion.engine.price import Cells, Market, Priced, over, price_market
from apportion.policy.pools import Pool

Days = Mapping[int, int]


def price_hours(market: Market, zone: ZoneInfo) -> tuple[Market, Priced]:
    """`market.money` lies on whole periods; it comes back on their slots."""
    priced = Priced(credited=[defaultdict(int) for _ in market.credited])
    money: defaultdict[tuple[int, Slot], defaultdict[Column, defaultdict[int, int]]] = defaultdict(
        lambda: defaultdict(lambda: defaultdict(int))
    )
    for (curve, period), columns in market.money.items():
        slots = slots_of(period, market.pool, market.calendar)
        totals = totals_of(market.demand.get(curve, {}), slots)
        worth = worth_of(market.pool)(totals, [local_start(slot, market.calendar, zone) for slot in slots])
        room = headroom(market, curve, slots, max(totals, default=0))
        for column, days in columns.items():
            left = keep_unused(priced, column, days, room)
            for slot, part in laid_out(priced, column, left, dict(zip(slots, worth, strict=True))):
                money[curve, slot][column][market.calendar.day_of[slot[0]]] += part
    market = replace(market, money=dict(sorted(money.items())))
    return market, price_market(market, priced)


def laid_out(priced: Priced, column: Column, days: Days, worth: Mapping[Slot, int]) -> Iterator[tuple[Slot, int]]:
    """Money on slots by their worth; nowhere, if none has any."""
    if not any(worth.values()):
        keep_nowhere(priced, column, days)
        return
    for slot, part in zip(worth, cumulative(sum(days.values()), worth.values()), strict=True):
        if part:
            yield slot, part


def slots_of(period: Slot, pool: Pool, calendar: Calendar) -> list[Slot]:
    """The hours or days of a stretch of cells, clipped to it."""
    found: list[Slot] = []
    cell = period[0]
    while cell < period[1]:
        found.append((cell, min(calendar.slot_of(cell, pool.slot)[1], period[1])))
        cell = found[-1][1]
    return found


def totals_of(cells: Cells, slots: Sequence[Slot]) -> list[int]:
    units = {cell: sum(amounts[UNITS] for amounts in loads.values()) for cell, loads in cells.items()}
    return [over(units, slot) for slot in slots]


def local_start(slot: Slot, calendar: Calendar, zone: ZoneInfo) -> datetime:
    return datetime.fromtimestamp(calendar.interval(slot).start_s, zone)


def worth_of(pool: Pool) -> Callable[[Sequence[int], Sequence[datetime]], list[int]]:
    """What each slot is worth beside the others, in whole numbers: from its total demand, or from its local time."""
    if pool.method == "coincident_peak":
        return lambda totals, _: fullest(totals, pool.k)
    if pool.method == "temporal_shapley":
        return lambda totals, _: added(totals, weighted=pool.weighted)
    return lambda totals, starts: timed(totals, starts, pool)


def fullest(totals: Sequence[int], count: int) -> list[int]:
    """The `count` fullest slots by their demand. Slots that tie for the last of those places share them equally."""
    count = min(count, len(totals))
    last = sorted(totals, reverse=True)[count - 1]
    above, tied = sum(total > last for total in totals), sum(total == last for total in totals)
    return [total * (tied if total > last else (count - above) if total == last else 0) for total in totals]


def added(totals: Sequence[int], *, weighted: bool) -> list[int]:
    """Each step up to the peak is paid in equal parts by all slots that need it, times one factor; by their demand, too, if `weighted`."""
    counts, needing = Counter(totals), sum(total > 0 for total in totals)
    factor = lcm(*range(1, len(totals) + 1))
    value, values = 0, {0: 0}
    for lower, level in pairwise(sorted({0, *counts})):
        value += (level - lower) * (factor // needing)
        values[level] = value
        needing -= counts[level]
    return [values[total] * (total if weighted else 1) for total in totals]


def timed(totals: Sequence[int], starts: Sequence[datetime], pool: Pool) -> list[int]:
    weights = [pool.weight_at(start) for start in starts]
    below = lcm(*(weight.denominator for weight in weights))
    return [total * int(weight * below) for total, weight in zip(totals, weights, strict=True)]


def headroom(market: Market, curve: int, slots: Sequence[Slot], peak: int) -> tuple[int, int]:
    """What capacity stood above the peak, out of how much: nothing where no capacity is stated, or hours have their own price."""
    stated = max((over(market.supply.capacity.get(curve, {}), slot) for slot in slots), default=0)
    offered = max(stated, peak) if market.pool.method != "time_of_use" else peak
    return offered - peak, max(offered, 1)


def keep_unused(priced: Priced, column: Column, days: Days, room: tuple[int, int]) -> Days:
    """The money of the head-room is idle, on its own days. What is left to share comes back."""
    idle, whole = room
    parts = {day: grains * idle // whole for day, grains in days.items()}
    for day, part in parts.items() if idle else ():
        priced.idle[column, day, "unsold", None] += part
    return {day: grains - parts[day] for day, grains in days.items()}


def keep_nowhere(priced: Priced, column: Column, days: Days) -> None:
    """Nobody asked for anything in an hour that counts."""
    for day, grains in days.items():
        if grains:
            priced.nowhere[column, day] += grains
