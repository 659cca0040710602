"""Causes add up to the difference, digit for digit, whatever happened; and say what happened where it is one thing."""

import random
from decimal import Decimal
from fractions import Fraction
from itertools import permutations

from apportion.reports.anomaly.causes import Side, causes_of, difference, of_parts, of_price, of_use
from apportion.reports.sums import total

ATTO = 10**18


def side(use: dict[str, int], hours: dict[str, int], **others: int) -> Side:
    """Money in whole units of the currency."""
    money = {(pool, "use"): Fraction(amount * ATTO) for pool, amount in use.items()}
    money |= {("", name): Fraction(amount * ATTO) for name, amount in others.items()}
    return Side(money, {pool: Fraction(amount) for pool, amount in hours.items()}, dict.fromkeys(hours, "GPU"))


def test_more_hours_dearer_hours_and_other_pools_are_told_apart() -> None:
    before = side({"a": 100, "b": 400}, {"a": 100, "b": 100})
    assert causes_of(before, side({"a": 130, "b": 520}, {"a": 130, "b": 130})) == {"volume": Decimal(150)}
    assert causes_of(before, side({"a": 110, "b": 440}, {"a": 100, "b": 100})) == {"price": Decimal(50)}
    assert causes_of(before, side({"a": 50, "b": 600}, {"a": 50, "b": 150})) == {"mix": Decimal(150)}
    assert causes_of(before, side({"a": 100, "b": 400}, {"a": 100, "b": 100}, idle=7)) == {"idle": Decimal(7)}


def test_a_pool_that_is_new_is_mix_and_what_has_no_hours_is_use() -> None:
    before = side({"a": 100, "disk": 10}, {"a": 100})
    now = side({"a": 50, "c": 150, "disk": 12}, {"a": 50, "c": 50})
    assert causes_of(before, now) == {"mix": Decimal(100), "use": Decimal(2)}
    assert causes_of(side({}, {}), side({"a": 100}, {"a": 100})) == {"volume": Decimal(100)}


def test_hours_that_are_known_on_one_side_alone_split_nothing() -> None:
    before, now = side({"a": 100}, {"a": 100}), side({"a": 150}, {})
    assert causes_of(before, now) == {"use": Decimal(50)}


def shapley(before: Side, now: Side, pools: list[str]) -> dict[str, Fraction]:
    """The mean over all orders of changing hours, parts and prices, as the word says."""

    def bill(state: dict[str, Side]) -> Fraction:
        whole = sum(state["volume"].hours.values())
        mix, price = state["mix"], state["price"]
        hours = sum(mix.hours.values())
        return sum(
            (whole * mix.hours[pool] / hours * price.use(pool) / price.hours[pool] for pool in pools), Fraction(0)
        )

    found = dict.fromkeys(("volume", "mix", "price"), Fraction(0))
    for order in permutations(found):
        state = dict.fromkeys(found, before)
        for name in order:
            was = bill(state)
            state[name] = now
            found[name] += (bill(state) - was) / 6
    return found


def test_use_is_split_by_the_shapley_value() -> None:
    chance = random.Random(3)
    for _ in range(20):
        pools = ["a", "b", "c"]
        before, now = (
            side({pool: chance.randrange(1, 900) for pool in pools}, {pool: chance.randrange(1, 90) for pool in pools})
            for _ in range(2)
        )
        assert of_use(before, now, pools) == shapley(before, now, pools)


def test_they_add_up_to_the_last_digit_whatever_happened() -> None:
    chance = random.Random(4)
    for _ in range(200):
        made = []
        for _ in range(2):
            pools = [pool for pool in "abcd" if chance.random() < 0.8]
            money = {(pool, "use"): Fraction(chance.randrange(10**24), chance.randrange(1, 97)) for pool in pools}
            money |= {(pool, "idle"): Fraction(chance.randrange(-(10**22), 10**22), 7) for pool in pools}
            hours = {pool: Fraction(chance.randrange(10**6), 3600) for pool in pools if chance.random() < 0.9}
            made.append(Side(money, hours, {pool: "GPU" if pool < "c" else "core" for pool in hours}))
        causes = causes_of(*made)
        assert total(causes.values()) == difference(*made)


def test_a_price_is_the_bill_and_how_many_hours_bear_it() -> None:
    hundred, two = Fraction(100 * ATTO), (Fraction(50), Fraction(50))
    assert of_price((hundred, 2 * hundred), (hundred, 2 * hundred), two) == {"bill": Decimal(100)}
    assert of_price((hundred, hundred), (hundred, hundred), (Fraction(50), Fraction(25))) == {"hours": Decimal(50)}
    fixed = of_price((hundred, hundred), (hundred / 2, hundred / 4), (Fraction(50), Fraction(25)))
    assert fixed == {}  # half as much use of capacity that costs the same is no other price


def test_parts_of_a_share_are_above_what_they_would_be() -> None:
    before = {"unsold": Fraction(20 * ATTO), "down": Fraction(10 * ATTO)}
    now = {"unsold": Fraction(70 * ATTO), "down": Fraction(20 * ATTO)}
    assert of_parts(before, now, Fraction(2)) == {"unsold": Decimal(30)}
