"""Capacity that is stated twice for one time: how much of it, and whether any price depends on it."""

from dataclasses import replace
from decimal import Decimal

import pytest

from apportion.engine.backend import Backend
from apportion.engine.overlaps import overlap_of
from apportion.engine.plan import make_plan
from apportion.model.times import Interval
from apportion.policy.load import load_policy
from tests.engine.golden_world import GOLDEN, read_world

DAY_S = 86400


@pytest.mark.parametrize(
    ("levels", "beyond"),
    [
        ([((0, 10), 8)], 0),
        ([((0, 10), 8), ((10, 20), 8)], 0),
        ([((0, 30), 8), ((10, 20), 8)], 80),  # once more for 10 s
        ([((0, 30), 8), ((10, 20), 2), ((15, 40), 12)], 2 * 5 + 10 * 5 + 8 * 10),
        ([((day * DAY_S, 31 * DAY_S), 8) for day in range(31)], 8 * DAY_S * sum(range(31))),  # 31 rows of an inventory, none with an end
    ],
)  # fmt: skip
def test_what_is_stated_beyond_the_largest_row_overlaps(levels: list[tuple[tuple[int, int], int]], beyond: int) -> None:
    assert overlap_of([(Interval(*span), amount) for span, amount in reversed(levels)]) == beyond


@pytest.mark.parametrize(("method", "share"), [("capacity_rate", "0.2"), ("time", "0")])
def test_it_touches_no_share_where_no_price_depends_on_capacity(backend: Backend, method: str, share: str) -> None:
    folder = GOLDEN / "capacity-overlaps"
    text = (folder / "policy.yaml").read_text(encoding="utf-8").replace("method: capacity_rate", f"method: {method}")
    made = make_plan(replace(read_world(folder), policy=load_policy(text, "policy.yaml")), backend)
    told = [one for one in made.findings if one.code == "capacity-overlaps"]
    assert [(one.hours, one.share) for one in told] == [(Decimal(8), Decimal(share))]
