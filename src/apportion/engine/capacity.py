"""What became of a pool's capacity, cell by cell: used, held without use, reserved without use, sold to nobody, down. The parts of a cell add up to
all that there was in it.

By the rules of idle money, whatever the method: of what nobody held first what was down, then what was reserved; the rest was unsold.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ibis
import numpy as np

from apportion.engine.boards import Boards, find_boards
from apportion.engine.calendar import HOUR_S, Calendar, Slot
from apportion.engine.claims import WHOLE_POOL, Reach, claim, clip
from apportion.engine.demand import ALLOCATED, extent, is_wide, level_events
from apportion.engine.grids import Intervals, integrate_grid, integrated
from apportion.engine.held import Unit, span_of, times, unit_of
from apportion.engine.plan import Plan
from apportion.engine.price import Market, Priced, unused_reservations
from apportion.engine.setting import Setting
from apportion.engine.wide import Whole, zeros
from apportion.model.meters import METERS
from apportion.model.times import Interval
from apportion.policy.pools import Pool

TAKEN = ("used", "unmeasured", "held")  # by somebody; of the second nobody knows whether it was used
PARTS = (*TAKEN, "reserved", "unsold", "down")


@dataclass(frozen=True, slots=True)
class Spent:
    """One measure of a pool over a span of cells. `parts[name][n]` are the hours of the n-th cell; none for flows, which nobody holds.

    `prices[currency][n]`: what a unit of the market costs there (in grains), and over how many units that was formed.
    """

    market: Market
    span: Slot
    unit: str
    parts: Mapping[str, Sequence[Fraction]]
    prices: Mapping[str, Sequence[tuple[Fraction, Fraction]]]
    is_stated: bool  # somebody said how much there is


def spent_of(plan: Plan, name: str) -> tuple[Spent, ...]:
    """One for each measure of a pool, mostly one; none where nothing is shared by use."""
    result = plan.trace.pools.get(name)
    if result is None or result.reach is None or result.market is None:
        return ()
    own = plan.trace.setting
    priced = result.priced or Priced()
    places = [(part.setting, part.market, part.priced) for part in result.portions] or [(own, result.market, priced)]
    span = span_of(name, plan)
    return tuple(spent_by(setting, market, priced, result.reach, span) for setting, market, priced in places)


def spent_by(setting: Setting, market: Market, priced: Priced, reach: Reach, span: Slot) -> Spent:
    pool = setting.policy.pools[market.name]
    unit, prices = unit_of(pool), unit_prices(setting, market, priced, span)
    if unit is None:
        return Spent(market, span, METERS[next(iter(pool.meter))].unit, {}, prices, is_stated=False)
    curves = [WHOLE_POOL, *(n + 1 for n in sorted({*reach.resources, *reach.supplied}))]
    curves = curves if pool.scope == "resource" else [WHOLE_POOL]
    taken = taken_by(setting, (market.name, pool, unit), reach, curves)
    levels = levels_of(setting, pool, unit, reach)
    offered, down = (integrate_grid(part, curves, setting.calendar) for part in levels)
    spare = np.maximum(offered - sum(taken.values()), 0)
    broken = np.minimum(spare, down)
    rest = (spare - broken).sum(axis=0)
    promised = np.array([unused_in(market, cell, unit) for cell in range(setting.calendar.cells)], dtype=object)
    reserved = np.minimum(rest, promised)
    sums = {part: amounts.sum(axis=0) for part, amounts in (*taken.items(), ("down", broken))}
    sums |= {"reserved": reserved, "unsold": rest - reserved}
    hour = unit.per * HOUR_S
    parts = {part: tuple(Fraction(amount) / hour for amount in sums[part][slice(*span)]) for part in PARTS}
    return Spent(market, span, unit.name, parts, prices, bool(levels[0]))


def taken_by(setting: Setting, what: tuple[str, Pool, Unit], reach: Reach, curves: Sequence[int]) -> dict[str, Whole]:
    """What somebody had, by curve and cell. Of a crowded board each part counts less, in proportion."""
    name, pool, unit = what
    boards = find_boards(name, reach, setting)
    every = [*curves, *(boards.first + board for board in sorted(boards.crowds))]
    found = {part: zeros(len(every), setting.calendar.cells) for part in TAKEN}
    for season in setting.workforce.seasons if reach.resources and reach.persons else ():
        rows = had(clip(boards.apart(claim(name, reach, season, setting)).rows, season), pool, unit)
        for part, amounts in summed(rows, every, setting.calendar).items():
            found[part] = found[part] + amounts
    return {part: at_home(amounts, boards, curves) for part, amounts in found.items()}


def had(rows: Any, pool: Pool, unit: Unit) -> Any:
    """The two views of each row. Use above what was held counts where the pool charges by use."""
    factor, used = times(rows, unit.factors), ibis.coalesce(rows.used, 0)
    inside = ibis.least(used, rows.allocated) if pool.driver.kind == "allocated" else used
    parts = {
        "used": inside * factor,
        "unmeasured": ibis.ifelse(rows.used.isnull(), rows.allocated, 0) * factor,
        "held": ibis.ifelse(rows.used.isnull(), 0, ibis.greatest(rows.allocated - used, 0)) * factor,
    }
    return rows.select("curve", "start_s", "end_s", **parts)


def summed(rows: Any, curves: Sequence[int], calendar: Calendar) -> dict[str, Whole]:
    sums = {part: rows[part] for part in TAKEN}
    wide = is_wide(*extent(rows, sums), calendar)
    events = level_events(rows, sums, calendar, decimal=wide, by=("curve",)).to_pyarrow()
    return {part: integrated(events, part, curves, calendar) for part in TAKEN}


def at_home(amounts: Whole, boards: Boards, curves: Sequence[int]) -> Whole:
    """What counts of crowded boards, on the curves where it counts."""
    out = amounts[: len(curves)].copy()
    for row, board in enumerate(sorted(boards.crowds), start=len(curves)):
        own = amounts[row].copy()
        for cell, crowd in boards.crowds[board].items():
            own[cell] = own[cell] * crowd.counts[ALLOCATED]
        out[list(curves).index(boards.home(board))] += own
    return out


def levels_of(setting: Setting, pool: Pool, unit: Unit, reach: Reach) -> tuple[Intervals, Intervals]:
    """What was offered, and what of it was not up."""
    numbers = {resource: number for number, resource in enumerate(setting.encoded.resources)}
    inside = set(reach.supplied)
    offered: dict[int, list[tuple[Interval, int]]] = defaultdict(list)
    down: dict[int, list[tuple[Interval, int]]] = defaultdict(list)
    for row in setting.capacity:
        number = numbers[row["resource"]]
        if number in inside and row["meter"] in pool.meter:
            curve = number + 1 if pool.scope == "resource" else WHOLE_POOL
            level = (Interval(row["start_s"], row["end_s"]), row["amount"] * unit.factors[row["meter"]])
            for levels in (offered,) if row["state"] == "up" else (offered, down):
                levels[curve].append(level)
    return offered, down


def unused_in(market: Market, cell: int, unit: Unit) -> Fraction:
    """What holders had reserved and left in a cell, in the unit's own fineness."""
    if not market.supply.reserved:
        return Fraction(0)
    spare = unused_reservations(market, Priced(), (cell, cell + 1))
    return sum(spare.values()) * market.scale.natural * unit.per


def unit_prices(
    setting: Setting, market: Market, priced: Priced, span: Slot
) -> dict[str, list[tuple[Fraction, Fraction]]]:
    """Where each resource has its own price, their mean; where stretches of time overlap, as late lines make them, the sum of their prices."""
    first, last = span
    out: dict[str, list[tuple[Fraction, Fraction]]] = {}
    for currency in sorted(set(setting.currencies.values())):
        bills = {bill for bill, known in setting.currencies.items() if known == currency}
        for (_, slot), (grains, units) in steps_in(market, priced, bills).items():
            cells = out.setdefault(currency, [(Fraction(0), Fraction(0))] * (last - first))
            price, weight = Fraction(grains, units), Fraction(units, slot[1] - slot[0])
            for cell in range(max(first, slot[0]) - first, min(last, slot[1]) - first):
                cells[cell] = (cells[cell][0] + price, max(cells[cell][1], weight))
    return out


def steps_in(market: Market, priced: Priced, bills: set[str]) -> dict[tuple[bool, Slot], tuple[int, int]]:
    """Grains and units of every slot: of the resources that have prices of their own together, and of the pool as a whole."""
    out: dict[tuple[bool, Slot], tuple[int, int]] = {}
    for step in priced.curve:
        columns = market.money[step.curve, step.slot]
        own = [sum(days.values()) for column, days in columns.items() if column.bill in bills]
        if own and step.units:
            known = out.get((step.curve == WHOLE_POOL, step.slot), (0, 0))
            out[step.curve == WHOLE_POOL, step.slot] = (known[0] + sum(own), known[1] + step.units)
    return out
