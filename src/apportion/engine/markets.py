"""What a pool's market is made of: its money by slot, what was asked for, and what was offered and promised."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from apportion.engine.boards import NO_BOARDS, Boards, Curves
from apportion.engine.calendar import Calendar
from apportion.engine.claims import WHOLE_POOL, Reach, claim, given_back
from apportion.engine.demand import Series, measure_demand, plus
from apportion.engine.lines import Tranches
from apportion.engine.occupancy import occupied_seconds, own_seconds
from apportion.engine.price import Load, Market, Money, slot_money
from apportion.engine.setting import Setting
from apportion.engine.supply import Levels, integrate_supply
from apportion.engine.workloads import Season


def by_curve(series: Series, season: Season, calendar: Calendar, out: Curves) -> None:
    """Turn bearer-wise series into cell-wise ones, only inside the season."""
    first, last = calendar.cell(season.interval.start_s), calendar.cell(season.interval.end_s)
    for (curve, bearer, rate), cells in series.items():
        here = out.setdefault(curve, {})
        for cell, amounts in cells.items():
            if first <= cell < last:
                here.setdefault(cell, {})[bearer, rate] = amounts


def whole_pool(curves: Curves) -> None:
    """Beside the curves of single resources, the demand of all of them: what lines without a resource are shared by."""
    whole: dict[int, dict[Load, list[int]]] = {}
    for cells in curves.values():
        for cell, loads in cells.items():
            here = whole.setdefault(cell, {})
            for load, amounts in loads.items():
                known = here.get(load)
                here[load] = plus(known, amounts) if known else amounts
    curves[WHOLE_POOL] = whole


@dataclass(slots=True)
class Demands:
    demand: Curves = field(default_factory=dict)
    own: Curves = field(default_factory=dict)
    credited: tuple[Curves, ...] = ()
    rates: tuple[Fraction, ...] = (Fraction(1),)


def read_demand(name: str, reach: Reach, setting: Setting, boards: Boards = NO_BOARDS, usage: Any = None) -> Demands:
    """Unit-seconds by bearer and cell, season by season; and those that each credit rule gives back. Of all usage, unless told."""
    pool = setting.policy.pools[name]
    found = Demands(credited=tuple({} for _ in pool.credit))
    if not reach.resources or not reach.persons:
        return found
    for season in setting.workforce.seasons:
        claimed = boards.apart(claim(name, reach, season, setting, usage))
        found.rates = claimed.rates
        if pool.method == "time":
            by_curve(own_seconds(claimed.rows, setting.calendar), season, setting.calendar, found.own)
            seconds = occupied_seconds(claimed.rows, setting.calendar, setting.bearers, setting.backend)
            by_curve(seconds, season, setting.calendar, found.demand)
        else:
            series = measure_demand(claimed.rows, pool, setting.calendar, setting.encoded.bounds)
            by_curve(series, season, setting.calendar, found.demand)
        for rule, curves in zip(pool.credit, found.credited, strict=True):
            rows = given_back(claimed, rule, setting)
            if rows is None:
                continue
            series = (
                own_seconds(rows, setting.calendar)
                if pool.method == "time"
                else measure_demand(rows, pool, setting.calendar, setting.encoded.bounds)
            )
            by_curve(series, season, setting.calendar, curves)
    if boards:
        found.demand = boards.count(found.demand, setting.bearers)
        found.credited = tuple(boards.count(curves, setting.bearers, whole=False) for curves in found.credited)
    if pool.scope == "resource":
        for curves in (found.demand, found.own, *found.credited):
            whole_pool(curves)
    return found


def money_of(name: str, tranches: Tranches, reach: Reach, setting: Setting) -> Money:
    """A pool's money over its slots."""
    curve_of = setting.curves_of(name, set(reach.resources))
    return slot_money(tranches.of(name), setting.policy.pools[name], setting.calendar, curve_of)


def market_of(
    name: str, money: Money, place: tuple[Reach, Levels, Boards], setting: Setting, usage: Any = None
) -> tuple[Market, Demands]:
    """A pool's money beside its demand (of all usage, unless told) and supply."""
    reach, levels, boards = place
    pool = setting.policy.pools[name]
    found = read_demand(name, reach, setting, boards, usage)
    supply = integrate_supply(levels, setting.calendar, boards.fine)
    market = Market(name, pool, money, found.demand, found.credited, supply, setting.calendar, setting.bearers, boards)
    return market, found
