"""The engine against an independent one, on generated worlds. A failure names its seed: `python -m tests.property.hunt SEED SEED`."""

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import LONG
from tests.property.adapter import plan
from tests.property.hunt import differs
from tests.property.worlds import world

SEEDS = st.integers(0, 10**9)


@settings(max_examples=10_000 if LONG else 120)
@given(seed=SEEDS, size=st.sampled_from((3, 3, 2, 1)))
def test_the_engine_agrees_with_the_oracle(seed: int, size: int) -> None:
    one = world(seed, size)
    found = differs(one)
    assert not found, "\n".join([*found[:12], f"{len(found)} differences in", str(one)])


@settings(max_examples=300 if LONG else 30)
@given(seed=SEEDS, order=st.integers(0, 2**30))
def test_the_order_of_rows_does_not_matter(seed: int, order: int) -> None:
    one = world(seed)
    assert plan(one).digest == plan(one.shuffled(order)).digest
