"""The price curve P(t): what one unit has cost since midnight. A usage interval costs amount x (P(end) - P(start)), and the days between.

Two look-ups in a small dense grid, however long the interval. A price is a whole number that may have more digits than a column of the
database; it is cut into limbs, each summed by itself, so that no sum leaves 38 digits and none is rounded.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import ibis
import numpy as np
import pyarrow as pa

from apportion.engine.backend import Backend, exact
from apportion.engine.backend import whole_quotient as divide
from apportion.engine.calendar import Calendar
from apportion.engine.claims import WHOLE_POOL
from apportion.engine.demand import WIDE, flow_parts, scale_of
from apportion.engine.grids import stepped
from apportion.engine.price import Market, Priced
from apportion.engine.steps import Steps, heights, used_due
from apportion.engine.wide import LARGEST_INT, Whole, from_arrow, zeros
from apportion.model.meters import METERS
from apportion.model.money import GRAIN, GRAINS_PER_NANO

LARGEST_SUM = 10**38 - 1  # of a decimal
PARTS_OF_NANO, PARTS_OF_UNIT = 10**7, 10**22
A_FLOOR = 10**17  # nanos: what a floor may add to the charges, even where there is less
RARE = 20  # digits that fewer than one price in so many has are looked up apart
Kind = tuple[str, int]
USED, COUNTED = ("used", 0), ("counted", 0)


@dataclass(frozen=True, slots=True)
class Rate:
    """`prices`: curves by cells. `amount` is what of a usage row is charged: its units, or those held without use."""

    amount: str
    prices: Whole


class Limb(NamedTuple):
    """One stretch of digits of a kind's prices, and what it is worth in the lowest."""

    kind: Kind
    amount: str
    worth: int
    prices: np.ndarray

    @property
    def is_rare(self) -> bool:
        return self.worth > 1 and int(np.count_nonzero(self.prices)) * RARE < self.prices.size


@dataclass(frozen=True, slots=True)
class Layer:
    """`cells`: for each key `curve * cells + cell` its day, the price of each limb there (`price_0`, ...), and what a unit has cost from midnight
    until the cell's start (`since_0`, ...). `days`: for each key `curve * days + day` what it costs from midnight to midnight (`whole_0`, ...).
    """

    cells: pa.Table
    days: pa.Table
    limbs: tuple[Limb, ...]
    curves: pa.Table  # all that have any; few where the digits are rare


@dataclass(frozen=True, slots=True)
class Grid:
    """The limbs that most prices have, and apart from them those that few have: a price is high where next to nothing was used."""

    layers: tuple[Layer, ...]


def make_grid(rates: Mapping[Kind, Rate], curves: Sequence[int], calendar: Calendar, largest: int) -> Grid:
    """`largest` is more than any sum of units: with the length of a day it says how long a limb may be."""
    longest = max((last - first for first, last in pairwise(calendar.day_cells)), default=1) * calendar.cell_s
    bits = max(1, min(LARGEST_INT // longest, LARGEST_SUM // (largest + 1)).bit_length() - 1)
    limbs = [
        Limb(kind, rate.amount, 1 << n * bits, digits)
        for kind, rate in rates.items()
        for n, digits in enumerate(cut(rate.prices, bits))
    ]
    usual = [limb for limb in limbs if not limb.is_rare]
    rare = [limb for limb in limbs if limb.is_rare]
    return Grid(tuple(make_layer(part, curves, calendar) for part in (usual, rare) if part))


def make_layer(limbs: Sequence[Limb], curves: Sequence[int], calendar: Calendar) -> Layer:
    """Only the days on which a curve has any such digits."""
    seen = np.any([np.logical_or.reduceat(limb.prices != 0, calendar.day_cells[:-1], axis=1) for limb in limbs], axis=0)
    kept = seen[:, calendar.day_of]
    numbers, day_of = np.asarray(curves, dtype=np.int64)[:, None], np.asarray(calendar.day_of, dtype=np.int32)
    cells = {
        "key": pa.array((numbers * calendar.cells + np.arange(calendar.cells))[kept]),
        "day": pa.array(np.broadcast_to(day_of, kept.shape)[kept]),
    }
    days = {"key": pa.array((numbers * len(calendar.days) + np.arange(len(calendar.days)))[seen])}
    for n, limb in enumerate(limbs):
        since, whole = by_midnight(limb.prices, calendar)
        cells |= {f"price_{n}": pa.array(limb.prices[kept]), f"since_{n}": pa.array(since[kept])}
        days[f"whole_{n}"] = pa.array(whole[seen])
    here = pa.table({"curve": pa.array(numbers[seen.any(axis=1), 0], pa.int32())})
    return Layer(pa.table(cells), pa.table(days), tuple(limbs), here)


def by_midnight(limb: np.ndarray, calendar: Calendar) -> tuple[np.ndarray, np.ndarray]:
    """The sum of what went before each cell of a day, and of each whole day."""
    since, whole = np.zeros_like(limb), np.zeros((len(limb), len(calendar.days)), dtype=np.int64)
    for day, (first, last) in enumerate(pairwise(calendar.day_cells)):
        sums = np.cumsum(limb[:, first:last] * calendar.cell_s, axis=1)
        since[:, first + 1 : last], whole[:, day] = sums[:, :-1], sums[:, -1]
    return since, whole


def scale_for(least: int, largest: int, all_money: int) -> int:
    """Into how many parts of the currency's unit (1, 2 or 5 times a power of 10) prices are floored, so that flooring never shows.

    Charges are shares of other money too (idle, overheads, tax). With this many parts every charge, if only at a price of `least` grains for
    `largest` units, has so many digits that a share of all there is (in grains, too) by it is right to 10^-7 of a nano;
    and charges that cancel out leave less than what `account.counts`.
    """
    nanos = max(all_money // GRAINS_PER_NANO, A_FLOOR)
    wanted = largest * max(nanos * PARTS_OF_NANO * GRAIN // max(least, 1), PARTS_OF_UNIT)
    decade = 10 ** len(str(wanted))
    return next(int(decade // part) for part in (5, 2, 1) if decade // part > wanted)


def cut(numbers: Whole, bits: int) -> Iterator[np.ndarray]:
    """Stretches of so many bits, from the lowest; the highest takes the sign."""
    longest = max(int(numbers.max()).bit_length(), int(numbers.min()).bit_length()) if numbers.size else 0
    while longest > bits:
        yield (numbers & ((1 << bits) - 1)).astype(np.int64)
        numbers, longest = numbers >> bits, longest - bits
    yield numbers.astype(np.int64)


def look_up(rows: Any, layer: Layer, cells: Any, calendar: Calendar, end: str) -> Any:
    """What each row's units have cost since midnight when it `end`s or when it `start`s (to be taken off), on that day."""
    is_end = end == "end"
    second = rows.end_s - 1 - calendar.start_s if is_end else rows.start_s - calendar.start_s
    rows = rows.mutate(
        place=rows.curve.cast("int64") * calendar.cells + divide(second, calendar.cell_s),
        inside=second % calendar.cell_s + (1 if is_end else 0),
    )
    rows = rows.join(cells, rows.place == cells.key)
    sign = 1 if is_end else -1
    return rows.mutate(**{
        f"value_{n}": exact(rows[limb.amount] * sign) * (rows[f"since_{n}"] + rows[f"price_{n}"] * rows.inside)
        for n, limb in enumerate(layer.limbs)
    })  # fmt: skip


def look_days_up(rows: Any, layer: Layer, days: Any, calendar: Calendar, backend: Backend) -> Any:
    """What each row's units cost from midnight to midnight, on every day that it does not end on."""
    cells, day_of = pa.array(range(calendar.cells), pa.int64()), pa.array(calendar.day_of, pa.int64())
    first_days = backend.lend(pa.table({"first": cells, "first_day": day_of}))
    last_days = backend.lend(pa.table({"last": cells, "last_day": day_of}))
    lengths = range(1, len(calendar.days))
    crossed = backend.lend(pa.table({
        "midnights": pa.array([n for n in lengths for _ in range(n)], pa.int64()),
        "later": pa.array([m for n in lengths for m in range(n)], pa.int64()),
    }))  # fmt: skip
    rows = rows.mutate(
        first=divide(rows.start_s - calendar.start_s, calendar.cell_s),
        last=divide(rows.end_s - 1 - calendar.start_s, calendar.cell_s),
    )
    rows = rows.join(first_days, "first").join(last_days, "last")
    rows = rows.mutate(midnights=rows.last_day - rows.first_day).join(crossed, "midnights")
    rows = rows.mutate(day=(rows.first_day + rows.later).cast("int32"))
    rows = rows.mutate(place=rows.curve.cast("int64") * len(calendar.days) + rows.day)
    rows = rows.join(days, rows.place == days.key)
    return rows.mutate(**{
        f"value_{n}": exact(rows[limb.amount]) * rows[f"whole_{n}"] for n, limb in enumerate(layer.limbs)
    })  # fmt: skip


def layer_values(rows: Any, layer: Layer, calendar: Calendar, by: Sequence[str], backend: Backend) -> Any:
    """Sums of every limb's value by day and `by`.

    A row that starts on one day and ends on another costs whole days from the first until the last, less what had passed when it started,
    and what had passed when it ended.
    """
    cells, days, curves = (backend.lend(table) for table in (layer.cells, layer.days, layer.curves))
    rows = rows.semi_join(curves, "curve")
    parts = [
        look_up(rows, layer, cells, calendar, "start"),
        look_up(rows, layer, cells, calendar, "end"),
        look_days_up(rows, layer, days, calendar, backend),
    ]
    return sums_of(ibis.union(*(sums_of(part, layer, by) for part in parts)), layer, by)


def sums_of(rows: Any, layer: Layer, by: Sequence[str]) -> Any:
    values = [f"value_{n}" for n in range(len(layer.limbs))]
    return rows.group_by(*by, "day").aggregate(**{name: rows[name].sum().cast(WIDE) for name in values})


def flow_values(parts: Any, layer: Layer, calendar: Calendar, by: Sequence[str], backend: Backend) -> Any:
    """Flows are cut at the cells they cross, so the price there is all that they need."""
    cells = backend.lend(layer.cells)
    parts = parts.mutate(place=parts.curve.cast("int64") * calendar.cells + parts.cell)
    parts = parts.join(cells, parts.place == cells.key)
    prices = {f"value_{n}": parts.units_part * parts[f"price_{n}"].cast(WIDE) for n in range(len(layer.limbs))}
    return sums_of(parts.mutate(**prices), layer, by)


def value_rows(
    rows: Any, grid: Grid, market: Market, backend: Backend, by: Sequence[str]
) -> Mapping[tuple[int, ...], Mapping[Kind, int]]:
    """What measured rows cost by kind of price, before weights, under (*by, day)."""
    pool, calendar = market.pool, market.calendar
    if pool.method != "time" and all(METERS[name].flow for name in pool.meter):
        parts = flow_parts(rows, {"units": rows.units}, calendar, "work", fine=False)
        return merged((layer, flow_values(parts, layer, calendar, by, backend)) for layer in grid.layers)
    return merged((layer, layer_values(rows, layer, calendar, by, backend)) for layer in grid.layers)


def merged(found: Iterable[tuple[Layer, Any]]) -> Mapping[tuple[int, ...], Mapping[Kind, int]]:
    out: dict[tuple[int, ...], dict[Kind, int]] = {}
    for layer, expression in found:
        table = expression.to_pyarrow()
        values = len(layer.limbs)
        keys = zip(*(column.to_pylist() for column in table.columns[:-values]), strict=True)
        limbs = [from_arrow(column).tolist() for column in table.columns[-values:]]
        for n, key in enumerate(keys):
            here = out.setdefault(key, {})
            for limb, numbers in zip(layer.limbs, limbs, strict=True):
                here[limb.kind] = here.get(limb.kind, 0) + numbers[n] * limb.worth
    return out


def grid_of(market: Market, priced: Priced, key: tuple[str, str]) -> Grid:
    """The price curve of one bill and component."""
    cells = market.calendar.cells
    if isinstance(priced.curve, Steps):
        dues, due = priced.curve.dues, used_due(priced.curve)
        largest = int(priced.curve.demand.sum())
        columns = zip(dues.columns, heights(due, dues, scale_for(*due.extremes(), 0), cells), strict=True)
        prices = sum((price for column, price in columns if column[:2] == key), zeros(len(dues.curves) - 1, cells))
        return make_grid(with_units(prices), dues.curves[1:], market.calendar, largest)
    money = {
        where: sum(sum(days.values()) for column, days in columns.items() if column[:2] == key)
        for where, columns in market.money.items()
    }
    steps = [step for step in priced.curve if step.units]
    largest = sum(step.demand for step in steps)
    least = min((abs(grains) for grains in money.values() if grains), default=0)
    scale = scale_for(least, max((step.units for step in steps), default=0), 0) * scale_of(market.pool).fine
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
