"""Unit-seconds and prices of many curves at once: dense arrays of curves by cells, summed from events of start and end."""

from collections.abc import Mapping, Sequence
from typing import Any

import ibis
import numpy as np
import pyarrow as pa

from apportion.engine.calendar import Calendar
from apportion.engine.claims import Claim, clip
from apportion.engine.demand import ends_of, extent, held_over, is_wide, level_events, measures, scale_of, whole_column
from apportion.engine.wide import Whole, zeros
from apportion.model.times import Interval
from apportion.policy.pools import Pool

AMOUNTS = ("units", "held")
Intervals = Mapping[int, Sequence[tuple[Interval, int]]]


def measured(claimed: Claim, rows: Any, pool: Pool, *also: str) -> Any:
    """Rows of a claim inside its season, with the amounts that are charged: `units`, and `held` where the driver tells it."""
    timed = pool.method == "time"  # a second counts, whatever was asked for
    rows = clip(rows, claimed.season)
    sums = {"units": ibis.literal(1, "int64")} if timed else measures(rows, pool.driver, scale_of(pool))
    amounts = {name: amount for name, amount in sums.items() if name in AMOUNTS}
    return rows.select("curve", "bearer", "rate", *also, "start_s", "end_s", **amounts)


def measure_curves(rows: Any, curves: Sequence[int], calendar: Calendar) -> tuple[dict[str, Whole], int, int]:
    """The amounts of measured rows by curve and cell (the first curve is that of the whole pool), the largest of any row, and how many rows."""
    sums = {name: rows[name] for name in ("units", "allocated", "held") if name in rows.columns}
    largest, many = extent(rows, sums)
    wide = is_wide(largest, many, calendar)
    events = level_events(rows, sums, calendar, decimal=wide, by=("curve",)).to_pyarrow()
    out = {}
    for name in sums:
        out[name] = integrated(events, name, curves, calendar)
        out[name][0] = out[name].sum(axis=0)
    return out, largest, many


def integrated(events: pa.Table, name: str, curves: Sequence[int], calendar: Calendar) -> Whole:
    rows = np.searchsorted(curves, events["curve"].to_numpy())
    cells = events["cell"].to_numpy()
    sums = []
    for ending in ("part", "level"):
        amounts = whole_column(events, f"{name}_{ending}")
        sums.append(np.zeros((len(curves), calendar.cells + 1), dtype=amounts.dtype))
        sums[-1][rows, cells] = amounts
    return held_over(sums[0], sums[1], calendar).astype(object)


def integrate_grid(levels: Intervals, curves: Sequence[int], calendar: Calendar) -> Whole:
    """The same of a few intervals each: capacity."""
    part, level = zeros(len(curves), calendar.cells + 1), zeros(len(curves), calendar.cells + 1)
    for row, curve in enumerate(curves):
        for cell, more, higher in ends_of(levels.get(curve, ()), calendar):
            part[row, cell] += more
            level[row, cell] += higher
    return held_over(part, level, calendar)


def stepped(rows: np.ndarray, slots: tuple[np.ndarray, np.ndarray], heights: Whole, shape: tuple[int, int]) -> Whole:
    """A price that holds from the first cell of its slot until the last; where slots overlap, their sum."""
    first, last = slots
    if len(rows) and (last - first).max() == 1:  # then no two are the same
        out = zeros(*shape)
        out[rows, first] = heights
        return out
    changes = zeros(shape[0], shape[1] + 1)
    np.add.at(changes, (rows, first), heights)
    np.subtract.at(changes, (rows, last), heights)
    steps: Whole = np.cumsum(changes, axis=1)[:, :-1]
    return steps
