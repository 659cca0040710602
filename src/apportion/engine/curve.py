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

from apportion.engine.backend import Backend, exact, summand
from apportion.engine.backend import whole_quotient as divide
from apportion.engine.calendar import Calendar
from apportion.engine.demand import WIDE, flow_parts
from apportion.engine.price import Market
from apportion.engine.wide import LARGEST_INT, WORD_BITS, Whole, from_arrow, words_of
from apportion.model.meters import METERS
from apportion.model.money import GRAIN, GRAINS_PER_NANO
from apportion.model.times import Interval

LARGEST_SUM = 10**38 - 1  # of a decimal
PARTS_OF_NANO, PARTS_OF_UNIT = 10**7, 10**22
A_FLOOR = 10**17  # nanos: what a floor may add to the charges, even where there is less
HALF = 31  # bits
RARE = 20  # digits that fewer than one price in so many has are looked up apart,
MANY = 10**7  # where so many rows are
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
    """`cells`: for each key `curve * cells + cell` its day and when that ends, the price of each limb there (`price_0`, ...), what a unit has cost
    from midnight until the cell's start (`since_0`, ...) and what it costs until the next midnight (`whole_0`, ...). `days`: the latter for each
    key `curve * days + day`.
    """

    cells: pa.Table
    days: pa.Table
    limbs: tuple[Limb, ...]
    hull: Interval  # from the first day that has any such digits until the last
    halved: bool  # no row's amount leaves 31 bits: times half of what a unit costs, it stays inside 64

    @property
    def values(self) -> dict[str, tuple[Kind, int]]:
        """The columns of what rows cost: the kind of each and its worth."""
        parts = {"low": 1, "high": 1 << HALF} if self.halved else {"all": 1}
        return {
            f"{part}_{n}": (limb.kind, limb.worth * worth)
            for n, limb in enumerate(self.limbs)
            for part, worth in parts.items()
        }

    def times(self, rows: Any, costs: Sequence[Any]) -> Any:
        """Each row with its values: the amount times what a unit costs, limb by limb."""
        found: dict[str, Any] = {}
        for n, (limb, cost) in enumerate(zip(self.limbs, costs, strict=True)):
            amount = rows[limb.amount]
            if self.halved:
                halves = {f"low_{n}": cost & (1 << HALF) - 1, f"high_{n}": cost >> HALF}
                found |= {name: summand(amount * half) for name, half in halves.items()}
            else:
                found[f"all_{n}"] = exact(amount) * cost
        return rows.mutate(**found)


@dataclass(frozen=True, slots=True)
class Grid:
    """The limbs that most prices have, and apart from them those that few have: a price is high where next to nothing was used."""

    layers: tuple[Layer, ...]


class Most(NamedTuple):
    """More than any sum of units, and than any row's; how many rows there are. If they are known."""

    sum: int
    row: int = LARGEST_INT
    rows: int = 0


def make_grid(rates: Mapping[Kind, Rate], curves: Sequence[int], calendar: Calendar, most: Most) -> Grid:
    """With the length of a day, the largest sum says how long a limb may be."""
    longest = max((last - first for first, last in pairwise(calendar.day_cells)), default=1) * calendar.cell_s
    bits = max(1, min(LARGEST_INT // longest, LARGEST_SUM // (most.sum + 1)).bit_length() - 1)
    limbs = [
        Limb(kind, rate.amount, 1 << n * bits, digits)
        for kind, rate in rates.items()
        for n, digits in enumerate(cut(rate.prices, bits))
    ]
    apart = most.rows > MANY
    usual = [limb for limb in limbs if not (apart and limb.is_rare)]
    rare = [limb for limb in limbs if apart and limb.is_rare]
    halved = most.row < 1 << HALF
    return Grid(tuple(make_layer(part, curves, calendar, halved=halved) for part in (usual, rare) if part))


def make_layer(limbs: Sequence[Limb], curves: Sequence[int], calendar: Calendar, *, halved: bool) -> Layer:
    """Only the days on which a curve has any such digits."""
    seen = np.any([np.logical_or.reduceat(limb.prices != 0, calendar.day_cells[:-1], axis=1) for limb in limbs], axis=0)
    kept = seen[:, calendar.day_of]
    numbers, day_of = np.asarray(curves, dtype=np.int64)[:, None], np.asarray(calendar.day_of, dtype=np.int32)
    cells = {
        "key": pa.array((numbers * calendar.cells + np.arange(calendar.cells))[kept]),
        "day": pa.array(np.broadcast_to(day_of, kept.shape)[kept]),
        "midnight": pa.array(np.broadcast_to(midnights(calendar)[day_of], kept.shape)[kept]),
    }
    number_of_day = np.arange(len(calendar.days), dtype=np.int32)
    days = {
        "key": pa.array((numbers * len(calendar.days) + number_of_day)[seen]),
        "day": pa.array(np.broadcast_to(number_of_day, seen.shape)[seen]),
    }
    for n, limb in enumerate(limbs):
        since, whole = by_midnight(limb.prices, calendar)
        cells |= {f"price_{n}": pa.array(limb.prices[kept]), f"since_{n}": pa.array(since[kept])}
        cells[f"whole_{n}"] = pa.array(whole[:, day_of][kept])
        days[f"whole_{n}"] = pa.array(whole[seen])
    some = np.flatnonzero(seen.any(axis=0))
    hull = hull_of(calendar, (int(some[0]), int(some[-1]))) if len(some) else Interval(0, 0)
    return Layer(pa.table(cells), pa.table(days), tuple(limbs), hull, halved)


def hull_of(calendar: Calendar, days: tuple[int, int]) -> Interval:
    """From the start of one day until the end of another."""
    return calendar.interval((calendar.day_cells[days[0]], calendar.day_cells[days[1] + 1]))


def midnights(calendar: Calendar) -> np.ndarray:
    """When each day ends."""
    return calendar.start_s + np.asarray(calendar.day_cells[1:], dtype=np.int64) * calendar.cell_s


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


def bits_of(numbers: Whole) -> int:
    return max(int(numbers.max()).bit_length(), int(numbers.min()).bit_length()) if numbers.size else 0


def cut(numbers: Whole, bits: int) -> Iterator[np.ndarray]:
    """Stretches of so many bits, from the lowest; the highest takes the sign."""
    longest = bits_of(numbers)
    words = words_of(numbers, longest)
    for low in range(0, max(longest, 1), bits):
        word, shift = divmod(low, WORD_BITS)
        digits = words[word] >> np.uint64(shift)
        if shift:
            digits |= words[word + 1] << np.uint64(WORD_BITS - shift)
        if low + bits < longest:
            digits &= np.uint64((1 << bits) - 1)
        yield digits.view(np.int64)


def look_starts_up(rows: Any, layer: Layer, cells: Any, calendar: Calendar) -> Any:
    """What each row's units cost on the day it starts: until midnight if it goes on, less what had passed. If not, `look_ends_up` adds the rest."""
    rows = rows.join(cells, place(rows, rows.start_s - calendar.start_s, calendar) == cells.key)
    goes_on, inside = rows.end_s > rows.midnight, (rows.start_s - calendar.start_s) % calendar.cell_s
    costs = [
        ibis.ifelse(goes_on, rows[f"whole_{n}"], 0) - rows[f"since_{n}"] - rows[f"price_{n}"] * inside
        for n in range(len(layer.limbs))
    ]
    return layer.times(rows, costs)


def look_ends_up(rows: Any, layer: Layer, cells: Any, calendar: Calendar) -> Any:
    """What each row's units have cost since midnight when it ends, on that day."""
    rows = rows.join(cells, place(rows, rows.end_s - 1 - calendar.start_s, calendar) == cells.key)
    inside = (rows.end_s - 1 - calendar.start_s) % calendar.cell_s + 1
    costs = [rows[f"since_{n}"] + rows[f"price_{n}"] * inside for n in range(len(layer.limbs))]
    return layer.times(rows, costs)


def place(rows: Any, second: Any, calendar: Calendar) -> Any:
    """The cell of each row's curve that a second lies in."""
    return rows.curve.cast("int64") * calendar.cells + divide(second, calendar.cell_s)


def look_days_up(rows: Any, layer: Layer, days: Any, calendar: Calendar, backend: Backend) -> Any:
    """What each row's units cost from midnight to midnight, on every day between the one it starts on and the one it ends on."""
    cells, day_of = pa.array(range(calendar.cells), pa.int64()), pa.array(calendar.day_of, pa.int64())
    firsts = backend.lend(pa.table({"first": cells, "first_day": day_of}))
    lasts = backend.lend(pa.table({"last": cells, "last_day": day_of}))
    lengths = range(2, len(calendar.days))
    crossed = backend.lend(pa.table({
        "midnights": pa.array([n for n in lengths for _ in range(1, n)], pa.int64()),
        "later": pa.array([m for n in lengths for m in range(1, n)], pa.int64()),
    }))  # fmt: skip
    rows = rows.filter(rows.end_s - rows.start_s > shortest_day(calendar))
    rows = rows.join(firsts, divide(rows.start_s - calendar.start_s, calendar.cell_s) == firsts.first)
    rows = rows.join(lasts, divide(rows.end_s - 1 - calendar.start_s, calendar.cell_s) == lasts.last)
    rows = rows.join(crossed, rows.last_day - rows.first_day == crossed.midnights)
    day = rows.first_day + rows.later
    rows = rows.join(days, rows.curve.cast("int64") * len(calendar.days) + day == days.key)
    return layer.times(rows, [rows[f"whole_{n}"] for n in range(len(layer.limbs))])


def shortest_day(calendar: Calendar) -> int:
    """In seconds. Whatever lasts no longer crosses at most one midnight."""
    return min((last - first for first, last in pairwise(calendar.day_cells)), default=0) * calendar.cell_s


def layer_values(rows: Any, layer: Layer, calendar: Calendar, by: Sequence[str], backend: Backend) -> Any:
    """Sums of every limb's value by day and `by`."""
    cells, days = (backend.lend(table) for table in (layer.cells, layer.days))
    rows = rows.filter(rows.start_s < layer.hull.end_s, rows.end_s > layer.hull.start_s)
    parts = [
        look_starts_up(rows, layer, cells, calendar),
        look_ends_up(rows, layer, cells, calendar),
        look_days_up(rows, layer, days, calendar, backend),
    ]
    if "work" in by:  # about as many sums as rows: adding them up before they meet would only be done twice
        return sums_of(ibis.union(*(part.select(*by, "day", *layer.values) for part in parts)), layer, by)
    return sums_of(ibis.union(*(sums_of(part, layer, by) for part in parts)), layer, by)


def sums_of(rows: Any, layer: Layer, by: Sequence[str]) -> Any:
    return rows.group_by(*by, "day").aggregate(**{name: rows[name].sum().cast(WIDE) for name in layer.values})


def flow_values(parts: Any, layer: Layer, calendar: Calendar, by: Sequence[str], backend: Backend) -> Any:
    """Flows are cut at the cells they cross, so the price there is all that they need."""
    cells = backend.lend(layer.cells)
    parts = parts.mutate(place=parts.curve.cast("int64") * calendar.cells + parts.cell)
    parts = parts.join(cells, parts.place == cells.key)
    prices = {f"all_{n}": parts.units_part * parts[f"price_{n}"].cast(WIDE) for n in range(len(layer.limbs))}
    return sums_of(parts.mutate(**prices), layer, by)


def value_rows(
    rows: Any, grid: Grid, market: Market, backend: Backend, by: Sequence[str]
) -> Mapping[tuple[int, ...], Mapping[Kind, int]]:
    """What measured rows cost by kind of price, before weights, under (*by, day)."""
    return merged(look_up(rows, grid, market, backend, by))


def look_up(rows: Any, grid: Grid, market: Market, backend: Backend, by: Sequence[str]) -> Iterator[tuple[Layer, Any]]:
    """Layer by layer, the query for it."""
    pool, calendar = market.pool, market.calendar
    if pool.method != "time" and all(METERS[name].flow for name in pool.meter):
        parts = flow_parts(rows, {"units": rows.units}, calendar, "work", fine=False)
        return ((layer, flow_values(parts, layer, calendar, by, backend)) for layer in grid.layers)
    return ((layer, layer_values(rows, layer, calendar, by, backend)) for layer in grid.layers)


def merged(found: Iterable[tuple[Layer, Any]]) -> Mapping[tuple[int, ...], Mapping[Kind, int]]:
    out: dict[tuple[int, ...], dict[Kind, int]] = {}
    for layer, expression in found:
        table = expression.to_pyarrow()
        keys = zip(*(table[name].to_pylist() for name in table.column_names if name not in layer.values), strict=True)
        sums = [(from_arrow(table[name]).tolist(), kind, worth) for name, (kind, worth) in layer.values.items()]
        for n, key in enumerate(keys):
            here = out.setdefault(key, {})
            for numbers, kind, worth in sums:
                here[kind] = here.get(kind, 0) + numbers[n] * worth
    return out
