"""Reserved and burst: a team pays for what it reserved, used or not, and for what it used beyond that.

Bursts take unsold capacity first, then what holders left unused; those are credited for what was lent. Each slot is a market of its own.
"""

from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fractions import Fraction

from apportion.engine.account import Column, part_of
from apportion.engine.calendar import HOUR_S, Slot
from apportion.engine.claims import WHOLE_POOL
from apportion.engine.demand import UNITS
from apportion.engine.price import Load, Market, Priced, SlotPrice, by_team, idle_span, nothing, over, sum_cells
from apportion.errors import Problem
from apportion.model.money import GRAIN
from apportion.policy.pool_parts import Cause

ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Terms:
    """One slot in units: what each team reserved (less, where more was promised than there is) and used, and what there is to pay for."""

    reserved: Mapping[str, Fraction]
    used: Mapping[str, int]
    units: Fraction
    lent: Fraction
    idle: Mapping[Cause, Fraction]
    oversold: bool

    def above(self, team: str) -> Fraction:
        return max(ZERO, self.used.get(team, 0) - self.reserved.get(team, ZERO))

    @property
    def unused(self) -> dict[str, Fraction]:
        spare = {team: units - self.used.get(team, 0) for team, units in sorted(self.reserved.items())}
        return {team: units for team, units in spare.items() if units > 0}


def terms_of(market: Market, slot: Slot) -> Terms:
    used = by_team(market, slot, UNITS)
    promised = {holder.team: over(cells, slot) for holder, cells in market.supply.reserved.items()}
    capacity, sold = over(market.supply.capacity.get(WHOLE_POOL, {}), slot), sum(promised.values())
    part = Fraction(capacity, sold) if sold > capacity else Fraction(1)
    reserved = {team: units * part for team, units in promised.items()}
    kept = sum(reserved.values(), ZERO)
    burst = sum((max(ZERO, units - reserved.get(team, ZERO)) for team, units in used.items()), ZERO)
    unused = kept + burst - sum(used.values())
    lent = min(max(ZERO, burst - (capacity - kept)), unused)
    units = max(Fraction(capacity), kept + burst - lent)
    idle = units - kept - burst + lent
    down = min(idle, Fraction(over(market.supply.down.get(WHOLE_POOL, {}), slot)))
    return Terms(reserved, used, units, lent, {"down": down, "unsold": idle - down}, oversold=sold > capacity)


def price_reserved(market: Market, own_bills: AbstractSet[str]) -> tuple[Priced, list[Problem]]:
    """Every slot. A price of bursts counts for `own_bills`, those in its currency; others charge them at cost."""
    priced = Priced(credited=[defaultdict(int) for _ in market.credited])
    curve, oversold = [], []
    for (_, slot), columns in market.money.items():
        terms = terms_of(market, slot)
        demand = sum_cells(market.demand.get(WHOLE_POOL, {}), slot, market.calendar)
        wanted = sum(amounts[UNITS] for amounts in demand.values())
        curve.append(SlotPrice(WHOLE_POOL, slot, int(terms.units), wanted, dict(terms.idle)))
        priced.bursting[slot] = {
            team: above / terms.used[team] for team in sorted(terms.used) if (above := terms.above(team))
        }
        if terms.oversold:
            oversold.append(slot)
        if not terms.units:
            for column, days in columns.items():
                nothing(market, priced, slot, column, days)
            continue
        money = sum(sum(days.values()) for column, days in columns.items() if column.bill in own_bills)
        dearer = burst_factor(market, terms, money)
        for column, days in columns.items():
            factor = dearer if column.bill in own_bills else Fraction(1)
            charge(Deal(market, priced, terms, slot, column), days, demand, factor)
            give_back(market, priced, terms, (slot, column, sum(days.values())), factor)
    priced.curve = curve
    return priced, problems_of(market, oversold)


def burst_factor(market: Market, terms: Terms, money: int) -> Fraction:
    """How many times its cost a unit of burst is charged: 1, or its price over what a unit costs in the slot."""
    price = market.pool.burst_price
    if price is None or money <= 0:
        return Fraction(1)
    cost: Fraction = price * GRAIN * market.scale.natural / HOUR_S * terms.units / money
    return cost


@dataclass(frozen=True, slots=True)
class Deal:
    """One column's money in one slot."""

    market: Market
    priced: Priced
    terms: Terms
    slot: Slot
    column: Column

    def team_of(self, load: Load) -> str:
        return self.market.bearers[load[0]].owner.team


def charge(deal: Deal, days: Mapping[int, int], demand: Mapping[tuple[int, Load], list[int]], factor: Fraction) -> None:
    """Use inside the reservation, bursts, what was reserved and not used, credits of lenders, idle; the rest, at a price, is for `_residual`."""
    market, priced, terms, column = deal.market, deal.priced, deal.terms, deal.column
    grains = sum(days.values())
    left = grains
    first = None
    ranks = sorted(demand, key=lambda key: (key[0], market.bearers.rank(key[1][0]), key[1][1]))
    for day, load in ranks:
        team, units = deal.team_of(load), demand[day, load][UNITS]
        if not units:
            continue
        share = units * terms.above(team) / terms.used[team]
        inside, above = part_of(grains, (units - share) / terms.units), part_of(grains, share * factor / terms.units)
        priced.usage[column, day, load] += inside + above
        priced.burst[column, day, load] += above
        if market.pool.idle_slot != "period":
            priced.loads[column.bill, column.component, idle_span(market, deal.slot)][load] += inside + above
        left -= inside + above
        first = first or (column, day, load)
    left -= keep_unused(deal, days, factor)
    if market.pool.burst_price is not None or not market.pool.lend_credit:
        keep_rest(priced, column, days, left)
    elif first:
        priced.usage[first] += left  # the few grains that flooring left
    else:
        priced.idle[column, max(days), "unsold", idle_span(market, deal.slot)] += left


def keep_rest(priced: Priced, column: Column, days: Mapping[int, int], left: int) -> None:
    """What bursts recover too little or too much, on the days of the money."""
    whole = sum(days.values())
    parts = {day: left * grains // whole if whole else 0 for day, grains in days.items()}
    parts[max(days)] += left - sum(parts.values())
    for day, part in parts.items():
        priced.rest[column, day] += part


def keep_unused(deal: Deal, days: Mapping[int, int], factor: Fraction) -> int:
    """What holders pay for what they did not use, less what others borrowed of it, and what was never sold; on the days of the money."""
    market, priced, terms, column = deal.market, deal.priced, deal.terms, deal.column
    unused = terms.unused
    whole = sum(unused.values(), ZERO)
    holders = {holder.team: market.bearers.number(holder) for holder in market.supply.reserved}
    lent = terms.lent / whole * factor if whole and market.pool.lend_credit else ZERO
    taken = 0
    for day, grains in days.items():
        for team, units in unused.items():
            kept, credit = part_of(grains, units / terms.units), part_of(grains, units * lent / terms.units)
            priced.held[column, day, "reserved", holders[team]] += kept
            priced.lent[column, day, holders[team]] -= credit
            taken += kept - credit
        for cause, units in terms.idle.items():
            part = part_of(grains, units / terms.units)
            priced.idle[column, day, cause, idle_span(market, deal.slot)] += part
            taken += part
    return taken


def give_back(market: Market, priced: Priced, terms: Terms, money: tuple[Slot, Column, int], factor: Fraction) -> None:
    """What each credit rule gives back in full: the same part of a charge as of its units."""
    slot, column, grains = money
    for credited, cells in zip(priced.credited, market.credited, strict=True):
        for (day, load), amounts in sum_cells(cells.get(WHOLE_POOL, {}), slot, market.calendar).items():
            team = market.bearers[load[0]].owner.team
            dearer = 1 + terms.above(team) / terms.used[team] * (factor - 1) if terms.used.get(team) else Fraction(1)
            credited[column, day, load] += part_of(grains, amounts[UNITS] * dearer / terms.units)


def problems_of(market: Market, oversold: list[Slot]) -> list[Problem]:
    if not oversold:
        return []
    when = market.calendar.days[market.calendar.day_of[oversold[0][0]]]
    return [
        Problem(
            f"pool {market.name}",
            "oversold-reservations",
            f"more was reserved than there is in {len(oversold)} of its slots, first on {when}; each reservation counts less there, in proportion",
        )
    ]
