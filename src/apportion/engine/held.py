"""Two views of a usage row: what was held (allocated) and what was used, and which of what is charged for it was held without use.

What nothing was measured of is neither used nor wasted: it is counted apart. Flows are used as they flow; they have no such views.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import lcm
from typing import Any
from zoneinfo import ZoneInfo

import ibis
import pyarrow.compute as pc

from apportion.engine.calendar import Slot
from apportion.engine.claims import Claim, clip, component_of
from apportion.engine.curve import Kind
from apportion.engine.demand import measures, scale_of
from apportion.engine.encode import METER_NUMBER
from apportion.engine.plan import Plan
from apportion.model.meters import METERS
from apportion.model.money import plain
from apportion.model.times import Interval
from apportion.policy.pools import Pool

ALLOCATED, MEASURED, UNMEASURED = ("allocated", 0), ("measured", 0), ("unmeasured", 0)
WASTED, HELD = ("wasted", 0), ("held", 0)  # inside what is charged for use, and beside it: the idle that was held
OCCUPIED = ("occupied", 0)  # what was held in all the seconds that are paid for
QUANTITIES: Mapping[Kind, str] = {ALLOCATED: "allocated", MEASURED: "used", UNMEASURED: "unmeasured"}


@dataclass(frozen=True, slots=True)
class Unit:
    """What a pool's quantities are counted in: so many of `per` make one that people know. Several meters are added up by their weights."""

    name: str
    per: int
    factors: Mapping[str, int]  # per base unit of each meter


def unit_of(pool: Pool) -> Unit | None:
    """None for flows. A pool of another component than its meter's own is named, since the same usage may count in two such pools."""
    if any(METERS[name].flow for name in pool.meter):
        return None
    first = METERS[next(iter(pool.meter))]
    component = component_of(pool)
    aside = "" if component == first.component else f" ({component})"
    if len(pool.meter) == 1:
        return Unit(first.unit + aside, first.base, {first.name: 1})
    weights = {name: weight / METERS[name].base for name, weight in pool.meter.items()}
    below = lcm(*(weight.denominator for weight in weights.values()))
    names = (f"{weight_text(weight)} {METERS[name].unit}" for name, weight in pool.meter.items() if weight)
    return Unit(" + ".join(names) + aside, below, {name: int(weight * below) for name, weight in weights.items()})


def weight_text(weight: Fraction) -> str:
    """`0.9`, or `1/3` where no decimals end."""
    near = Decimal(weight.numerator) / Decimal(weight.denominator)
    return plain(near) if Fraction(near) == weight else str(weight)


def beheld(claimed: Claim, pool: Pool) -> Any:
    """Rows of a claim inside its season with all their amounts: `units` are charged for use, of these `wasted` were held without use; `held`
    are charged as idle; `allocated`, `used` and `unmeasured` are the two views, in units as people know them.
    """
    rows = clip(claimed.rows, claimed.season)
    unit, scale = unit_of(pool), scale_of(pool)
    sums = measures(rows, pool.driver, scale)
    amounts = {name: amount for name, amount in sums.items() if name in ("units", "held")}
    spare = ibis.greatest(rows.allocated - ibis.coalesce(rows.used, rows.allocated), 0)
    if unit is not None:
        counted = times(rows, unit.factors)
        amounts |= {
            "allocated": rows.allocated * counted,
            "used": ibis.coalesce(rows.used, 0) * counted,
            "unmeasured": ibis.ifelse(rows.used.isnull(), rows.allocated, 0) * counted,
            "wasted": spare * times(rows, scale.factors) * scale.allocated,
        }
        if pool.method == "time":
            amounts["wasted"] = spare * counted
    if pool.method == "time":  # a second counts, whatever was asked for
        amounts["units"] = ibis.literal(1, "int64")
    return rows.select("curve", "bearer", "rate", "work", "start_s", "end_s", **amounts)


def times(rows: Any, factors: Mapping[str, int]) -> Any:
    return ibis.cases(*((rows.meter == METER_NUMBER[name], n) for name, n in factors.items()), else_=0).cast("int64")


def span_of(name: str, plan: Plan) -> Slot:
    """The cells in which quantities count: the pool's billing period, so that late lines do not count the hours of an earlier one again."""
    setting = plan.trace.setting
    if setting.late:
        return 0, 0
    table = plan.trace.lines.tranches.table_of(name)
    if not len(table):
        return setting.calendar.widen(setting.period.interval(ZoneInfo(setting.policy.time_zone)))
    return setting.calendar.widen(
        Interval(pc.min(table["billing_start_s"]).as_py(), pc.max(table["billing_end_s"]).as_py())
    )
