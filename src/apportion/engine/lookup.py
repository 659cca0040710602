"""Price and charge where each resource has a price of its own: prices on arrays, and every usage interval charged by two look-ups.

What `price` does slot by slot and bearer by bearer would take a grid of resources x bearers x cells. Here demand is summed by resource alone,
and a bearer's charges are sums over its intervals of amount x (P(end) - P(start)), exact to far below a nano.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import ibis
import numpy as np
import pyarrow as pa

from apportion.engine.account import Column, divide_up, part_of
from apportion.engine.backend import Backend
from apportion.engine.calendar import Calendar, Slot
from apportion.engine.claims import WHOLE_POOL, Claim, Reach, claim, clip, given_back, reads_once
from apportion.engine.curve import Grid, Kind, Most, Rate, make_grid, scale_for, value_rows
from apportion.engine.demand import integrate_levels, measure_demand
from apportion.engine.dues import Dues, MoneyOf, dues_of
from apportion.engine.grids import integrate_grid, measure_curves, measured
from apportion.engine.lines import Tranches
from apportion.engine.price import (
    Load,
    Market,
    Priced,
    Supply,
    burst_shares,
    holders_of,
    pool_rest,
    unused_reservations,
)
from apportion.engine.setting import Setting
from apportion.engine.steps import (
    Due,
    Steps,
    Tally,
    form_prices,
    heights,
    held_due,
    idle_money,
    laid_out,
    split_idle,
    used_due,
)
from apportion.engine.supply import Levels
from apportion.engine.wide import Whole, sum_by, zeros
from apportion.model.meters import METERS
from apportion.model.money import GRAIN
from apportion.policy.pool_parts import Cause
from apportion.policy.pools import Pool

AMOUNT = {
    "used": "units",
    "held": "held",
}  # what of a usage row pays for what was used, and for what was held without use


def can_look_up(pool: Pool, levels: Levels) -> bool:
    """Whether sums by day are all that the pool's rules ask for. Else, and for flows and occupied time, `price` goes slot by slot."""
    if pool.scope != "resource" or pool.method not in ("proportional", "capacity_rate"):
        return False
    if any(METERS[name].flow for name in pool.meter):
        return False
    shares_by_slot = pool.idle_slot != "period" and (pool.slot == "period" or pool.slot == pool.idle_slot == "hour")
    holds_by_period = pool.slot == "period" and pool.driver.kind in ("used", "blend") and pool.idle["held"] == "holder"
    if (
        pool.slot == "period" and levels.promised
    ):  # late lines have slots that overlap, and a team may burst in one only
        return False
    return pool.method == "proportional" or not (shares_by_slot or holds_by_period)


@dataclass(frozen=True, slots=True)
class Looked:
    """A pool's market and prices, the weights by resource that its bearers' rates stand for, and the money and units behind them."""

    market: Market
    priced: Priced
    rates: tuple[Fraction, ...]
    dues: Dues
    tally: Tally


def price_by_look_up(name: str, tranches: Tranches, place: tuple[Reach, Levels], setting: Setting) -> Looked:
    """Every slot of every resource of a pool. Its usage is kept by resource: then what is looked up next lies beside what was looked up last."""
    pool, calendar = setting.policy.pools[name], setting.calendar
    reach, levels = place
    curve_of = setting.curves_of(name, set(reach.resources))
    seasons = setting.workforce.seasons if reach.resources and reach.persons else ()
    usage = setting.encoded.fresh if reads_once(pool, setting) and not levels.promised else None
    claims = [claim(name, reach, season, setting, usage) for season in seasons]
    with ThreadPoolExecutor(1) as beside:  # the money is laid out while the database sorts and counts the usage
        spreading = beside.submit(dues_of, tranches.table_of(name), pool, calendar, curve_of)
        rows = [setting.backend.keep(measured(each, each.rows, pool).order_by("curve")) for each in claims]
        tally = count(rows, pool, (WHOLE_POOL, *sorted(curve_of.values())), levels, calendar)
        dues = spreading.result()
    demand = whole_demand(claims, pool, setting) if levels.promised else {}
    supply = whole_supply(levels, calendar)
    market = Market(name, pool, MoneyOf(dues), demand, (), supply, calendar, setting.bearers)
    priced = Priced(credited=[defaultdict(int) for _ in pool.credit])
    steps = form_prices(dues, tally, reserved_parts(market, priced, dues))
    priced.curve = steps
    due = {"used": used_due(steps)} | keep_unused(market, priced, steps)
    most = Most(tally.largest(), tally.row, tally.rows)
    tariff = tariff_of(steps, due, most, market, tranches.all_money())
    for part in rows:
        charge(part, tariff, market, priced, setting.backend)
        charge_bursts(part, tariff, market, priced, setting.backend)
    for each in claims:
        give_back(each, tariff, market, priced, setting)
    if "even" in pool.idle.values():
        note_users(rows, dues.curves[1:], most, (market, priced), setting.backend)
    if not add_rest(market, priced, due, steps):
        note_presence(rows, steps, market, priced, setting.backend)
        add_rest(market, priced, due, steps)
    note_loads(market, priced)
    return Looked(market, priced, claims[0].rates if claims else (Fraction(1),), dues, tally)


def whole_supply(levels: Levels, calendar: Calendar) -> Supply:
    """What the pool as a whole offered and promised."""
    offered, down = (
        {WHOLE_POOL: integrate_levels(found.get(WHOLE_POOL, ()), calendar)} for found in (levels.offered, levels.down)
    )
    return Supply(offered, down, {who: integrate_levels(held, calendar) for who, held in levels.promised.items()})


def whole_demand(claims: list[Claim], pool: Pool, setting: Setting) -> dict[int, dict[int, dict[Load, list[int]]]]:
    """What every bearer had of the pool as a whole: only reservations ask for it."""
    found: dict[int, dict[Load, list[int]]] = {}
    for each in claims:
        rows = clip(each.rows.mutate(curve=ibis.literal(WHOLE_POOL, "int32")), each.season)
        for (_, bearer, rate), cells in measure_demand(rows, pool, setting.calendar, setting.encoded.bounds).items():
            for cell, amounts in cells.items():
                found.setdefault(cell, {})[bearer, rate] = amounts
    return {WHOLE_POOL: found}


def count(rows: list[Any], pool: Pool, curves: tuple[int, ...], levels: Levels, calendar: Calendar) -> Tally:
    found: dict[str, Whole] = {"units": zeros(len(curves), calendar.cells)}
    row = many = 0
    for part in rows:
        measured_here, largest, here = measure_curves(part, curves, calendar)
        row, many = max(row, largest), many + here
        for name, amounts in measured_here.items():
            found[name] = found[name] + amounts if name in found else amounts
    if pool.method != "capacity_rate":
        return Tally(found["units"], row, many)
    offered, down = (integrate_grid(part, curves, calendar) for part in (levels.offered, levels.down))
    return Tally(found["units"], row, many, found.get("held"), offered, down)


def reserved_parts(market: Market, priced: Priced, dues: Dues) -> dict[Slot, Fraction]:
    """Of each slot, which part of what is neither held nor down was reserved: that of the whole pool."""
    if not market.supply.reserved or market.pool.method != "capacity_rate":
        return {}
    out = {}
    for slot in set(zip(dues.first.tolist(), dues.last.tolist(), strict=True)):
        unused, whole = sum(unused_reservations(market, priced, slot).values()), pool_rest(market, slot)
        out[slot] = Fraction(min(unused, whole), whole) if whole else Fraction(0)
    return out


def keep_unused(market: Market, priced: Priced, steps: Steps) -> dict[str, Due]:
    """Money of what nobody used, by cause and day. What was held without use falls due, if its holders pay for it."""
    dues, pool, calendar = steps.dues, market.pool, market.calendar
    if pool.method != "capacity_rate":
        nobody = (steps.units == 0).astype(bool)
        if nobody.any():
            for column, day, grains in by_day(dues, np.flatnonzero(nobody[steps.of_row]), dues.grains):
                priced.nowhere[column, day] += grains
        return {}
    found = split_idle(steps, idle_money(steps))
    for cause, money in found.items():
        if pool.idle[cause] != "holder":
            for column, day, grains in by_day(dues, slice(None), money):
                span = None if pool.idle_slot == "period" else calendar.slot_of(calendar.day_cells[day], "day")
                priced.idle[column, day, cause, span] += grains
        elif cause != "held":
            keep_for_holders(market, priced, dues, (cause, money))
    return {"held": held_due(steps, found["held"])} if "held" in found and pool.idle["held"] == "holder" else {}


def by_day(dues: Dues, rows: np.ndarray | slice, money: Whole) -> Iterator[tuple[Column, int, int]]:
    days = int(dues.day.max()) + 1 if len(dues.day) else 1
    keys, sums = sum_by(dues.column[rows] * days + dues.day[rows], money[rows])
    for key, grains in zip(keys.tolist(), sums.tolist(), strict=True):
        if grains:
            yield dues.columns[key // days], key % days, grains


def keep_for_holders(market: Market, priced: Priced, dues: Dues, idle: tuple[Cause, Whole]) -> None:
    """What was reserved and not used goes to those who had reserved it, slot by slot."""
    cause, money = idle
    radix = (market.calendar.cells + 1, market.calendar.cells + 1, len(dues.columns), len(market.calendar.days))
    keys, sums = sum_by(np.ravel_multi_index((dues.first, dues.last, dues.column, dues.day), radix), money)
    rows = zip(*(part.tolist() for part in np.unravel_index(keys, radix)), sums.tolist(), strict=True)
    for first, last, column, day, grains in rows:
        if grains:
            holders = holders_of(market, priced, cause, (first, last), {})
            for bearer, share in zip(holders, divide_up(grains, holders.values(), sum(holders.values())), strict=True):
                priced.held[dues.columns[column], day, cause, bearer] += share


@dataclass(frozen=True, slots=True)
class Tariff:
    """Prices by kind and column, each in parts of the currency's unit: of `used` units, and of units `held` without use."""

    grid: Grid
    columns: tuple[Column, ...]
    scales: Mapping[Kind, int]
    slots: frozenset[Slot]

    def grains(self, values: Mapping[Kind, int], kind: str) -> Iterator[tuple[Column, int]]:
        for (name, n), value in values.items():
            if name == kind and value:
                yield self.columns[n], value * GRAIN // self.scales[name, n]


def tariff_of(steps: Steps, due: Mapping[str, Due], most: Most, market: Market, all_money: int) -> Tariff:
    dues, cells = steps.dues, market.calendar.cells
    rates: dict[Kind, Rate] = {}
    scales: dict[Kind, int] = {}
    for kind, part in due.items():
        scale = scale_for(*part.extremes(), all_money)
        for n, price in enumerate(heights(part, dues, scale, cells)):
            rates[kind, n], scales[kind, n] = Rate(AMOUNT[kind], price), scale
    slots = (
        frozenset(zip(dues.first.tolist(), dues.last.tolist(), strict=True)) if market.supply.reserved else frozenset()
    )
    return Tariff(make_grid(rates, dues.curves[1:], market.calendar, most), dues.columns, scales, slots)


def charge(rows: Any, tariff: Tariff, market: Market, priced: Priced, backend: Backend) -> None:
    """Look every usage interval of a season up, and sum by bearer and day."""
    for load, day, values in looked_up(rows, tariff.grid, market, backend):
        for column, grains in tariff.grains(values, "used"):
            priced.usage[column, day, load] += grains
        for column, grains in tariff.grains(values, "held"):
            priced.held[column, day, "held", market.bearers.owner_of(load[0])] += grains


def charge_bursts(rows: Any, tariff: Tariff, market: Market, priced: Priced, backend: Backend) -> None:
    """Which part of that is for use above a reservation: the rows of teams that burst are cut at the slots in which they do, and looked up again."""
    found = [
        (slot, team, share)
        for slot in sorted(tariff.slots)
        for team, share in burst_shares(market, priced, slot).items()
    ]
    if not found:
        return
    cut_rows = cut_at(rows, [(slot, team) for slot, team, _ in found], market, backend)
    for (bearer, rate, number, day), values in value_rows(
        cut_rows, tariff.grid, market, backend, ("bearer", "rate", "number")
    ).items():
        for column, grains in tariff.grains(values, "used"):
            priced.burst[column, day, (bearer, rate)] += part_of(grains, found[number][2])


def cut_at(rows: Any, places: Sequence[tuple[Slot, str]], market: Market, backend: Backend) -> Any:
    """The parts of each team's rows that lie in its slots, each with the number of its place."""
    bearers: dict[str, list[int]] = defaultdict(list)
    for bearer, known in enumerate(market.bearers.all):
        bearers[known.owner.team].append(bearer)
    spans = [(market.calendar.interval(slot), team) for slot, team in places]
    listed = [(bearer, n, span) for n, (span, team) in enumerate(spans) for bearer in bearers[team]]
    lent = backend.lend(pa.table({
        "bearer": pa.array([bearer for bearer, _, _ in listed], pa.int32()),
        "number": pa.array([n for _, n, _ in listed], pa.int64()),
        "first_s": pa.array([span.start_s for _, _, span in listed], pa.int64()),
        "last_s": pa.array([span.end_s for _, _, span in listed], pa.int64()),
    }))  # fmt: skip
    rows = rows.join(lent, ["bearer", rows.start_s < lent.last_s, rows.end_s > lent.first_s])
    return rows.mutate(start_s=ibis.greatest(rows.start_s, rows.first_s), end_s=ibis.least(rows.end_s, rows.last_s))


def give_back(each: Claim, tariff: Tariff, market: Market, priced: Priced, setting: Setting) -> None:
    """What each credit rule gives back in full."""
    for rule, parts in zip(market.pool.credit, priced.credited, strict=True):
        rows = given_back(each, rule, setting)
        if rows is None:
            continue
        for load, day, values in looked_up(measured(each, rows, market.pool), tariff.grid, market, setting.backend):
            for column, grains in tariff.grains(values, "used"):
                parts[column, day, load] += grains


def looked_up(
    rows: Any, grid: Grid, market: Market, backend: Backend
) -> Iterator[tuple[Load, int, Mapping[Kind, int]]]:
    for (bearer, rate, day), values in value_rows(rows, grid, market, backend, ("bearer", "rate")).items():
        yield (bearer, rate), day, values


def note_users(
    rows: list[Any], curves: Sequence[int], most: Most, shared: tuple[Market, Priced], backend: Backend
) -> None:
    """Who used the pool in each stretch over which idle is shared, a day or all, whether money lies there or not."""
    market, priced = shared
    calendar = market.calendar
    always = Rate(AMOUNT["used"], zeros(len(curves), calendar.cells) + 1)
    grid = make_grid({("used", 0): always}, curves, calendar, most)
    by_day = market.pool.idle_slot != "period"
    for load, day, values in (found for part in rows for found in looked_up(part, grid, market, backend)):
        if any(values.values()):
            span = calendar.slot_of(calendar.day_cells[day], "day") if by_day else None
            priced.users[span].add(load[0])


def note_presence(rows: list[Any], steps: Steps, market: Market, priced: Priced, backend: Backend) -> None:
    """Who used or held anything where a column has money, even money of 0: they share what flooring left."""
    dues, kinds = steps.dues, ["used", "held"] if steps.held.any() else ["used"]
    rates = {(kind, n): Rate(AMOUNT[kind], there(steps, n, market)) for kind in kinds for n in range(len(dues.columns))}
    grid = make_grid(rates, dues.curves[1:], market.calendar, Most(int(steps.demand.sum() + steps.held.sum())))
    for load, day, values in (found for part in rows for found in looked_up(part, grid, market, backend)):
        for kind, n in (kind for kind, value in values.items() if value):
            if kind == "used":
                priced.usage[dues.columns[n], day, load] += 0
            elif market.pool.idle["held"] == "holder":
                priced.held[dues.columns[n], day, "held", market.bearers.owner_of(load[0])] += 0


def there(steps: Steps, column: int, market: Market) -> Whole:
    """1 wherever a column has money, if only 0."""
    rows = np.flatnonzero(steps.dues.column == column)
    found: Whole = np.minimum(laid_out(steps.dues, rows, zeros(len(rows)) + 1, market.calendar.cells), 1)
    return found


Place = tuple[Column, int | None]


def add_rest(market: Market, priced: Priced, due: Mapping[str, Due], steps: Steps) -> bool:
    """What flooring left of each column and day goes to the first who pays there: far less than a nano. False where nobody is seen to."""
    used = {key: (*key[:2], market.bearers.rank(key[2][0]), key[2][1]) for key in priced.usage}
    held = {key: (*key[:2], market.bearers.rank(key[3]), 0) for key in priced.held if key[2] == "held"}
    found = [place_rest(priced.usage, used, unpaid(due["used"], steps, market), market.pool)]
    if "held" in due:
        found.append(place_rest(priced.held, held, unpaid(due["held"], steps, market), market.pool))
    return all(found)


def place_rest(paid: dict[Any, int], ranks: Mapping[Any, Any], rest: defaultdict[Place, int], pool: Pool) -> bool:
    for key in ranks:
        rest[place(key[0], key[1], pool)] -= paid[key]
    for key in sorted(ranks, key=lambda key: (not paid[key], ranks[key])):  # who pays nothing only where nobody pays
        paid[key] += rest.pop(place(key[0], key[1], pool), 0)
    return not any(rest.values())


def place(column: Column, day: int, pool: Pool) -> Place:
    """The day is that of the use; over a whole period it need not be that of the money."""
    return column, None if pool.slot == "period" else day


def unpaid(due: Due, steps: Steps, market: Market) -> defaultdict[Place, int]:
    dues, out = steps.dues, defaultdict[Place, int](int)
    days = np.asarray(market.calendar.day_of)[dues.first[due.rows]]
    keys, sums = sum_by(dues.column[due.rows] * len(market.calendar.days) + days, due.paid)
    for key, grains in zip(keys.tolist(), sums.tolist(), strict=True):
        column, day = divmod(key, len(market.calendar.days))
        out[place(dues.columns[column], day, market.pool)] += grains
    return out


def note_loads(market: Market, priced: Priced) -> None:
    """What each bearer's use cost in each stretch over which idle is shared, where that is a day."""
    for (column, day, load), grains in priced.usage.items() if market.pool.idle_slot != "period" else ():
        span = market.calendar.slot_of(market.calendar.day_cells[day], "day")
        priced.loads[column.bill, column.component, span][load] += grains
