"""What a unit of a pool costs its workloads, under one bill and component: prices by curve and cell."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from apportion.engine.boards import Boards
from apportion.engine.claims import WHOLE_POOL
from apportion.engine.curve import scale_for
from apportion.engine.demand import FINE, HELD, UNITS
from apportion.engine.grids import stepped
from apportion.engine.price import Market, Priced, SlotPrice, sum_cells
from apportion.engine.steps import Due, Steps, heights, held_due, idle_money, split_idle, used_due
from apportion.engine.wide import Whole, zeros
from apportion.model.money import GRAIN

Key = tuple[str, str]  # bill, component


class Prices(NamedTuple):
    """By curve and cell, what a unit costs that is charged for use; and one that was held without use, where that is charged as idle."""

    curves: Sequence[int]
    used: Whole | None = None
    held: Whole | None = None


def prices_of(market: Market, priced: Priced, key: Key) -> Prices:
    pool = market.pool
    idles = pool.method == "capacity_rate" and pool.driver.kind in ("used", "blend")
    if isinstance(priced.curve, Steps):
        steps = priced.curve
        idle = split_idle(steps, idle_money(steps)).get("held") if idles else None
        due = held_due(steps, idle) if idle is not None else None
        return Prices(
            steps.dues.curves[1:],
            of_dues(used_due(steps), market, steps, key),
            of_dues(due, market, steps, key) if due else None,
        )
    curves = curves_of(market, priced)
    used = of_steps(market, [(step, 1, step.units) for step in priced.curve if step.units], key, curves)
    holding = [part for step in priced.curve if idles and (part := held_part(market, step))]
    held = of_steps(market, holding, key, curves) if holding else None
    if market.pool.scope == "resource" and curves and curves[0] == WHOLE_POOL:
        return Prices(curves[1:], used[1:] + used[0], None if held is None else held[1:] + held[0])
    return Prices(curves, used, held)


def on_boards(prices: Prices, boards: Boards, cells: int) -> Prices:
    """With the prices on crowded boards, where less of a unit counts than was asked for. Without a price each counts, whole ones in fine units."""
    if not boards:
        return prices
    used = zeros(len(prices.curves), cells) + FINE if prices.used is None else prices.used
    return Prices(
        [*prices.curves, *(board + boards.first for board in boards.beside(prices.curves))],
        boards.price(used, prices.curves, UNITS),
        None if prices.held is None else boards.price(prices.held, prices.curves, HELD),
    )


def of_dues(due: Due, market: Market, steps: Steps, key: Key) -> Whole:
    dues, cells = steps.dues, market.calendar.cells
    columns = zip(dues.columns, heights(due, dues, scale_for(*due.extremes(), 0), cells), strict=True)
    return sum((price for column, price in columns if column[:2] == key), zeros(len(dues.curves) - 1, cells))


def curves_of(market: Market, priced: Priced) -> list[int]:
    of_resources = market.demand if market.pool.scope == "resource" else ()
    return sorted({step.curve for step in priced.curve if step.units} | set(of_resources))


def held_part(market: Market, step: SlotPrice) -> tuple[SlotPrice, int, int] | None:
    """Of a slot's money, what a unit pays that was held without use: more units may have been held than were idle."""
    idle = int(step.idle.get("held", 0))
    loads = sum_cells(market.demand.get(step.curve, {}), step.slot, market.calendar).values() if idle else ()
    return (step, idle, step.units * sum(amounts[HELD] for amounts in loads)) if idle else None


def of_steps(market: Market, parts: Sequence[tuple[SlotPrice, int, int]], key: Key, curves: Sequence[int]) -> Whole:
    """Each step's money times a fraction, floored to parts so small that it never shows."""
    money = {
        where: sum(sum(days.values()) for column, days in columns.items() if column[:2] == key)
        for where, columns in market.money.items()
    }
    least = min((abs(grains) for grains in money.values() if grains), default=0)
    scale = scale_for(least, max((below for _, _, below in parts), default=0), 0) * market.scale.fine
    rows = np.searchsorted(curves, [step.curve for step, _, _ in parts])
    height = [money[step.curve, step.slot] * scale * above // (below * GRAIN) for step, above, below in parts]
    slots = np.array([step.slot for step, _, _ in parts], dtype=np.int64).reshape(-1, 2).T
    shape = (len(curves), market.calendar.cells)
    return stepped(rows, (slots[0], slots[1]), np.array(height, dtype=object), shape)
