"""What each workload's use is worth in a pool, by its owner and day: in any unit, since only the proportions inside one posting count."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import lcm
from typing import Any

import ibis
import numpy as np

from apportion.engine.account import Column
from apportion.engine.calendar import Slot
from apportion.engine.cards import price_for
from apportion.engine.claims import WHOLE_POOL, Reach, claim
from apportion.engine.curve import COUNTED, USED, Grid, Kind, Most, Rate, look_up, make_grid
from apportion.engine.demand import UNITS
from apportion.engine.held import HELD, OCCUPIED, QUANTITIES, WASTED, beheld, span_of
from apportion.engine.plan import Plan
from apportion.engine.pools import PoolResult
from apportion.engine.price import Market, sum_cells
from apportion.engine.rates import Key, Prices, on_boards, prices_of
from apportion.engine.setting import Setting
from apportion.engine.valued import Valued, joined, tabulated
from apportion.engine.wide import Whole, zeros
from apportion.model.currencies import is_money
from apportion.model.owner import Owner
from apportion.policy.pools import Pool

NOWHERE = Reach((), (), ())
AMOUNTS = ("units", "held", "allocated", "used", "unmeasured", "wasted")


@dataclass(frozen=True, slots=True)
class Share:
    """One pool and its usage, season by season. `span`: the cells in which quantities count."""

    name: str
    result: PoolResult
    market: Market
    setting: Setting
    span: Slot
    rows: tuple[Any, ...]

    @property
    def pool(self) -> Pool:
        return self.market.pool


def open_share(name: str, result: PoolResult, market: Market, plan: Plan, setting: Setting | None = None) -> Share:
    """`setting` is the plan's own, unless told."""
    setting, reach = setting or plan.trace.setting, result.reach or NOWHERE
    claims = [market.boards.apart(claim(name, reach, season, setting)) for season in setting.workforce.seasons]
    rows = tuple(setting.backend.keep(beheld(each, market.pool)) for each in claims)
    return Share(name, result, market, setting, span_of(name, plan), rows)


def work_of(share: Share, key: Key, owners: Sequence[Owner]) -> Valued:
    """By posting (day * owners + owner) and work, under one bill and component: what its use is worth, what of that was held without use, what
    was held beside it, and how much it held and used.
    """
    setting = share.setting
    rows = joined([season_values(share, key, rows) for rows in share.rows])
    sums = dict(rows.sums)
    if share.pool.method == "time":
        sums |= by_occupied_time(share, key, rows)
    if share.result.weights or share.pool.prices:
        weight = factors(share, key, rows)
        sums |= {kind: sums[kind] * weight for kind in (USED, WASTED) if kind in sums}
    place = {owner: n for n, owner in enumerate(owners)}
    owner_of = np.array([place[bearer.owner] for bearer in setting.bearers.all], dtype=np.int64)
    posting = rows.keys["day"].astype(np.int64) * len(owners) + owner_of[rows.keys["bearer"]]
    work = np.where(rows.keys["work"] < 0, len(setting.workforce.ids), rows.keys["work"])
    return Valued(rows.keys, sums).summed({"posting": posting, "work": work})


def season_values(share: Share, key: Key, rows: Any) -> Valued:
    """By work, bearer, rate, curve (for `time`) and day: at the pool's prices; where it has none, for `time` and for price lists, the units."""
    by = ("work", "bearer", "rate", *(["curve"] if share.pool.method == "time" else []))
    found = tabulated(look_up(rows, grid_of(share, key, rows), share.market, share.setting.backend, by))
    return Valued(found.keys, found.sums if USED in found.sums else {**found.sums, USED: found.sums[COUNTED]})


def grid_of(share: Share, key: Key, rows: Any) -> Grid:
    """A price for each of what was used, wasted and held, wherever there was any of it; a price of 1 counts units, and inside the pool's billing
    period the two views.
    """
    calendar, unit_rows = share.setting.calendar, [name for name in AMOUNTS if name in rows.columns]
    largest = rows.aggregate(**{name: ibis.coalesce(rows[name].max(), 0) for name in unit_rows}, rows=rows.count())
    found = largest.to_pyarrow().to_pylist()[0]
    row = max(1, *(int(found[name]) for name in unit_rows))
    most = Most(row * max(1, found["rows"]) * calendar.window.seconds, rows=found["rows"])
    curves, rates = rates_of(share, key)
    return make_grid(
        {kind: rate for kind, rate in rates.items() if kind == COUNTED or found.get(rate.amount)},
        curves,
        calendar,
        most,
    )


def rates_of(share: Share, key: Key) -> tuple[Sequence[int], dict[Kind, Rate]]:
    market, priced, cells = share.market, share.result.priced, share.setting.calendar.cells
    prices = Prices(
        [n + 1 for n in (share.result.reach or NOWHERE).resources] if share.pool.scope == "resource" else [WHOLE_POOL]
    )
    if share.pool.method != "time" and priced is not None and priced.curve:
        prices = prices_of(market, priced, key)
    if share.pool.method == "resource_weighted" and prices.held is None:  # whose parts have prices of their own
        prices = prices._replace(held=zeros(len(prices.curves), cells) + market.boards.fine)
    prices = on_boards(prices, market.boards, cells)
    ones = zeros(len(prices.curves), cells) + 1
    inside = zeros(len(prices.curves), cells)
    inside[:, slice(*share.span)] = 1
    rates = {COUNTED: Rate("units", ones), WASTED: Rate("wasted", ones if prices.used is None else prices.used)}
    rates |= {kind: Rate(amount, inside) for kind, amount in QUANTITIES.items()}
    rates |= {} if prices.used is None else {USED: Rate("units", prices.used)}
    rates |= {} if prices.held is None else {HELD: Rate("held", prices.held)}
    rates |= {OCCUPIED: Rate("allocated", ones)} if share.pool.method == "time" else {}
    return prices.curves, rates


def each(find: Callable[..., int], *keys: np.ndarray) -> Whole:
    """What a function finds for every row; it is asked once about rows that are alike."""
    codes = np.ravel_multi_index(keys, [int(key.max()) + 1 for key in keys]) if len(keys[0]) else keys[0]
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    answers = zeros(len(first))
    answers[:] = [find(*place) for place in zip(*(key[first].tolist() for key in keys), strict=True)]
    found: Whole = answers[inverse]
    return found


def factors(share: Share, key: Key, rows: Valued) -> Whole:
    """The weight of each row times its price by the pool's list, which is about money alone."""
    weights = share.result.weights
    listed = is_money(share.setting.currency_of(Column(*key)))

    def factor(bearer: int, rate: int, day: int) -> int:
        return weights.get((bearer, rate), 1) * (list_price(share, bearer, day) if listed else 1)

    return each(factor, rows.keys["bearer"], rows.keys["rate"], rows.keys["day"])


def list_price(share: Share, bearer: int, day: int) -> int:
    """What a unit costs by the pool's price list, in whole numbers that compare; 1 where there is none."""
    pool = share.pool
    if pool.method != "rate_card":
        return 1
    price = price_for(pool, share.setting.bearers[bearer], share.setting.calendar.days[day])
    return int(price.price * lcm(*(listed.price.denominator for listed in pool.prices))) if price else 0


def by_occupied_time(share: Share, key: Key, rows: Valued) -> dict[Kind, Whole]:
    """What a team pays for a resource on a day, by its workloads' own seconds there; wasted is the part of it that is wasted of what was held."""
    paid = team_days(share, key)
    teams = sorted({bearer.owner.team for bearer in share.setting.bearers.all})
    team_of = np.array([teams.index(bearer.owner.team) for bearer in share.setting.bearers.all], dtype=np.int64)
    units, curve = rows.sums[COUNTED], rows.keys["curve"]
    values = zeros(len(rows))
    for curves in (curve,) if not curve.any() else (curve, np.full_like(curve, WHOLE_POOL)):
        place = (curves, rows.keys["day"], team_of[rows.keys["bearer"]])
        grains = each(lambda here, day, team: paid.get((here, day, teams[team]), 0), *place)
        _, inverse = np.unique(np.ravel_multi_index(place, [int(key.max()) + 1 for key in place]), return_inverse=True)
        inside = zeros(int(inverse.max()) + 1)
        np.add.at(inside, inverse, units)
        values += units * grains // inside[inverse]
    wasted = (
        values * rows.sums[WASTED] // np.maximum(rows.sums[OCCUPIED], 1) if WASTED in rows.sums else zeros(len(rows))
    )
    return {USED: values, WASTED: wasted}


def team_days(share: Share, key: Key) -> dict[tuple[int, int, str], int]:
    """(curve, day, team) -> grains of one bill and component."""
    market = share.market
    out: dict[tuple[int, int, str], int] = defaultdict(int)
    for (curve, slot), columns in market.money.items():
        grains = sum(sum(days.values()) for column, days in columns.items() if column[:2] == key)
        occupied = sum_cells(market.demand.get(curve, {}), slot, market.calendar)
        total = sum(amounts[UNITS] for amounts in occupied.values())
        for (day, load), amounts in occupied.items():
            out[curve, day, market.bearers[load[0]].owner.team] += grains * amounts[UNITS] // total
    return out
