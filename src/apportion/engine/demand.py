"""What was asked for: unit-seconds per bearer and cell, found from the start and end of each usage interval alone.

A running sum of +amount/-amount events gives the level; the cost of this step grows with the rows, not with the length of jobs or the
number of slots. Flows (bytes moved, joules) are spread evenly over their interval, whole units adding up.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm
from typing import Any

import ibis
import numpy as np
import pyarrow as pa

from apportion.engine.backend import both_ends
from apportion.engine.backend import whole_quotient as divide
from apportion.engine.calendar import Calendar
from apportion.engine.encode import METER_NUMBER, Bound
from apportion.engine.wide import LARGEST_INT, from_arrow, zeros
from apportion.model.meters import METERS
from apportion.model.times import Interval
from apportion.policy.pool_parts import Driver
from apportion.policy.pools import Pool

WIDE = "decimal(38,0)"
BILLION = 10**9
FINER = (
    10**36,
    10**18,
    1,
)  # a flow is spread to 10^-36 of a base unit: whole ones, 18 digits and 18 more, each summed by itself
FINE = FINER[0]
UNITS, ALLOCATED, HELD = range(3)
LOAD = ("curve", "bearer", "rate")  # who asked for how much of what

Series = dict[tuple[int, int, int], dict[int, list[int]]]  # (curve, bearer, rate) -> cell -> [units, allocated, held]


@dataclass(frozen=True, slots=True)
class Scale:
    """How a row's amount becomes whole units: one factor per meter, and what one unit is of the natural unit."""

    factors: Mapping[str, int]  # per base unit of each meter
    allocated: int  # the driver's weights, as whole numbers: units = factor * (allocated * a + used * u)
    used: int
    natural: Fraction  # natural units in one unit
    fine: int = 1  # units that are counted for one whole one: more than 1 for flows, which are spread, and for parts of shared boards

    @property
    def capacity(self) -> int:
        return self.allocated + self.used


def scale_of(pool: Pool, fine: int = 1) -> Scale:
    """Weights per natural unit and the driver's blend, over one common denominator. `fine`: as in a Scale, of levels."""
    weights = {name: weight / METERS[name].base for name, weight in pool.meter.items()}
    below = lcm(*(weight.denominator for weight in weights.values()))
    fine = FINE if any(METERS[name].flow for name in pool.meter) else fine
    alpha = {"allocated": Fraction(1), "used": Fraction(0), "max": Fraction(1)}.get(pool.driver.kind, pool.driver.alpha)
    if pool.driver.kind == "max":
        return Scale(
            {name: int(weight * below) for name, weight in weights.items()}, 1, 0, Fraction(1, below * fine), fine
        )
    parts = alpha.denominator
    factors = {name: int(weight * below) for name, weight in weights.items()}
    return Scale(factors, alpha.numerator, parts - alpha.numerator, Fraction(1, below * parts * fine), fine)


def measures(usage: Any, driver: Driver, scale: Scale) -> dict[str, Any]:
    """What is summed: units by the driver, and beside them what was allocated and what was held without use, where they differ."""
    factor = ibis.cases(
        *((usage.meter == METER_NUMBER[name], number) for name, number in scale.factors.items()), else_=0
    ).cast("int64")
    allocated = usage.allocated * factor
    used = ibis.coalesce(usage.used, usage.allocated) * factor
    if driver.kind == "allocated":
        return {"units": allocated}
    if driver.kind == "max":
        return {"units": ibis.greatest(allocated, used), "allocated": allocated}
    units = allocated * scale.allocated + used * scale.used
    held = allocated * scale.capacity
    return {"units": units, "allocated": held, "held": ibis.greatest(held - units, 0)}


def is_wide(largest: int, rows: int, calendar: Calendar) -> bool:
    """Whether sums may leave 64 bits; then 38-digit decimals are summed instead."""
    return largest * calendar.cell_s * rows >= LARGEST_INT


def extent(usage: Any, sums: Mapping[str, Any]) -> tuple[int, int]:
    """The largest amount of any row, and how many rows there are; at least 1."""
    largest = {name: ibis.coalesce(amount.max(), 0) for name, amount in sums.items()}
    found = usage.aggregate(**largest, rows=usage.count()).to_pyarrow().to_pylist()[0]
    return max(1, *(int(found[name]) for name in sums)), max(1, found["rows"])


def most_units(pool: Pool, bounds: Mapping[str, Bound]) -> int:
    """More than all rows of the pool's meters can come to at any moment."""
    scale = scale_of(pool)
    found = [(scale.factors[name], bounds[name]) for name in pool.meter if name in bounds]
    return sum(factor * bound.rows * (bound.allocated + bound.used) * scale.capacity for factor, bound in found)


def level_events(
    usage: Any, sums: dict[str, Any], calendar: Calendar, *, decimal: bool, by: Sequence[str] = LOAD
) -> Any:
    """One event where each row starts and one where it ends: its part of that cell, and the level from the next cell on.

    Every row is met by two signs on its way to the sums, so that nothing is kept in between.
    """
    window = calendar.window
    rows = usage.select(
        *by,
        first=ibis.greatest(usage.start_s, window.start_s),
        last=ibis.least(usage.end_s, window.end_s),
        **{name: amount.cast(WIDE) if decimal else amount for name, amount in sums.items()},
    ).cross_join(both_ends(usage))
    offset = ibis.ifelse(rows.sign > 0, rows.first, rows.last) - calendar.start_s
    rows = rows.mutate(offset=offset, cell=divide(offset, calendar.cell_s))
    left = calendar.cell_s - (rows.offset - rows.cell * calendar.cell_s)
    values = {f"{name}_level": rows[name] * rows.sign for name in sums}
    values |= {f"{name}_part": rows[name] * rows.sign * left for name in sums}
    events = rows.select(*by, "cell", **values)
    return events.group_by(*by, "cell").aggregate(**{
        name: events[name].sum().cast(WIDE) if decimal else events[name].sum() for name in values
    })  # fmt: skip


def flow_parts(usage: Any, sums: dict[str, Any], calendar: Calendar, *also: str, fine: bool = True) -> Any:
    """Each flow row cut at the cells it crosses: the running floor of an even spread, to 10^-36 of a unit (`_part_0` to `_part_2`, see
    FINER) or to whole ones.
    """
    length = usage.end_s - usage.start_s
    first = divide(usage.start_s - calendar.start_s, calendar.cell_s)
    last = divide(usage.end_s - calendar.start_s - 1, calendar.cell_s)
    rows = usage.select(
        "curve", "bearer", "rate", *also, "start_s", length=length, **sums, cell=ibis.range(first, last + 1).unnest()
    )
    begin = ibis.greatest(calendar.start_s + rows.cell * calendar.cell_s - rows.start_s, 0)
    end = ibis.least(calendar.start_s + (rows.cell + 1) * calendar.cell_s - rows.start_s, rows.length)

    def until(amount: Any, second: Any) -> list[Any]:
        """What has flowed after some seconds: whole units, then nine digits of the rest at a time. No product leaves 64 bits."""
        rest = amount % rows.length
        part = rest * second
        found = [divide(amount - rest, rows.length) * second + divide(part, rows.length)]
        for _ in range(2 if fine else 0):
            nines = (part % rows.length) * BILLION
            part = (nines % rows.length) * BILLION
            found.append(divide(nines, rows.length) * BILLION + divide(part, rows.length))
        return found

    values = {
        f"{name}_part_{n}" if fine else f"{name}_part": (after - before).cast(WIDE)
        for name in sums
        for n, (after, before) in enumerate(zip(until(rows[name], end), until(rows[name], begin), strict=True))
    }
    parts = rows.select("curve", "bearer", "rate", *also, "cell", **values)
    return parts.group_by("curve", "bearer", "rate", *also, "cell").aggregate(**{
        name: parts[name].sum().cast(WIDE) for name in values
    })  # fmt: skip


def measure_demand(usage: Any, pool: Pool, calendar: Calendar, bounds: Mapping[str, Bound]) -> Series:
    """Unit-seconds of rows that already carry their curve, bearer and rate."""
    scale = scale_of(pool)
    flows = [METER_NUMBER[name] for name in pool.meter if METERS[name].flow]
    levels = [METER_NUMBER[name] for name in pool.meter if not METERS[name].flow]
    found: Series = {}
    if levels:
        rows = usage.filter(usage.meter.isin(levels))
        sums = measures(rows, pool.driver, scale)
        wide = is_wide(most_units(pool, bounds), 1, calendar)
        found = integrate_events(level_events(rows, sums, calendar, decimal=wide), list(sums), calendar)
    if flows:
        rows = usage.filter(usage.meter.isin(flows))
        sums = measures(rows, pool.driver, scale)
        add_parts(found, flow_parts(rows, sums, calendar).to_pyarrow(), list(sums), calendar)
    return found


def integrate_events(events: Any, names: list[str], calendar: Calendar) -> Series:
    """Run the query, then integrate the events of each bearer over the cells."""
    table = events.to_pyarrow().sort_by([(name, "ascending") for name in (*LOAD, "cell")])
    cells = table["cell"].to_numpy()
    keys = [table[name].to_numpy() for name in LOAD]
    changes = [np.diff(key) != 0 for key in keys]
    first = np.flatnonzero(np.append(True, np.logical_or.reduce(changes))) if len(table) else cells
    columns = {name: (whole_column(table, f"{name}_part"), whole_column(table, f"{name}_level")) for name in names}
    found: Series = {}
    for start, end in pairwise([*first.tolist(), len(table)]):
        here = slice(start, end)
        series = [integrated(cells[here], columns[name][0][here], columns[name][1][here], calendar) for name in names]
        found[tuple(int(key[start]) for key in keys)] = amounts_of(series, names)  # type: ignore[index]
    return found


def whole_column(table: pa.Table, name: str) -> np.ndarray:
    """In 64 bits, or as Python's integers where there are more."""
    column = table[name]
    return from_arrow(column) if pa.types.is_decimal(column.type) else column.to_numpy()


def integrated(cells: np.ndarray, part: np.ndarray, level: np.ndarray, calendar: Calendar) -> tuple[int, np.ndarray]:
    """The first cell, and what every cell from there on holds."""
    first, size = int(cells[0]), calendar.cells - int(cells[0])
    own, rise = np.zeros(size + 1, dtype=part.dtype), np.zeros(size + 1, dtype=part.dtype)
    own[cells - first], rise[cells - first] = part, level
    return first, held_over(own, rise, calendar)


def held_over(part: np.ndarray, level: np.ndarray, calendar: Calendar) -> np.ndarray:
    """Each cell's own part, and what the earlier events hold throughout it; the last is where the window ends."""
    before = np.cumsum(level, axis=-1) - level
    found: np.ndarray = (part + before * calendar.cell_s)[..., :-1]
    return found


def amounts_of(series: list[tuple[int, np.ndarray]], names: list[str]) -> dict[int, list[int]]:
    """Cell -> [units, allocated, held], where there is any; what is not measured apart equals the units, and nothing is held."""
    first = series[0][0]
    some = np.flatnonzero(np.logical_or.reduce([(amounts != 0).astype(bool) for _, amounts in series]))
    found = {name: amounts[some].tolist() for name, (_, amounts) in zip(names, series, strict=True)}
    allocated, held = found.get("allocated", found["units"]), found.get("held", [0] * len(some))
    columns = zip((some + first).tolist(), found["units"], allocated, held, strict=True)
    return {cell: [mine, taken, kept] for cell, mine, taken, kept in columns}


def plus(left: list[int], right: list[int]) -> list[int]:
    return [left[0] + right[0], left[1] + right[1], left[2] + right[2]]


def triples(table: pa.Table, names: list[str]) -> list[list[int]]:
    """[units, allocated, held] of every part of a flow; what is not measured apart equals the units, and nothing is held."""
    found = {name: numbers(table, f"{name}_part") for name in names}
    units = found["units"]
    columns = zip(units, found.get("allocated", units), found.get("held", [0] * len(units)), strict=True)
    return [list(row) for row in columns]


def numbers(table: pa.Table, name: str) -> list[int]:
    """Whole numbers that are spread over three columns."""
    parts = [table[f"{name}_{n}"].to_pylist() for n in range(len(FINER))]
    return [sum(int(part) * worth for part, worth in zip(row, FINER, strict=True)) for row in zip(*parts, strict=True)]


def add_parts(found: Series, table: pa.Table, names: list[str], calendar: Calendar) -> None:
    keys = zip(*(table[name].to_pylist() for name in ("curve", "bearer", "rate", "cell")), strict=True)
    for (curve, bearer, rate, cell), amounts in zip(keys, triples(table, names), strict=True):
        if 0 <= cell < calendar.cells:
            add(found.setdefault((curve, bearer, rate), {}), cell, amounts)


def add(out: dict[int, list[int]], cell: int, amounts: list[int]) -> None:
    if any(amounts):
        known = out.get(cell)
        out[cell] = plus(known, amounts) if known else amounts


def ends_of(rows: Iterable[tuple[Interval, int]], calendar: Calendar) -> Iterator[tuple[int, int, int]]:
    """(cell, part, level) where each interval starts and where it ends, as `level_events` has them of usage."""
    for interval, amount in rows:
        inside = interval.clip(calendar.window)
        for second, sign in ((inside.start_s, 1), (inside.end_s, -1)) if inside.seconds > 0 else ():
            left = calendar.cell_s - (second - calendar.start_s) % calendar.cell_s
            yield calendar.cell(second), sign * amount * left, sign * amount


def integrate_levels(rows: Iterable[tuple[Interval, int]], calendar: Calendar) -> dict[int, int]:
    """Unit-seconds per cell of a few intervals held at a level: capacity and reservations."""
    part, level = zeros(calendar.cells + 1), zeros(calendar.cells + 1)
    for cell, more, higher in ends_of(rows, calendar):
        part[cell] += more
        level[cell] += higher
    return {cell: units for cell, units in enumerate(held_over(part, level, calendar).tolist()) if units}
