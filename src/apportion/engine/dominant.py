"""Dominant share: a team pays by the one meter of which it takes the largest part, and inside the team whoever used that pays."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

from apportion.engine.account import Column, part_of
from apportion.engine.calendar import Slot
from apportion.engine.demand import UNITS
from apportion.engine.price import Load, Market, Part, Priced, nothing, over, sum_cells

Demand = Mapping[tuple[int, Load], list[int]]
Place = tuple[int, int, Load]  # which meter, day, load


def size_of(market: Market, curve: int, slot: Slot, demand: Demand) -> int:
    """Units that there were: the capacity, or the demand where that is more."""
    return max(over(market.supply.capacity.get(curve, {}), slot), sum(amounts[UNITS] for amounts in demand.values()))


def price_dominant(whole: Market, meters: Sequence[tuple[Market, Fraction]]) -> list[Priced]:
    """Every slot of a pool. `meters`: each with its own demand, capacity and weight; what comes back is what was charged through each."""
    found = [Priced(credited=[defaultdict(int) for _ in whole.credited]) for _ in meters]
    for (curve, slot), columns in whole.money.items():
        demands = [sum_cells(market.demand.get(curve, {}), slot, whole.calendar) for market, _ in meters]
        sizes = [size_of(market, curve, slot, demand) for (market, _), demand in zip(meters, demands, strict=True)]
        parts = [weight / (size or 1) for (_, weight), size in zip(meters, sizes, strict=True)]
        rates = rates_of(whole, demands, parts)
        shares = shares_of(whole, demands, rates)
        total = sum(shares.values(), Fraction(0))
        for column, days in columns.items():
            if not total:
                nothing(whole, found[0], slot, column, days)
                continue
            grains = sum(days.values())
            amounts = {place: part_of(grains, share / total) for place, share in shares.items()}
            amounts[next(iter(amounts))] += grains - sum(amounts.values())
            for (n, day, load), amount in amounts.items():
                found[n].usage[column, day, load] += amount
        for rule in range(len(whole.credited)) if total else ():
            given = [sum_cells(market.credited[rule].get(curve, {}), slot, whole.calendar) for market, _ in meters]
            money = {column: sum(days.values()) for column, days in columns.items()}
            give_back([priced.credited[rule] for priced in found], money, shares_of(whole, given, rates), total)
    return found


def give_back(
    credited: Sequence[defaultdict[Part, int]],
    money: Mapping[Column, int],
    shares: Mapping[Place, Fraction],
    total: Fraction,
) -> None:
    """What one credit rule gives back in full."""
    for (n, day, load), share in shares.items():
        for column, grains in money.items():
            credited[n][column, day, load] += part_of(grains, share / total)


def rates_of(whole: Market, demands: Sequence[Demand], parts: Sequence[Fraction]) -> dict[str, list[Fraction]]:
    """Team -> what a unit of each meter counts: only of what the team takes most of, in equal parts where several tie."""
    used: dict[str, list[int]] = defaultdict(lambda: [0] * len(demands))
    for n, demand in enumerate(demands):
        for (_, load), amounts in demand.items():
            used[whole.bearers[load[0]].owner.team][n] += amounts[UNITS]
    out = {}
    for team, units in used.items():
        taken = [part * count for part, count in zip(parts, units, strict=True)]
        most = [part == max(taken) for part in taken]
        out[team] = [part / sum(most) if here else Fraction(0) for part, here in zip(parts, most, strict=True)]
    return out


def shares_of(whole: Market, demands: Sequence[Demand], rates: Mapping[str, list[Fraction]]) -> dict[Place, Fraction]:
    """In the order of days and names, so that a tie of nanos goes by name."""
    found = {
        (n, day, load): amounts[UNITS] * rates[whole.bearers[load[0]].owner.team][n]
        for n, demand in enumerate(demands)
        for (day, load), amounts in demand.items()
    }
    order = sorted(found, key=lambda place: (place[1], whole.bearers.rank(place[2][0]), place[2][1], place[0]))
    return {place: found[place] for place in order if found[place]}
