"""Parts of a bill that overlap: lines of one file that another file holds, too, count and are told with their money."""

import random
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apportion.model.delivery import Delivery
from apportion.sources.bills import deliveries, spool
from apportion.sources.files import delimited, flow
from tests.sources import making

MONTHS = ("2026-10", "2026-11", "2026-12")


def line(number: int, **more: str) -> dict[str, str]:
    return {"ResourceId": f"n{number}", "EffectiveCost": f"{number}.25", **more}


def read(base: Path, parts: dict[str, list[dict[str, str]]], **settings: Any) -> list[Delivery]:
    for name, changes in parts.items():
        making.put(base / "bills" / name, making.bill_text(*changes))
    return making.read("focus", base, path="bills", **settings)


def told(found: list[Delivery]) -> list[tuple[str, str, str, str]]:
    return [
        (one.where.removeprefix("bills/"), one.row, one.money, one.message.replace("bills/", ""))
        for delivery in found
        for one in delivery.problems
        if one.code == "repeated-lines"
    ]


def test_a_part_beside_the_whole_is_told_and_counts(tmp_path: Path) -> None:
    whole = [line(number) for number in range(8)]
    found = read(tmp_path, {"full.csv": whole, "part.csv": whole[2:5]})
    assert making.total(found) == 28 + 9 + 11 * Decimal("0.25")
    assert told(found) == [("part.csv", "+3", "9.75", "3 lines in USD also in full.csv; all of them count")]
    assert told(read(tmp_path, {}, repeats="count")) == []


def test_equal_lines_of_one_file_are_charges_of_their_own(tmp_path: Path) -> None:
    assert told(read(tmp_path, {"a.csv": [line(1)] * 3, "b.csv": [line(2)] * 2})) == []


def test_the_file_that_has_most_of_equal_lines_is_beyond_doubt(tmp_path: Path) -> None:
    parts = {"a.csv": [line(4)], "b.csv": [line(4)] * 3, "c.csv": [line(4)] * 2, "d.csv": [line(5)]}
    assert told(read(tmp_path, parts)) == [
        ("a.csv", "+1", "4.25", "1 line in USD also in b.csv; all of them count"),
        ("c.csv", "+2", "8.5", "2 lines in USD also in b.csv; all of them count"),
    ]


def test_currencies_are_told_apart(tmp_path: Path) -> None:
    both = [line(1), line(2, BillingCurrency="JPY")]
    assert [one[:3] for one in told(read(tmp_path, {"a.csv": both, "b.csv": [line(3), *both]}))] == [
        ("b.csv", "+1", "2.25"),
        ("b.csv", "+1", "1.25"),
    ]


def plainly(parts: dict[str, list[dict[str, str]]]) -> tuple[int, Decimal]:
    """By definition: of each line, how often the files hold it beyond the one that has most of it."""
    count, money = 0, Decimal(0)
    files = [Counter(map(known, rows)) for rows in parts.values()]
    for one in set().union(*files):
        times = [file[one] for file in files]
        count += sum(times) - max(times)
        money += (sum(times) - max(times)) * Decimal(one[0])
    return count, money


def known(row: dict[str, str]) -> tuple[str, ...]:
    """A line without a readable period is October's: it was charged then."""
    start, end = row["BillingPeriodStart"], row["BillingPeriodEnd"]
    if start == "some day":
        start, end = (f"{month}-01T00:00:00Z" for month in MONTHS[:2])
    return row["EffectiveCost"], row["ResourceId"], start, end


@pytest.mark.parametrize("seed", range(6))
def test_the_same_in_small_blocks_over_several_months(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some lines have no readable period and find their place when all are read."""
    dice = random.Random(seed)

    def drawn() -> dict[str, str]:
        month = dice.randrange(2)
        start = "some day" if dice.random() < 0.1 else f"{MONTHS[month]}-01T00:00:00Z"
        return line(dice.randrange(12), BillingPeriodStart=start, BillingPeriodEnd=f"{MONTHS[month + 1]}-01T00:00:00Z")

    parts = {f"{name}.csv": [drawn() for _ in range(dice.randrange(1, 90))] for name in "abc"}
    at_once = told(read(tmp_path, parts))
    for module, name, size in ((spool, "IN_MEMORY", 16), (deliveries, "IN_MEMORY", 16), (flow, "BLOCK_ROWS", 32)):
        monkeypatch.setattr(module, name, size)
    monkeypatch.setattr(delimited, "BLOCK", 2**12)
    assert told(read(tmp_path, {})) == at_once
    count = sum(int(row) for _, row, _, _ in at_once)
    money = sum((Decimal(money) for _, _, money, _ in at_once), Decimal(0))
    assert count
    assert (count, money) == plainly(parts)
