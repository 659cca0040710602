"""Converted lines add up to the total converted once, and none is a unit of the last place away from its exact amount."""

import random
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.engine.conversion import convert_lines, convert_total
from apportion.errors import InputError
from apportion.model.rows import MONEY
from tests.conftest import LONG

ATTO = 10**18
# In units of the last place: ordinary amounts, tiny ones of which many tie, and the largest that a line can have.
AMOUNTS = st.one_of(
    st.integers(-(10**24), 10**24),
    st.integers(-3, 3),
    st.integers(-5, 5).map(lambda n: n * 10**16),
    st.just(10**38 - 1),
)
RATES = st.one_of(st.integers(1, 10**15), st.sampled_from([1, 333333333333, 500000000000, 10**12, 1083345678912]))


def as_money(attos: int) -> Decimal:
    with localcontext() as context:
        context.prec = 60
        return Decimal(attos).scaleb(-18)


def in_attos(amount: Decimal) -> int:
    return int(Fraction(amount) * ATTO)


def by_definition(lines: dict[str, int], rate: Fraction) -> dict[str, int]:
    """The rule in its own words, line by line: round the total half to even, floor, hand out what is missing by remainder, then by id."""
    whole = sum(lines.values())
    if whole < 0:
        return {name: -part for name, part in by_definition({name: -n for name, n in lines.items()}, rate).items()}
    exact = {name: n * rate for name, n in lines.items()}
    floors = {name: part.numerator // part.denominator for name, part in exact.items()}
    missing = round(whole * rate) - sum(floors.values())
    order = sorted(lines, key=lambda name: (floors[name] - exact[name], name.encode()))
    return {name: floors[name] + (name in order[:missing]) for name in lines}


def converted(lines: dict[str, int], rate: Decimal) -> dict[str, int]:
    amounts = pa.array([as_money(attos) for attos in lines.values()], MONEY)
    found = convert_lines(amounts, pa.array(list(lines), pa.string()), rate)
    assert found.type == MONEY
    return dict(zip(lines, map(in_attos, found.to_pylist()), strict=True))


@settings(max_examples=300 if LONG else 100, deadline=None)
@given(st.lists(AMOUNTS, min_size=1, max_size=40), RATES, st.randoms(use_true_random=False))
def test_lines_follow_their_total(attos: list[int], steps: int, dice: random.Random) -> None:
    rate = Decimal(f"{steps}E-12")
    if max(map(abs, attos)) * Fraction(rate) >= 10**38:
        return
    names = [f"line-{n}" for n in range(len(attos))]
    dice.shuffle(names)
    lines = dict(zip(names, attos, strict=True))
    found = converted(lines, rate)
    exact = Fraction(rate)
    total = round(sum(attos) * exact)
    assert sum(found.values()) == total
    with localcontext() as context:
        context.prec = 60
        assert convert_total(sum(map(as_money, attos), Decimal(0)), rate) == as_money(total)
    assert all(abs(found[name] - lines[name] * exact) < 1 for name in lines)
    assert found == by_definition(lines, exact)


@settings(max_examples=60 if LONG else 30, deadline=None)
@given(st.lists(AMOUNTS, min_size=1, max_size=20), RATES)
def test_a_negative_bill_mirrors_the_positive_one_and_order_does_not_count(attos: list[int], steps: int) -> None:
    rate = Decimal(f"{steps}E-12")
    if not sum(attos) or max(map(abs, attos)) * Fraction(rate) >= 10**38:
        return
    lines = {f"line-{n}": amount for n, amount in enumerate(attos)}
    found = converted(lines, rate)
    assert converted({name: -n for name, n in lines.items()}, rate) == {name: -n for name, n in found.items()}
    assert converted(dict(reversed(lines.items())), rate) == found


def test_worked_numbers() -> None:
    """Three lines of 10^-18 at a third: 0.999... of them in all, rounded to one, which the first by id gets."""
    rate = Decimal("0.333333333333")
    assert converted({"c": 1, "a": 1, "b": 1}, rate) == {"c": 0, "a": 1, "b": 0}
    assert converted({"c": -1, "a": -1, "b": -1}, rate) == {"c": 0, "a": -1, "b": 0}
    # Halves go to the even unit: 1/2 to 0, 3/2 to 2.
    assert converted({"a": 1}, Decimal("0.5")) == {"a": 0}
    assert converted({"a": 3}, Decimal("0.5")) == {"a": 2}
    # 0.7 and 0.7 and 0.6 are 2 in all: the two largest remainders round up.
    assert converted({"a": 7, "b": 7, "c": 6}, Decimal("0.1")) == {"a": 1, "b": 1, "c": 0}


def test_many_lines_go_through_arrow(record_property: Callable[[str, object], None]) -> None:
    count = 50_000
    dice = random.Random(7)
    attos = [dice.randrange(-(10**19), 10**20) for _ in range(count)]
    rate = Decimal("1.083345678912")
    found = converted({f"{n:06d}": amount for n, amount in enumerate(attos)}, rate)
    assert sum(found.values()) == round(sum(attos) * Fraction(rate))
    record_property("converted lines", count)


def test_what_does_not_fit_any_more_is_refused() -> None:
    with pytest.raises(InputError, match="too-many-digits"):
        converted({"a": 10**38 - 1}, Decimal("1.5"))
