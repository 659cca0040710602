"""Minor units: every bill rounded once, everything below it adding up, nothing a unit or more from exact."""

import random
from collections import defaultdict
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest

from apportion.model.currencies import MINOR_DIGITS
from apportion.model.minor import minor_units
from apportion.model.rows import MINOR, MINOR_KEY, POSTINGS

TREE = ("bill", "currency", "cost_centre", "department", "team", "project", "user")
ONE = {"USD": Decimal("0.01"), "JPY": Decimal(1), "KWD": Decimal("0.001")}


def postings(dice: random.Random) -> list[dict[str, Any]]:
    """Mixed signs, three currencies, days that fall together."""
    rows: list[dict[str, Any]] = []
    for _ in range(dice.randrange(1, 120)):
        currency = dice.choice(sorted(ONE))
        team = dice.choice(("vision", "speech", "_idle"))
        rows.append({
            "period": "2026-10", "bill": f"{dice.choice('AB')} 2026-10 {currency}", "currency": currency, "component": dice.choice(("compute", "storage")),
            "pool": dice.choice(("h100", "disk")), "day": f"2026-10-0{dice.randrange(1, 5)}", "reason": dice.choice(("usage", "idle", "credit")),
            "cause": "", "cost_centre": dice.choice(("1", "2")), "department": "research", "team": team, "project": dice.choice(("", "p")),
            "user": dice.choice(("", "ann", "bob")), "amount": Decimal(dice.randrange(-(10**12), 10**13)).scaleb(-9),
        })  # fmt: skip
    return rows


def table(rows: list[dict[str, Any]]) -> pa.Table:
    days = pa.array([row["day"] for row in rows]).cast(pa.date32())
    whole = pa.Table.from_pylist(
        [{**row, "day": None} for row in rows], pa.schema([f.with_nullable(True) for f in POSTINGS])
    )
    return whole.set_column(POSTINGS.names.index("day"), POSTINGS.field("day"), days)


@pytest.mark.parametrize("seed", range(20))
def test_every_roll_up_is_near_and_adds_up(seed: int) -> None:
    rows = postings(random.Random(seed))
    found = minor_units(table(rows))
    assert found.schema.equals(MINOR)
    for depth in range(2, len(TREE) + 1):
        exact, given = summed(rows, depth), summed(found.to_pylist(), depth)
        for key, amount in exact.items():
            units = amount / ONE[str(key[1])]
            assert depth > 2 or given[key] == units.quantize(Decimal(1), ROUND_HALF_EVEN)
            assert abs(given[key] - units) < depth, key


def summed(rows: list[dict[str, Any]], depth: int) -> dict[tuple[Any, ...], Decimal]:
    with localcontext() as context:
        context.prec = 60
        sums: dict[tuple[Any, ...], Decimal] = defaultdict(Decimal)
        for row in rows:
            sums[tuple(row[name] for name in TREE[:depth])] += row["amount"]
    return sums


@pytest.mark.parametrize("seed", range(5))
def test_the_order_of_postings_makes_no_difference(seed: int) -> None:
    dice = random.Random(seed)
    rows = postings(dice)
    assert minor_units(table(rows)).equals(minor_units(table(dice.sample(rows, len(rows)))))


def test_any_two_dimensions_add_up_to_each_of_them() -> None:
    found = minor_units(table(postings(random.Random(7)))).to_pylist()
    for one, other in combinations(MINOR_KEY, 2):
        both: dict[tuple[str, str], int] = defaultdict(int)
        alone: dict[str, int] = defaultdict(int)
        for row in found:
            both[row[one], row[other]] += row["amount"]
            alone[row[one]] += row["amount"]
        for name, amount in alone.items():
            assert sum(part for key, part in both.items() if key[0] == name) == amount


def test_nothing_is_nothing() -> None:
    assert minor_units(POSTINGS.empty_table()).equals(MINOR.empty_table())
    assert set(ONE) <= set(MINOR_DIGITS)
