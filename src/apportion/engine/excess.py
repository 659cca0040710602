"""Use beside stated capacity: where more was asked for than there is, and where nobody said how much there is. Both are told; no figure changes.

Asked for is what the pool's driver counts, before shared boards cut it down. It is compared where money lies: slot by slot, over the whole pool,
or node by node where each has its own price. Where no capacity is stated there is nothing to be above.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from apportion.engine.boards import Boards
from apportion.engine.calendar import HOUR_S, Slot
from apportion.engine.claims import WHOLE_POOL, Reach, claim
from apportion.engine.demand import UNITS, scale_of
from apportion.engine.dues import Dues
from apportion.engine.grids import integrate_grid, measure_curves, measured
from apportion.engine.lines import Tranches
from apportion.engine.price import Market, Money, slot_money
from apportion.engine.setting import Setting
from apportion.engine.steps import Tally
from apportion.engine.supply import Levels, read_levels
from apportion.engine.wide import Whole, running, zeros
from apportion.model.findings import ZERO, Finding
from apportion.model.meters import METERS
from apportion.model.money import for_reading
from apportion.policy.methods import RESERVED, VALUED
from apportion.policy.pools import Pool

ONE = Decimal(1)
Places = Sequence[tuple[int, Slot]]


@dataclass(frozen=True, slots=True)
class Counted:
    """One meter of a pool: unit-seconds asked for and stated, by curve and cell. `natural`: how much one of them is of the unit that people know."""

    meter: str
    curves: Sequence[int]
    asked: Whole
    stated: Whole
    natural: Fraction

    def hours(self, unit_seconds: int) -> Fraction:
        return self.natural * unit_seconds / HOUR_S

    def above(self, places: Places) -> tuple[Fraction, Fraction]:
        """Hours asked for above what is stated, and all that were asked for, where money lies."""
        row_of = {curve: row for row, curve in enumerate(self.curves)}
        known = [(row_of[curve], slot) for curve, slot in places if curve in row_of]
        rows = np.array([row for row, _ in known], dtype=np.int64)
        first, last = (np.array([slot[end] for _, slot in known], dtype=np.int64) for end in (0, 1))
        asked, stated = (sums[rows, last] - sums[rows, first] for sums in map(running, (self.asked, self.stated)))
        over = np.where((stated > 0).astype(bool), np.maximum(asked - stated, 0), 0)
        return self.hours(int(over.sum())), self.hours(int(asked.sum()))

    def without(self) -> tuple[Fraction, Fraction]:
        """Hours asked for in cells in which nothing is stated, and all that were asked for: by node where each has a curve, else of the whole pool."""
        first = 1 if len(self.curves) > 1 else 0
        asked, stated = self.asked[first:], self.stated[first:]
        return self.hours(int(asked[stated == 0].sum())), self.hours(int(asked.sum()))


def places_of(name: str, money: Money, tranches: Tranches, reach: Reach, setting: Setting) -> Places:
    """The curves and slots in which a pool's money lies, by the slot that the pool says; methods of peaks lay it on whole periods first."""
    pool = setting.policy.pools[name]
    if pool.method in VALUED:
        plain = pool.model_copy(update={"method": "proportional"})
        curves = setting.curves_of(name, set(reach.resources))
        money = slot_money(tranches.of(name), plain, setting.calendar, curves)
    return list(money)


def places_due(dues: Dues) -> Places:
    """The same of money that lies in arrays."""
    keys = np.unique(np.stack([dues.curve, dues.first, dues.last]), axis=1)
    return [(dues.curves[curve], (first, last)) for curve, first, last in keys.T.tolist()]


def count_market(market: Market) -> Counted:
    """Of one meter that no board cuts down, as it is shared."""
    curves, cells = sorted({WHOLE_POOL, *market.demand, *market.supply.capacity}), market.calendar.cells
    asked = {
        curve: {cell: sum(amounts[UNITS] for amounts in loads.values()) for cell, loads in found.items()}
        for curve, found in market.demand.items()
    }
    stated = market.supply.capacity
    meter = next(iter(market.pool.meter))
    asked_grid, stated_grid = (laid_out(series, curves, cells) for series in (asked, stated))
    return Counted(meter, curves, asked_grid, stated_grid, market.scale.natural)


def laid_out(series: Mapping[int, Mapping[int, int]], curves: Sequence[int], cells: int) -> Whole:
    out = zeros(len(curves), cells)
    for row, curve in enumerate(curves):
        for cell, units in series.get(curve, {}).items():
            out[row, cell] = units
    return out


def count_tally(tally: Tally, curves: Sequence[int], levels: Levels, pool: Pool, setting: Setting) -> Counted:
    stated = integrate_grid(levels.offered, curves, setting.calendar) if tally.offered is None else tally.offered
    return Counted(next(iter(pool.meter)), curves, tally.units, stated, scale_of(pool).natural)


def count_meters(name: str, reach: Reach, setting: Setting) -> list[Counted]:
    """Each meter by itself, from the usage rows; of flows nobody states a capacity."""
    pool = setting.policy.pools[name]
    levels = [meter for meter, weight in pool.meter.items() if weight and not METERS[meter].flow]
    return [found for meter in levels if (found := count_meter(name, meter, reach, setting))]


def count_meter(name: str, meter: str, reach: Reach, setting: Setting) -> Counted | None:
    """None where nothing is stated, and nothing is said of that."""
    pool = setting.policy.pools[name].model_copy(update={"meter": {meter: Fraction(1)}, "method": "proportional"})
    own, calendar = setting.with_pools({name: pool}), setting.calendar
    offered = read_levels(name, reach, set(), own).offered
    if not offered and setting.policy.pools[name].method != "capacity_rate":
        return None
    by_node = sorted(own.curves_of(name, set(reach.resources)).values()) if pool.scope == "resource" else []
    curves = (WHOLE_POOL, *by_node)
    asked = zeros(len(curves), calendar.cells)
    for season in setting.workforce.seasons if reach.resources and reach.persons else ():
        claimed = claim(name, reach, season, own)
        asked = asked + measure_curves(measured(claimed, claimed.rows, pool), curves, calendar)[0]["units"]
    return Counted(meter, curves, asked, integrate_grid(offered, curves, calendar), scale_of(pool).natural)


def counts_alone(pool: Pool, boards: Boards) -> bool:
    """Whether a pool's own market says what was asked for: one level, units and not seconds, and no board that cuts it down."""
    level = len(pool.meter) == 1 and not any(METERS[meter].flow for meter in pool.meter)
    return level and pool.method in RESERVED and not boards


def find_excess(name: str, counted: Iterable[Counted], places: Places) -> tuple[Finding, ...]:
    """One finding of a pool in which more was used than is stated."""
    over = [(each, above, asked) for each in counted for above, asked in [each.above(places)] if above]
    if not over:
        return ()
    return (
        Finding(
            "used-above-capacity",
            f"more of pool '{name}' was asked for than its capacity states; the price there is money over demand, and nobody is charged twice",
            "see whether the capacity is whole, and whether usage is counted twice",
            pool=name,
            **sum_parts(over),
        ),
    )


def sum_parts(parts: Sequence[tuple[Counted, Fraction, Fraction]]) -> dict[str, Any]:
    """The hours of a finding, over meters of which so many hours are touched out of so many that were asked for; the largest share counts."""
    return {
        "hours": for_reading(sum((touched for _, touched, _ in parts), Fraction(0))),
        "unit": " and ".join(METERS[each.meter].unit for each, _, _ in parts),
        "share": max(for_reading(touched / asked) for _, touched, asked in parts),
    }


def find_no_capacity(
    name: str, tranches: Tranches, counted: Sequence[Counted], setting: Setting
) -> tuple[Finding, ...]:
    """Use of a pool beside which nobody can see what is idle, since no capacity is stated there: of all of the pool, or of some nodes and hours."""
    pool = setting.policy.pools[name]
    if pool.method != "capacity_rate" or not len(tranches.table_of(name)):
        return ()
    if any(each.stated.any() for each in counted):
        return find_without(name, counted)
    return (no_capacity(name, tranches, counted, setting),)


def find_without(name: str, counted: Iterable[Counted]) -> tuple[Finding, ...]:
    """Use of nodes, or in hours, of which nobody states a capacity, though of others somebody does."""
    bare = [(each, hours, asked) for each in counted for hours, asked in [each.without()] if hours]
    if not bare:
        return ()
    return (
        Finding(
            "no-capacity",
            f"pool '{name}' was used on nodes or in hours of which nobody states a capacity: nothing is idle there, and those who ran pay for all of it",
            "state the capacity of these nodes for all of that time, under the names by which usage calls them, and ingest again",
            pool=name,
            **sum_parts(bare),
        ),
    )


def no_capacity(name: str, tranches: Tranches, counted: Iterable[Counted], setting: Setting) -> Finding:
    """Of a pool of which nobody states anything."""
    policy, found = setting.policy, list(counted)
    sums = tranches.table_of(name).group_by("bill").aggregate([("amount", "sum")]).to_pylist()
    money = sum((row["amount_sum"] for row in sums if setting.currencies[row["bill"]] == policy.currency), ZERO)
    hours = sum((each.hours(int(each.asked[0].sum())) for each in found), Fraction(0))
    return Finding(
        "no-capacity",
        f"nobody states how much pool '{name}' has, so `capacity_rate` sees nothing idle in hours with use: those who ran pay for all of it",
        "read a source of capacity whose nodes `usage` matches, or share the pool by `proportional`",
        pool=name,
        hours=for_reading(hours),
        unit=" and ".join(METERS[each.meter].unit for each in found) if hours else "",
        money=money,
        currency=policy.currency if money else "",
        share=ONE,
    )
