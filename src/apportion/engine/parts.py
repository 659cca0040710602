"""Pools whose money is shared by several measures side by side: GPU, CPU and memory of a node, or time held and energy.

Each measure is a portion: a market of its own, with its part of the money. `resource_weighted`: every meter has its part of the node's price and
its own capacity. `energy_two_part`: one part by the time that something was held, the rest by joules. `dominant_share`: a team pays by the one
meter of which it takes the largest part.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

from apportion.engine.account import Column, divide_up
from apportion.engine.boards import NO_BOARDS, find_boards
from apportion.engine.calendar import Slot
from apportion.engine.claims import Reach
from apportion.engine.demand import UNITS
from apportion.engine.dominant import price_dominant
from apportion.engine.idle import note_users
from apportion.engine.lines import Tranches
from apportion.engine.markets import market_of, money_of
from apportion.engine.price import Market, Money, Priced, over, price_market
from apportion.engine.setting import Setting
from apportion.engine.supply import NO_LEVELS, read_levels
from apportion.model.meters import METERS
from apportion.policy.pool_parts import Driver
from apportion.policy.pools import Pool

Laid = dict[tuple[int, Slot], dict[Column, dict[int, int]]]  # as `Money`
SUMS = ("usage", "idle", "held", "nowhere", "burst", "lent", "rest")


@dataclass(frozen=True, slots=True)
class Portion:
    """One measure of a pool: what it is called, its weight, and the market in which it is shared."""

    name: str
    weight: Fraction
    setting: Setting
    market: Market
    priced: Priced


def price_parts(
    name: str, tranches: Tranches, reach: Reach, setting: Setting
) -> tuple[Market, Priced, tuple[Portion, ...]]:
    """The market of the whole pool, what all portions come to, and the portions."""
    pool = setting.policy.pools[name]
    named, money = tranches.resources_of(name), money_of(name, tranches, reach, setting)
    empty: list[Portion] = []
    for part, weight in parts_of(pool):
        own = setting.with_pools({name: part})
        levels = NO_LEVELS if pool.method == "energy_two_part" else read_levels(name, reach, named, own)
        market, _ = market_of(name, money, (reach, levels, find_boards(name, reach, own)), own)
        empty.append(Portion(" and ".join(part.meter), weight, own, market, Priced()))
    boards = next((portion.market.boards for portion in empty if portion.market.boards), NO_BOARDS)
    whole = replace(empty[0].market, pool=pool, boards=boards)
    if pool.method == "dominant_share":
        found = price_dominant(whole, [(portion.market, portion.weight) for portion in empty])
        portions = [replace(portion, priced=priced) for portion, priced in zip(empty, found, strict=True)]
    else:
        portions = [priced_portion(portion, part) for portion, part in zip(empty, lay(whole, empty), strict=True)]
    together = merged([portion.priced for portion in portions])
    for portion in portions:
        note_users(replace(portion.market, pool=pool), together)
    return whole, together, tuple(portions)


def parts_of(pool: Pool) -> list[tuple[Pool, Fraction]]:
    """The pools that a pool stands for, each with its weight."""
    if pool.method == "energy_two_part":
        held, burnt = (
            {name: w for name, w in pool.meter.items() if METERS[name].flow is flow} for flow in (False, True)
        )
        driver, static = Driver.model_validate("allocated"), pool.static_share or Fraction(0)
        return [
            (pool.model_copy(update={"meter": meter, "method": "proportional", "driver": driver}), weight)
            for meter, weight in ((held, static), (burnt, 1 - static))
        ]
    return [
        (pool.model_copy(update={"meter": {name: Fraction(1)}, "method": "capacity_rate"}), weight)
        for name, weight in sorted(pool.meter.items())
        if weight
    ]


def priced_portion(portion: Portion, money: Money) -> Portion:
    market = replace(portion.market, money=money)
    return replace(portion, market=market, priced=price_market(market))


def lay(whole: Market, portions: Sequence[Portion]) -> list[Money]:
    """Each portion's part of the money, by weight; of meters, only those that are there in the slot."""
    out: list[Laid] = [{} for _ in portions]
    below = lcm(*(portion.weight.denominator for portion in portions))
    always = whole.pool.method == "energy_two_part"
    for (curve, slot), columns in whole.money.items():
        there = [n for n, each in enumerate(portions) if each.weight and (always or is_there(each.market, curve, slot))]
        there = there or [0]
        weights = [int(portions[n].weight * below) for n in there]
        money = [(column, day, grains) for column, days in columns.items() for day, grains in days.items()]
        for column, day, grains in money:
            for n, part in zip(there, divide_up(grains, weights, sum(weights)), strict=True):
                out[n].setdefault((curve, slot), {}).setdefault(column, {})[day] = part
    return list(out)


def is_there(market: Market, curve: int, slot: Slot) -> bool:
    """Whether any of a meter is offered, or used, in a slot."""
    cells = market.demand.get(curve, {})
    offered = over(market.supply.capacity.get(curve, {}), slot)
    return bool(offered) or any(amounts[UNITS] for cell in range(*slot) for amounts in cells.get(cell, {}).values())


def merged(found: Sequence[Priced]) -> Priced:
    out = Priced(credited=[defaultdict(int) for _ in found[0].credited])
    for priced in found:
        for name in SUMS:
            into = getattr(out, name)
            for key, grains in getattr(priced, name).items():
                into[key] += grains
        for mine, theirs in zip(out.credited, priced.credited, strict=True):
            for part, grains in theirs.items():
                mine[part] += grains
        for span, loads in priced.loads.items():
            for load, grains in loads.items():
                out.loads[span][load] += grains
    return out
