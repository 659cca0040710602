"""A pool's money as arrays: how much falls due on each curve and slot, by column and day. For bills of a million lines."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.account import Column
from apportion.engine.calendar import Calendar, Slot
from apportion.engine.claims import WHOLE_POOL
from apportion.engine.wide import Whole, from_arrow, sum_by, zeros
from apportion.model.money import GRAINS_PER_ATTO
from apportion.policy.pools import Pool

CHUNK = 2_000_000  # lines times cells that are spread at once


@dataclass(frozen=True, slots=True)
class Dues:
    """Parallel arrays, one row for each curve, slot, column and day, in that order. `curve` is a place in `curves`."""

    curves: tuple[int, ...]
    columns: tuple[Column, ...]
    curve: np.ndarray
    first: np.ndarray
    last: np.ndarray
    column: np.ndarray
    day: np.ndarray
    grains: Whole

    def rows(self) -> Iterator[tuple[int, Slot, Column, int, int]]:
        names = ("curve", "first", "last", "column", "day", "grains")
        for curve, first, last, column, day, grains in zip(
            *(getattr(self, name).tolist() for name in names), strict=True
        ):
            yield self.curves[curve], (first, last), self.columns[column], day, grains


class MoneyOf(Mapping[tuple[int, Slot], Mapping[Column, Mapping[int, int]]]):
    """The same money by curve and slot, for those who ask about single ones; made when first read."""

    def __init__(self, dues: Dues) -> None:
        self.dues = dues

    @cached_property
    def made(self) -> dict[tuple[int, Slot], dict[Column, dict[int, int]]]:
        out: dict[tuple[int, Slot], dict[Column, dict[int, int]]] = {}
        for curve, slot, column, day, grains in self.dues.rows():
            out.setdefault((curve, slot), {}).setdefault(column, {})[day] = grains
        return out

    def __getitem__(self, where: tuple[int, Slot]) -> Mapping[Column, Mapping[int, int]]:
        return self.made[where]

    def __iter__(self) -> Iterator[tuple[int, Slot]]:
        return iter(self.made)

    def __len__(self) -> int:
        return len(self.made)


def columns_of(table: pa.Table) -> tuple[tuple[Column, ...], np.ndarray]:
    """The distinct columns of money, sorted, and each tranche's place among them."""
    keys = ["bill", "component", "family"]
    rows = table.select(keys).group_by(keys).aggregate([]).to_pylist()
    found = tuple(sorted(Column(row["bill"], row["component"], row["family"]) for row in rows))
    if len(found) == 1:
        return found, np.zeros(len(table), dtype=np.int64)
    place = {column: n for n, column in enumerate(found)}
    values = zip(*(table[key].to_pylist() for key in keys), strict=True)
    return found, np.fromiter((place[Column(*value)] for value in values), dtype=np.int64, count=len(table))


def dues_of(table: pa.Table, pool: Pool, calendar: Calendar, curve_of: Mapping[str, int]) -> Dues:
    """The tranches of one pool over the slots of their charge periods, evenly by the second."""
    curves = (WHOLE_POOL, *sorted(curve_of.values()))
    place = {curve: n for n, curve in enumerate(curves)}
    known = pa.array(list(curve_of), pa.string())
    found = pc.index_in(table["resource"], value_set=known)
    rows_of = np.array([*(place[curve] for curve in curve_of.values()), 0], dtype=np.int64)
    curve = rows_of[np.asarray(pc.fill_null(found, len(curve_of)), dtype=np.int64)]
    columns, column = columns_of(table)
    grains = from_arrow(table["amount"], GRAINS_PER_ATTO)
    charge = [table[name].to_numpy() for name in ("charge_start_s", "charge_end_s")]
    billing = [table[name].to_numpy() for name in ("billing_start_s", "billing_end_s")]
    radix = (len(curves), calendar.cells + 1, calendar.cells + 1, len(columns), len(calendar.days))
    keys, sums = np.zeros(0, dtype=np.int64), zeros(0)
    for chunk in chunks(charge, calendar):
        index, cell, parts = spread_out([bound[chunk] for bound in charge], grains[chunk], calendar)
        first, last = slots_of(pool, cell, [bound[chunk][index] for bound in (*charge, *billing)], calendar)
        day = np.asarray(calendar.day_of, dtype=np.int64)[cell]
        key = np.ravel_multi_index((curve[chunk][index], first, last, column[chunk][index], day), radix)
        keys, sums = sum_by(np.concatenate([keys, key]), np.concatenate([sums, parts]))
    curve, first, last, column, day = np.unravel_index(keys, radix)
    return Dues(curves, columns, curve, first, last, column, day, sums)


def chunks(charge: list[np.ndarray], calendar: Calendar) -> Iterator[slice]:
    """Stretches of tranches that together touch about as many cells as fit."""
    counts = np.cumsum((charge[1] - charge[0]) // calendar.cell_s + 2)
    bounds = np.searchsorted(counts, np.arange(CHUNK, (counts[-1] if len(counts) else 0) + CHUNK, CHUNK)).tolist()
    edges = sorted({0, *bounds, len(counts)})
    yield from (slice(*pair) for pair in pairwise(edges))


def spread_out(charge: list[np.ndarray], grains: Whole, calendar: Calendar) -> tuple[np.ndarray, np.ndarray, Whole]:
    """(tranche, cell, grains) for every cell of every charge period: differences of the running floor."""
    start, end = charge
    first = (start - calendar.start_s) // calendar.cell_s
    last = np.maximum(first + 1, -((calendar.start_s - end) // calendar.cell_s))
    counts = last - first
    index = np.repeat(np.arange(len(start)), counts)
    begins = np.cumsum(counts) - counts
    cell = first[index] + np.arange(len(index)) - begins[index]
    if len(index) == len(start):
        return index, cell, grains
    opens = calendar.start_s + cell * calendar.cell_s
    seconds = np.minimum(end[index], opens + calendar.cell_s) - np.maximum(start[index], opens)
    so_far = np.cumsum(seconds)
    so_far -= (so_far[begins] - seconds[begins])[index]
    whole = so_far[begins + counts - 1]
    alone = counts == 1  # also where a charge period has no length
    whole[alone] = so_far[begins[alone]] = 1
    floors = grains[index] * so_far // whole[index]
    parts = floors.copy()
    parts[1:] -= floors[:-1]
    parts[begins] = floors[begins]
    return index, cell, parts


def slots_of(
    pool: Pool, cell: np.ndarray, bounds: list[np.ndarray], calendar: Calendar
) -> tuple[np.ndarray, np.ndarray]:
    """The slot of each piece. The period slot is the billing period, or the charge period where it is billed late."""
    if pool.slot != "period":
        slots = np.array([calendar.slot_of(n, pool.slot) for n in range(calendar.cells)], dtype=np.int64)
        return slots[cell, 0], slots[cell, 1]
    charge_start, charge_end, billing_start, billing_end = bounds
    inside = (billing_start <= charge_start) & (charge_end <= billing_end)
    start, end = np.where(inside, billing_start, charge_start), np.where(inside, billing_end, charge_end)
    first = (start - calendar.start_s) // calendar.cell_s
    return first, np.maximum(first + 1, -((calendar.start_s - end) // calendar.cell_s))
