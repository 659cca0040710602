"""The engine against an independent one, on generated worlds. A failure names its world: `python -m tests.property.hunt SEED SEED --size SIZE`.

The short run looks at the same 75 worlds each time. The long run looks at 10,000 others, elsewhere each time, with two processes; the block
`drawn` at as many again.
"""

import secrets
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.engine import curve
from tests.conftest import LONG
from tests.property.adapter import plan
from tests.property.many import compare_many, report
from tests.property.worlds import world

SLICE, SLICES = 15, 5
MANY = 10_000
# What long runs have found: flows and prices floored too early for large bills, weights of 0 in one hour, late lines with idle by the day,
# a price list over accounts of both signs, a floor far above the charges that it is shared by, charges that cancel out, a reservation of another month,
# weighted idle by the day, money that nets to nothing over use above capacity.
FOUND = (
    1580,
    3437,
    3908,
    4208,
    4862,
    5032,
    6044,
    6248,
    7055,
    8647,
    8768,
    8820,
    8951,
    9061,
    9207,
    9408,
    9594,
    9896,
    1000177,
    1000628,
    3001997,
    3004362,
    3008905,
    20511,
    700000208,
    700001897,
    700003408,
    700005624,
    700006469,
)
BY_RESOURCE = (5, 7, 3916)  # worlds in which each resource has its own price


@pytest.mark.parametrize("seed", FOUND)
def test_worlds_that_once_differed_agree(seed: int) -> None:
    assert not report(seed)


@pytest.mark.parametrize("seed", BY_RESOURCE)
def test_digits_that_few_prices_have_are_looked_up_apart(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where there are many rows."""
    seen: list[curve.Layer] = []

    def watched(rows: Any, layer: curve.Layer, *rest: Any, as_it_is: Any = curve.layer_values) -> Any:
        seen.append(layer)
        return as_it_is(rows, layer, *rest)

    monkeypatch.setattr(curve, "MANY", -1)
    monkeypatch.setattr(curve, "RARE", 0)
    monkeypatch.setattr(curve, "layer_values", watched)
    assert not report(seed)
    assert any(layer.limbs[0].worth > 1 for layer in seen)


@pytest.mark.parametrize("seed", BY_RESOURCE)
def test_large_amounts_are_multiplied_whole(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(curve, "HALF", 0)
    assert not report(seed)


@pytest.mark.parametrize("first", range(0, SLICE * SLICES, SLICE))
def test_the_engine_agrees_with_the_oracle(first: int) -> None:
    for seed in range(first, first + SLICE):
        assert not report(seed)


@pytest.mark.long
def test_the_engine_agrees_with_the_oracle_on_many_worlds(record_property: Any) -> None:
    tally, said = compare_many(secrets.randbelow(10**9), MANY)
    record_property("drawn worlds", str(tally))
    assert not tally.differing, f"{tally}; the first:\n{said}"


@settings(max_examples=300 if LONG else 6)
@given(seed=st.integers(0, 10**9), order=st.integers(0, 2**30))
def test_the_order_of_rows_does_not_matter(seed: int, order: int) -> None:
    one = world(seed, 2)
    assert plan(one).digest == plan(one.shuffled(order)).digest
