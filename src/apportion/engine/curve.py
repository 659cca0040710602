"""The price curve P(t): what one unit has cost from the window's start until t. A usage interval costs amount x (P(end) - P(start)).

Two look-ups in a small dense grid, however long the interval. Prices are whole numbers of 10^-places of the currency's unit, the finest at which the
pool's money, summed over all its rows, still fits 38 digits.
"""

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import ibis
import pyarrow as pa

from apportion.engine.backend import whole_quotient as divide
from apportion.engine.calendar import Calendar
from apportion.engine.claims import WHOLE_POOL
from apportion.engine.demand import flow_parts, measures, scale_of
from apportion.engine.price import Market, Priced
from apportion.model.meters import METERS
from apportion.model.money import GRAIN

DIGITS = 36
WIDE = "decimal(38,0)"


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows (curve, cell, price, before) of one bill and component: the price in the cell, and P at its start."""

    table: pa.Table


def places_for(money: int, heaviest: int) -> int:
    """Decimal places of a price so that no sum leaves 38 digits."""
    return max(0, DIGITS - len(str(abs(money) * heaviest // GRAIN + 1)))


def grid_of(market: Market, priced: Priced, key: tuple[str, str], heaviest: int) -> Grid:
    """The price curve of one bill and component, over every cell; one more row at the end of the window."""
    money = {
        where: sum(sum(days.values()) for column, days in columns.items() if column[:2] == key)
        for where, columns in market.money.items()
    }
    scale = 10 ** places_for(sum(abs(grains) for grains in money.values()), heaviest)
    fine = scale_of(market.pool).fine
    prices: dict[int, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for step in priced.curve:
        grains = money[step.curve, step.slot]
        if step.units and grains:
            for cell in range(*step.slot):
                prices[step.curve][cell] += grains * scale * fine // (step.units * GRAIN)
    if market.pool.scope == "resource":
        add_whole_pool(prices, market)
    rows: list[tuple[int, int, Decimal, Decimal]] = []
    for curve, cells in prices.items():
        before = 0
        for cell in range(market.calendar.cells + 1):
            price = cells.get(cell, 0)
            rows.append((curve, cell, Decimal(price), Decimal(before)))
            before += price * market.calendar.cell_s
    columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
    types = (pa.int32(), pa.int64(), pa.decimal128(38, 0), pa.decimal128(38, 0))
    arrays = [pa.array(column, kind) for column, kind in zip(columns, types, strict=True)]
    return Grid(pa.table(dict(zip(("curve", "cell", "price", "before"), arrays, strict=True))))


def add_whole_pool(prices: dict[int, dict[int, int]], market: Market) -> None:
    """Where each resource has its own price, a unit on it also bears that of lines without a resource."""
    whole = prices.pop(WHOLE_POOL, {})
    for curve in market.demand:
        for cell, price in whole.items() if curve != WHOLE_POOL else ():
            prices[curve][cell] += price


def by_day(rows: Any, calendar: Calendar, backend: Any) -> Any:
    """Level rows cut at local midnights: each piece with its day, its two cells and the seconds into them."""
    days = backend.lend(pa.table({
        "cell": pa.array(range(calendar.cells), pa.int64()),
        "day": pa.array(calendar.day_of, pa.int32()),
    }))  # fmt: skip
    bounds = backend.lend(pa.table({
        "piece": pa.array(range(len(calendar.days)), pa.int32()),
        "opens": pa.array([calendar.start_s + cell * calendar.cell_s for cell in calendar.day_cells[:-1]], pa.int64()),
        "closes": pa.array([calendar.start_s + cell * calendar.cell_s for cell in calendar.day_cells[1:]], pa.int64()),
    }))  # fmt: skip
    window = calendar.window
    start, end = ibis.greatest(rows.start_s, window.start_s), ibis.least(rows.end_s, window.end_s)
    rows = rows.mutate(start_s=start, end_s=end)
    rows = rows.mutate(
        first=divide(rows.start_s - calendar.start_s, calendar.cell_s),
        last=divide(rows.end_s - 1 - calendar.start_s, calendar.cell_s),
    )
    firsts, lasts = days.view(), days.view()
    rows = rows.join(firsts, rows.first == firsts.cell).select(rows, first_day=firsts.day)
    rows = rows.join(lasts, rows.last == lasts.cell).select(rows, last_day=lasts.day)
    rows = rows.mutate(piece=ibis.range(rows.first_day, rows.last_day + 1).unnest().cast("int32"))
    rows = rows.join(bounds, "piece")
    return rows.mutate(
        day=rows.piece, start_s=ibis.greatest(rows.start_s, rows.opens), end_s=ibis.least(rows.end_s, rows.closes)
    )


def look_up(rows: Any, grid: Any, calendar: Calendar) -> Any:
    """What every piece cost, amount x (P(end) - P(start)), as `value`."""
    since, until = (rows.start_s - calendar.start_s), (rows.end_s - calendar.start_s)
    rows = rows.mutate(
        from_cell=divide(since, calendar.cell_s),
        from_s=since % calendar.cell_s,
        to_cell=divide(until, calendar.cell_s),
        to_s=until % calendar.cell_s,
    )
    a, b = grid.view(), grid.view()
    rows = rows.join(a, [rows.curve == a.curve, rows.from_cell == a.cell]).select(
        rows, price_a=a.price, before_a=a.before
    )
    rows = rows.join(b, [rows.curve == b.curve, rows.to_cell == b.cell]).select(
        rows, price_b=b.price, before_b=b.before
    )
    rise = (
        (rows.before_b - rows.before_a).cast(WIDE)
        + (rows.price_b * rows.to_s).cast(WIDE)
        - (rows.price_a * rows.from_s).cast(WIDE)
    )
    return rows.mutate(value=(rows.amount.cast(WIDE) * rise.cast(WIDE)).cast(WIDE))


def priced_rows(rows: Any, market: Market, grid: pa.Table, backend: Any) -> Any:
    """(work, bearer, rate, day, units, value): what each workload's usage cost on each day, before weights."""
    pool, calendar = market.pool, market.calendar
    sums = measures(rows, pool.driver, scale_of(pool))
    lent = backend.lend(grid)
    if all(METERS[name].flow for name in pool.meter):
        parts = flow_parts(rows, {"units": sums["units"]}, calendar, "work", fine=False)
        days = backend.lend(
            pa.table(
                {"cell": pa.array(range(calendar.cells), pa.int64()), "day": pa.array(calendar.day_of, pa.int32())}
            )
        )
        parts = parts.join(days, "cell").join(lent, ["curve", "cell"])
        pieces = parts.mutate(
            units=parts.units_part.cast(WIDE), value=(parts.units_part.cast(WIDE) * parts.price).cast(WIDE)
        )
    else:
        pieces = by_day(rows.mutate(amount=sums["units"]), calendar, backend)
        pieces = look_up(pieces, lent, calendar)
        pieces = pieces.mutate(units=(pieces.amount.cast(WIDE) * (pieces.end_s - pieces.start_s)).cast(WIDE))
    keys = ("work", "bearer", "rate", "day")
    return pieces.group_by(*keys).aggregate(units=pieces.units.sum().cast(WIDE), value=pieces.value.sum().cast(WIDE))
