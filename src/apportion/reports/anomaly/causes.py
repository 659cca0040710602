"""Why a sum is another than before: causes that add up to the difference, to the last place of the books.

What is charged for use is hours in all x each pool's part of them x each pool's price of an hour, of pools that count the same unit. Each of the three
is changed in every order, and its effect averaged (the Shapley value): nothing is left over, and no cause depends on which was looked at first.

    volume   more hours, at the average price
    mix      other pools
    price    other prices of the same pools' hours

Idle, overhead and adjustments are posted apart, each a cause of its own; use that nobody counts in hours is `use`.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from apportion.model.money import GRAINS_PER_ATTO, round_children, to_decimal, to_grains

USE = "use"
Sums = Mapping[tuple[str, str], Fraction]  # attos by pool and cause


@dataclass(frozen=True, slots=True)
class Side:
    """Money by pool and cause (`use` is what is split), hours by pool, and what they are hours of."""

    money: Sums
    hours: Mapping[str, Fraction] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)

    @property
    def whole(self) -> Fraction:
        return sum(self.money.values(), Fraction(0))

    def use(self, pool: str) -> Fraction:
        return self.money.get((pool, USE), Fraction(0))

    def scaled(self, by: Fraction) -> "Side":
        return Side(
            {key: amount * by for key, amount in self.money.items()},
            {pool: hours * by for pool, hours in self.hours.items()},
            self.units,
        )


def causes_of(before: Side, now: Side) -> dict[str, Decimal]:
    """The largest first. They add up to what `difference` says, digit for digit."""
    counted = frozenset(
        pool for pool in {**before.units, **now.units} if is_counted(before, pool) and is_counted(now, pool)
    )
    exact: dict[str, Fraction] = defaultdict(Fraction)
    for pool, name in {*before.money, *now.money}:
        if name != USE or pool not in counted:
            apart = now.money.get((pool, name), Fraction(0)) - before.money.get((pool, name), Fraction(0))
            exact[name] += apart
    units = {**before.units, **now.units}
    for unit in sorted({units[pool] for pool in counted}):
        own = sorted(pool for pool in counted if units[pool] == unit)
        for name, amount in of_use(before, now, own).items():
            exact[name] += amount
    return in_places(exact, difference(before, now))


def is_counted(side: Side, pool: str) -> bool:
    return bool(side.hours.get(pool)) or not side.use(pool)


def of_parts(before: Mapping[str, Fraction], now: Mapping[str, Fraction], grown: Fraction) -> dict[str, Decimal]:
    """Of a share: what each part of it is above what it would be now at its share of before. `grown`: the whole now over the whole before."""
    exact = {name: now.get(name, Fraction(0)) - before.get(name, Fraction(0)) * grown for name in {*before, *now}}
    return in_places(exact, decimal(round(sum(exact.values(), Fraction(0)))))


def of_price(
    costs: tuple[Fraction, Fraction], used: tuple[Fraction, Fraction], hours: tuple[Fraction, Fraction]
) -> dict[str, Decimal]:
    """Of a price, before and now: the pool's whole cost (`bill`), and how much of it each hour of use bears (`hours`); the average of both orders."""
    bears = [used[n] / costs[n] / hours[n] if costs[n] else Fraction(0) for n in (0, 1)]
    exact = {
        "bill": hours[1] * (costs[1] - costs[0]) * (bears[0] + bears[1]) / 2,
        "hours": hours[1] * (bears[1] - bears[0]) * (costs[0] + costs[1]) / 2,
    }
    return in_places(exact, decimal(round(sum(exact.values()))))


def difference(before: Side, now: Side) -> Decimal:
    return decimal(round(now.whole - before.whole))


def of_use(before: Side, now: Side, pools: Sequence[str]) -> dict[str, Fraction]:
    """The Shapley values of hours, parts and prices, for pools of one unit."""
    hours = [sum((side.hours.get(pool, Fraction(0)) for pool in pools), Fraction(0)) for side in (before, now)]
    if not any(hours):
        return {}
    places = [places_of(side, other, pools) for side, other in ((before, now), (now, before))]

    def price(parts: int, prices: int) -> Fraction:
        """What an hour costs on average, with the parts of one side and the prices of another."""
        return sum((places[parts][pool][0] * places[prices][pool][1] for pool in pools), Fraction(0))

    early, late = 2 * hours[0] + hours[1], hours[0] + 2 * hours[1]
    all_prices = 2 * price(0, 0) + price(0, 1) + price(1, 0) + 2 * price(1, 1)
    return {
        "volume": (hours[1] - hours[0]) * all_prices / 6,
        "mix": ((price(1, 0) - price(0, 0)) * early + (price(1, 1) - price(0, 1)) * late) / 6,
        "price": ((price(0, 1) - price(0, 0)) * early + (price(1, 1) - price(1, 0)) * late) / 6,
    }


def places_of(side: Side, other: Side, pools: Sequence[str]) -> dict[str, tuple[Fraction, Fraction]]:
    """Each pool's part of the hours, and its price of one; where a side has no hours, what the other has, so that nothing is made of it."""
    having = side if any(side.hours.get(pool) for pool in pools) else other
    whole = sum((having.hours.get(pool, Fraction(0)) for pool in pools), Fraction(0))
    found = {}
    for pool in pools:
        priced = side if side.hours.get(pool) else other
        hours = priced.hours.get(pool, Fraction(0))
        found[pool] = having.hours.get(pool, Fraction(0)) / whole, priced.use(pool) / hours if hours else Fraction(0)
    return found


def in_places(exact: Mapping[str, Fraction], whole: Decimal) -> dict[str, Decimal]:
    """Whole attos that add up to a sum of them: less than one is moved from each."""
    names = sorted(exact)
    grains = [round(exact[name] * GRAINS_PER_ATTO) for name in names]
    attos = to_grains(whole) // GRAINS_PER_ATTO
    made = dict(zip(names, round_children(attos, grains, GRAINS_PER_ATTO, names), strict=True)) if names else {}
    order = sorted((name for name in names if made[name]), key=lambda name: (-abs(made[name]), name))
    return {name: decimal(made[name]) for name in order}


def decimal(attos: int) -> Decimal:
    return to_decimal(attos * GRAINS_PER_ATTO)
