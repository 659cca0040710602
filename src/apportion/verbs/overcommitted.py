"""GPUs of which more was asked than there is: a stale inventory, or parts of a shared board that add up to more than the board."""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.amounts import held_units
from apportion.engine.grids import integrate_grid, measure_curves
from apportion.model.times import Interval
from apportion.reports.words import counted
from apportion.verbs.plan import Computed

METER = "gpu"
FEW = 3


def overcommitted(computed: Computed) -> Iterator[str]:
    """The fullest few, by hours in which the average was above the capacity. What has no capacity has no bound."""
    calendar = computed.plan.trace.setting.calendar
    offered = capacity_of(computed)
    names = sorted(offered)
    if not names:
        return
    curves = range(len(names) + 1)  # the first is the sum of all
    asked, _, _ = measure_curves(rows_on(computed, names), curves, calendar)
    there = integrate_grid({n: offered[name] for n, name in enumerate(names, 1)}, curves, calendar)
    units = asked["units"]
    over = ((units > there) & (there > 0)).astype(bool)
    hours = over[1:].sum(axis=1)
    found = sorted((-int(hours[n]), name, n + 1) for n, name in enumerate(names) if hours[n])
    for many, name, curve in found[:FEW]:
        most = max(Fraction(int(units[curve, cell]), int(there[curve, cell])) for cell in np.flatnonzero(over[curve]))
        span = counted(-many, "hour") if calendar.cell_s == 3600 else counted(-many, "stretch", "stretches")
        yield f"{name}: up to {round(100 * most)} % of its GPUs were asked for, more than there are in {span}"
    if len(found) > FEW:
        yield f"{counted(len(found) - FEW, 'more resource')} of which more GPUs were asked for than there are"


def capacity_of(computed: Computed) -> dict[str, list[tuple[Interval, int]]]:
    capacity = computed.world.capacity.filter(pc.field("meter") == METER)
    out: dict[str, list[tuple[Interval, int]]] = defaultdict(list)
    for row in capacity.select(["resource", "start_s", "end_s", "amount"]).to_pylist():
        out[row["resource"]].append((Interval(row["start_s"], row["end_s"]), row["amount"]))
    return out


def rows_on(computed: Computed, names: list[str]) -> Any:
    """Usage of the resources, numbered from 1, inside the calendar."""
    setting = computed.plan.trace.setting
    window, usage = setting.calendar.window, computed.world.usage
    if not hasattr(usage, "to_pyarrow"):
        usage = setting.backend.lend(usage)
    numbers = setting.backend.lend(
        pa.table({"known": pa.array(names), "curve": pa.array(range(1, len(names) + 1), pa.int64())})
    )
    rows = usage.filter(usage.meter == METER, usage.start_s < window.end_s, usage.end_s > window.start_s)
    rows = rows.join(numbers, rows.resource == numbers.known)
    return rows.select(
        "curve",
        start_s=ibis.greatest(rows.start_s, window.start_s),
        end_s=ibis.least(rows.end_s, window.end_s),
        units=held_units(rows),
    )
