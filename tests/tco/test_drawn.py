"""Drawn inventories against a plain reading, day by day: every line to the last nano, every whole exactly."""

import tempfile
from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.conftest import LONG
from tests.tco import making, plainly

FIRST, LAST = date(2024, 1, 1), date(2027, 12, 31)
NANO = Decimal("0.000000001")
NODES = ("a", "b", "c")
QUICKLY = settings(
    max_examples=20 if LONG else 10,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # shrinking a whole inventory takes minutes
)

moments = st.dates(FIRST, date(2026, 6, 30))
money = st.integers(0, 10**9).map(lambda cents: f"{cents // 100}.{cents % 100:02d}")
percents = st.integers(0, 90).map(lambda number: f"{number}%")


def later(draw: Any, after: date, days: int = 700) -> date:
    return after + timedelta(days=draw(st.integers(1, days)))


@st.composite
def assets(draw: Any, number: int) -> dict[str, Any]:
    bought = draw(moments)
    serves = bought + timedelta(days=draw(st.sampled_from([0, 0, 1, 40])))
    months = draw(st.integers(1, 70))
    asset: dict[str, Any] = {
        "id": f"asset-{number}", "price": draw(money), "bought": str(bought), "in_service": str(serves), "life_months": months,
        "count": draw(st.integers(1, 3)), "kind": draw(st.sampled_from(["server", "gpu", "switch"])), "salvage": draw(percents),
    }  # fmt: skip
    if draw(st.booleans()):
        asset |= {
            "method": "declining",
            "rate": draw(st.sampled_from(["double", "40", "12.5", "100"])),
            "switch": draw(st.sampled_from(["true", "false"])),
        }
    asset |= draw(
        st.sampled_from([{"node": "a"}, {"node": "b"}, {"shared_by": "*"}, {"shared_by": {"a": 2, "b*": "0.5"}}, {}])
    )
    if draw(st.booleans()):
        on = later(draw, serves)
        months_to = (on.year - serves.year) * 12 + on.month - serves.month + 1
        asset["upgrades"] = [{
            "on": str(on), "price": draw(money), "replaces": draw(percents), "proceeds": draw(st.sampled_from(["0", "100.01"])),
            "extends_months": max(0, months_to - months) + draw(st.integers(0, 20)),
        }]  # fmt: skip
    if ("node" in asset or "shared_by" in asset) and draw(st.booleans()):
        asset["moves"] = [{"on": str(later(draw, serves)), "node": draw(st.sampled_from(NODES))}]
    if draw(st.booleans()):
        latest = max(
            [serves, *(date.fromisoformat(one["on"]) for key in ("upgrades", "moves") for one in asset.get(key, ()))]
        )
        asset |= {"disposed": str(later(draw, latest, 300)), "proceeds": draw(money)}
    return asset


@st.composite
def inventories(draw: Any) -> dict[str, Any]:
    start = draw(moments)
    lease = {
        "id": "lease", "node": draw(st.sampled_from(NODES)), "price": draw(money), "from": str(start), "until": str(later(draw, start) - timedelta(days=1)),
        "up_front": draw(money), "deposit": draw(money), "gpus": draw(st.integers(0, 8)),
    }  # fmt: skip
    count = draw(st.integers(1, 3))
    return {
        "assets": [draw(assets(number)) for number in range(count)],
        "leases": [lease],
        "software": [{"id": "suite", "per": "gpu", "price": draw(money), "from": str(draw(moments))}],
    }


@QUICKLY
@given(inventories())
def test_lines_are_those_of_a_plain_reading(inventory: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = making.put(Path(folder), **inventory)
        found = making.deliver(base, since="2024-01", until="2027-12")
    book = plainly.read(inventory, LAST)
    effective = making.by_key(found)
    expected = {key: amount for key, amount in book.cost.items() if amount}
    assert {key for key, amount in effective.items() if abs(amount) > 2 * NANO} <= set(expected)
    for key, amount in expected.items():
        # a line that a month's gain or loss meets with another of its kind is a sum of two
        assert abs(Fraction(effective.get(key, Decimal(0))) - amount) <= 2 * Fraction(NANO), key
    for id_ in {key[1] for key in expected}:
        whole = sum((amount for key, amount in effective.items() if key[1] == id_), Decimal(0))
        exact = sum((amount for key, amount in expected.items() if key[1] == id_), Fraction(0))
        if id_ != "suite":  # whose nodes are streams of their own
            assert Fraction(whole) == Fraction(round(exact * 10**9), 10**9), id_
    billed: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for row in making.lines(found):
        billed[making.month_of(row["billing_start_s"] // 86400), row["SkuId"]] += row["BilledCost"]
    for cash_key, amount in book.cash.items():
        assert abs(Fraction(billed.get(cash_key, Decimal(0))) - amount) <= 3 * Fraction(NANO), cash_key


@QUICKLY
@given(assets(0).filter(lambda asset: "disposed" in asset))
def test_what_was_paid_and_what_was_used_up_come_to_the_same(asset: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = making.lines(making.deliver(making.put(Path(folder), assets=[asset]), since="2024-01", until="2031-12"))
    upgrades = asset.get("upgrades", ())
    spent = Decimal(asset["price"]) + sum(Decimal(one["price"]) - Decimal(one["proceeds"]) for one in upgrades)
    net = asset["count"] * (spent - Decimal(asset["proceeds"]))
    assert sum((row["EffectiveCost"] for row in rows), Decimal(0)) == net
    assert sum((row["BilledCost"] for row in rows), Decimal(0)) == net
