"""The price curve P(t): what one unit has cost since midnight. A usage interval costs amount x (P(end) - P(start)), and the days between.

Two look-ups in a small dense grid, however long the interval. A price is a whole number that may have more digits than a column of the
database; it is cut into limbs, each summed by itself, so that no sum leaves 38 digits and none is rounded.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import ibis
import numpy as np
import pyarrow as pa

from apportion.engine.backend import Backend, exact
from apportion.engine.backend import whole_quotient as divide
from apportion.engine.calendar import Calendar
from apportion.engine.claims import WHOLE_POOL
from apportion.engine.demand import LARGEST_INT, flow_parts, measures, scale_of
from apportion.engine.grids import stepped
from apportion.engine.price import Load, Market, Priced
from apportion.engine.steps import Steps, heights, used_due
from apportion.engine.wide import Whole, zeros
from apportion.model.meters import METERS
from apportion.model.money import GRAIN, GRAINS_PER_NANO

LARGEST_SUM = 10**38 - 1  # of a decimal
PARTS_OF_NANO = 10**8
WIDE = "decimal(38,0)"
Kind = tuple[str, int]
USED, COUNTED = ("used", 0), ("counted", 0)


@dataclass(frozen=True, slots=True)
class Rate:
    """`prices`: curves by cells. `amount` is what of a usage row is charged: its units, or those held without use."""

    amount: str
    prices: Whole


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows (key, day, price, since) for each limb of each rate: the price in a cell, and what a unit has cost from midnight until the cell's
    start. `whole_days` says what it costs from midnight to midnight. Keys are `curve * cells + cell` and `curve * days + day`.
    """

    table: pa.Table
    whole_days: pa.Table
    calendar: Calendar
    base: int
    limbs: Mapping[Kind, tuple[str, tuple[str, ...]]]  # kind -> amount, names of its limbs from the lowest

    @property
    def amounts(self) -> dict[str, str]:
        """The limbs' names, and what of a usage row each of them charges."""
        return {name: amount for amount, names in self.limbs.values() for name in names}

    def value(self, kind: Kind, row: Mapping[str, Any]) -> int:
        return sum(int(row[f"value_{name}"]) * self.base**n for n, name in enumerate(self.limbs[kind][1]))


def make_grid(rates: Mapping[Kind, Rate], curves: Sequence[int], calendar: Calendar, largest: int) -> Grid:
    """`largest` is more than any sum of units: with the length of a day it says how long a limb may be."""
    longest = max((last - first for first, last in pairwise(calendar.day_cells)), default=1) * calendar.cell_s
    base = max(2, min(LARGEST_INT // longest, LARGEST_SUM // (largest + 1)))
    numbers = np.asarray(curves, dtype=np.int64)[:, None]
    cells = {"key": pa.array((numbers * calendar.cells + np.arange(calendar.cells)).ravel())}
    cells["day"] = pa.array(np.tile(np.asarray(calendar.day_of, dtype=np.int32), len(curves)))
    days = {"key": pa.array((numbers * len(calendar.days) + np.arange(len(calendar.days))).ravel())}
    limbs = {}
    for n, (kind, rate) in enumerate(rates.items()):
        names = []
        for m, limb in enumerate(cut(rate.prices, base)):
            names.append(f"{n}_{m}")
            since, whole = by_midnight(limb, calendar)
            cells |= {f"price_{n}_{m}": pa.array(limb.ravel()), f"since_{n}_{m}": pa.array(since.ravel())}
            days[f"whole_{n}_{m}"] = pa.array(whole.ravel())
        limbs[kind] = (rate.amount, tuple(names))
    return Grid(pa.table(cells), pa.table(days), calendar, base, limbs)


def by_midnight(limb: np.ndarray, calendar: Calendar) -> tuple[np.ndarray, np.ndarray]:
    """The sum of what went before each cell of a day, and of each whole day."""
    since, whole = np.zeros_like(limb), np.zeros((len(limb), len(calendar.days)), dtype=np.int64)
    for day, (first, last) in enumerate(pairwise(calendar.day_cells)):
        sums = np.cumsum(limb[:, first:last] * calendar.cell_s, axis=1)
        since[:, first + 1 : last], whole[:, day] = sums[:, :-1], sums[:, -1]
    return since, whole


def scale_for(largest: int, money: int, all_money: int) -> int:
    """Into how many parts of the currency's unit prices are floored, so that flooring `largest` units never shows.

    Charges are shares of other money too (idle, overheads, tax). With this many parts a share of all there is (in grains, as `money`) by the
    charges for `money` is right to 10^-8 of a nano.
    """
    nanos = max(money, all_money) // GRAINS_PER_NANO + 1
    return 1 + int(largest * nanos * PARTS_OF_NANO * GRAIN // max(money, 1))


def cut(numbers: Whole, base: int) -> Iterator[np.ndarray]:
    """Digits to some base, from the lowest; the highest takes the sign."""
    largest = max(abs(numbers.max()), abs(numbers.min())) if numbers.size else 0
    while largest >= base:
        yield (numbers % base).astype(np.int64)
        numbers, largest = numbers // base, largest // base + 1
    yield numbers.astype(np.int64)


def look_up(rows: Any, grid: Grid, lent: Any, end: str, by: Sequence[str]) -> Any:
    """What each row's units have cost since midnight when it `start`s (taken off) or `end`s, summed on that day."""
    calendar, sign = grid.calendar, 1 if end == "end" else -1
    second = rows.end_s - 1 - calendar.start_s if end == "end" else rows.start_s - calendar.start_s
    rows = rows.mutate(
        place=rows.curve.cast("int64") * calendar.cells + divide(second, calendar.cell_s),
        inside=second % calendar.cell_s + (1 if end == "end" else 0),
    )
    rows = rows.join(lent, rows.place == lent.key)
    return rows.group_by(*by, "day").aggregate(**{
        f"value_{name}": (exact(rows[amount] * sign) * (rows[f"since_{name}"] + rows[f"price_{name}"] * rows.inside)).sum().cast(WIDE)
        for name, amount in grid.amounts.items()
    })  # fmt: skip


def look_days_up(rows: Any, grid: Grid, by: Sequence[str], backend: Backend) -> Any:
    """What each row's units cost from midnight to midnight, on every day that it does not end on."""
    calendar = grid.calendar
    cells, day_of = pa.array(range(calendar.cells), pa.int64()), pa.array(calendar.day_of, pa.int64())
    first_days = backend.lend(pa.table({"first": cells, "first_day": day_of}))
    last_days = backend.lend(pa.table({"last": cells, "last_day": day_of}))
    lengths = range(1, len(calendar.days))
    crossed = backend.lend(pa.table({
        "midnights": pa.array([n for n in lengths for _ in range(n)], pa.int64()),
        "later": pa.array([m for n in lengths for m in range(n)], pa.int64()),
    }))  # fmt: skip
    whole = backend.lend(grid.whole_days)
    rows = rows.mutate(
        first=divide(rows.start_s - calendar.start_s, calendar.cell_s),
        last=divide(rows.end_s - 1 - calendar.start_s, calendar.cell_s),
    )
    rows = rows.join(first_days, "first").join(last_days, "last")
    rows = rows.mutate(midnights=rows.last_day - rows.first_day).join(crossed, "midnights")
    rows = rows.mutate(day=(rows.first_day + rows.later).cast("int32"))
    rows = rows.mutate(place=rows.curve.cast("int64") * len(calendar.days) + rows.day)
    rows = rows.join(whole, rows.place == whole.key)
    return rows.group_by(*by, "day").aggregate(**{
        f"value_{name}": (exact(rows[amount]) * rows[f"whole_{name}"]).sum().cast(WIDE)
        for name, amount in grid.amounts.items()
    })  # fmt: skip


def priced_rows(rows: Any, grid: Grid, market: Market, backend: Backend, by: Sequence[str]) -> Any:
    """Sums of every limb's value by day and `by`, before weights.

    A row that starts on one day and ends on another costs whole days from the first until the last, less what had passed when it started,
    and what had passed when it ended.
    """
    pool, window = market.pool, market.calendar.window
    timed = pool.method == "time"  # a second counts, whatever was asked for
    sums = {"units": ibis.literal(1, "int64")} if timed else measures(rows, pool.driver, scale_of(pool))
    lent = backend.lend(grid.table)
    if not timed and all(METERS[name].flow for name in pool.meter):
        return flow_values(rows, sums, grid, lent, by)
    rows = rows.select(
        *dict.fromkeys((*by, "curve")),
        start_s=ibis.greatest(rows.start_s, window.start_s),
        end_s=ibis.least(rows.end_s, window.end_s),
        **{name: sums[name] for name in set(grid.amounts.values())},
    )
    starts, ends = (look_up(rows, grid, lent, end, by) for end in ("start", "end"))
    found = ibis.union(starts, ends, look_days_up(rows, grid, by, backend))
    return found.group_by(*by, "day").aggregate(**{
        f"value_{name}": found[f"value_{name}"].sum().cast(WIDE) for name in grid.amounts
    })  # fmt: skip


def flow_values(rows: Any, sums: Mapping[str, Any], grid: Grid, lent: Any, by: Sequence[str]) -> Any:
    """Flows are cut at the cells they cross, so the price there is all that they need."""
    parts = flow_parts(rows, {"units": sums["units"]}, grid.calendar, "work", fine=False)
    parts = parts.mutate(place=parts.curve.cast("int64") * grid.calendar.cells + parts.cell)
    parts = parts.join(lent, parts.place == lent.key)
    return parts.group_by(*by, "day").aggregate(**{
        f"value_{name}": (parts.units_part * parts[f"price_{name}"].cast(WIDE)).sum().cast(WIDE) for name in grid.amounts
    })  # fmt: skip


def sum_values(rows: Any, grid: Grid, market: Market, backend: Backend) -> Iterator[tuple[Load, int, dict[Kind, int]]]:
    """What each bearer owes for each day, by kind of price."""
    for row in priced_rows(rows, grid, market, backend, ("bearer", "rate")).to_pyarrow().to_pylist():
        yield (row["bearer"], row["rate"]), row["day"], {kind: grid.value(kind, row) for kind in grid.limbs}


def grid_of(market: Market, priced: Priced, key: tuple[str, str]) -> Grid:
    """The price curve of one bill and component."""
    largest = max(1, sum(step.demand for step in priced.curve))
    cells = market.calendar.cells
    if isinstance(priced.curve, Steps):
        dues = priced.curve.dues
        scale = scale_for(largest, sum(abs(grains) for grains in dues.grains.tolist()), 0)
        columns = zip(
            dues.columns, heights(used_due(priced.curve), dues, [scale] * len(dues.columns), cells), strict=True
        )
        prices = sum((price for column, price in columns if column[:2] == key), zeros(len(dues.curves) - 1, cells))
        return make_grid(with_units(prices), dues.curves[1:], market.calendar, largest)
    money = {
        where: sum(sum(days.values()) for column, days in columns.items() if column[:2] == key)
        for where, columns in market.money.items()
    }
    scale = scale_for(largest, sum(abs(grains) for grains in money.values()), 0) * scale_of(market.pool).fine
    steps = [step for step in priced.curve if step.units]
    curves = sorted({step.curve for step in steps} | set(market.demand if market.pool.scope == "resource" else ()))
    rows = np.searchsorted(curves, [step.curve for step in steps])
    height = np.array([money[step.curve, step.slot] * scale // (step.units * GRAIN) for step in steps], dtype=object)
    slots = np.array([step.slot for step in steps], dtype=np.int64).reshape(-1, 2).T
    prices = stepped(rows, (slots[0], slots[1]), height, (len(curves), cells))
    if market.pool.scope == "resource" and curves and curves[0] == WHOLE_POOL:
        prices, curves = prices[1:] + prices[0], curves[1:]
    return make_grid(with_units(prices), curves, market.calendar, largest)


def with_units(prices: Whole) -> dict[Kind, Rate]:
    """A price of 1 beside the prices counts the units themselves."""
    return {USED: Rate("units", prices), COUNTED: Rate("units", zeros(*prices.shape) + 1)}


def grid_of_units(curves: Sequence[int], calendar: Calendar) -> Grid:
    """No price but that."""
    return make_grid({COUNTED: Rate("units", zeros(len(curves), calendar.cells) + 1)}, curves, calendar, 0)
