"""Amounts with more places than are kept: a bill's sum stays right, whatever the order and the files of its lines."""

import random
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apportion.model.delivery import Rows
from apportion.sources import focus
from apportion.sources.bills import deliveries, spool
from apportion.sources.files import flow
from tests.sources import making

STEP = Decimal("1e-18")
Row = dict[str, str]


def bill(dice: random.Random) -> list[Row]:
    """Two currencies; lines that are equal but for what lies beyond the 18th place, and some that have no more places."""
    rows = []
    for _ in range(300):
        places = dice.choice((2, 18, 19, 22, 28, 36))
        cost = f"{Decimal(dice.randrange(-(10**6), 10**7)).scaleb(-places):f}"
        rows.append(making.LINE | {"BilledCost": cost, "EffectiveCost": cost, "ListCost": f"{dice.randrange(9)}.5"})
        rows[-1] |= {"BillingCurrency": dice.choice(("USD", "EUR")), "ResourceId": f"node-{dice.randrange(3)}"}
    return rows


def sums(rows: list[Row], cost: str) -> dict[str, Decimal]:
    with localcontext() as context:
        context.prec = 100
        return {
            unit: sum((Decimal(row[cost]) for row in rows if row["BillingCurrency"] == unit), Decimal(0)).quantize(
                STEP, ROUND_HALF_EVEN
            )
            for unit in ("USD", "EUR")
        }


def read(folder: Path, parts: list[list[Row]], form: str = "csv") -> pa.Table:
    folder.mkdir()
    for number, rows in enumerate(parts):
        if form == "csv":
            making.put(folder / f"{number}.csv", making.csv_text(rows))
        else:
            pq.write_table(pa.Table.from_pylist(rows), folder / f"{number}.parquet")
    found = [
        lines.table() if isinstance(lines, Rows) else lines  # while the source waits
        for delivery in focus.read({"name": "bills", "kind": "focus", "path": f"*.{form}"}, folder)
        for lines in delivery.tables.values()
    ]
    return pa.concat_tables(found).sort_by("line_id").combine_chunks()


def test_the_sum_is_exact_in_any_order_and_any_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(random.SystemRandom().randrange(2**32))
    rows = bill(dice)
    whole = read(tmp_path / "whole", [rows])
    for cost in ("BilledCost", "EffectiveCost", "ContractedCost", "ListCost"):
        found = {
            unit: sum((row[cost] for row in whole.to_pylist() if row["BillingCurrency"] == unit), Decimal(0))
            for unit in ("USD", "EUR")
        }
        assert found == sums(rows, cost), cost
    shuffled = dice.sample(rows, len(rows))
    assert read(tmp_path / "shuffled", [shuffled], "parquet").equals(whole)
    monkeypatch.setattr(spool, "IN_MEMORY", 50)
    monkeypatch.setattr(deliveries, "IN_MEMORY", 50)
    monkeypatch.setattr(flow, "BLOCK_ROWS", 64)
    assert read(tmp_path / "parts", [shuffled[:100], shuffled[100:110], shuffled[110:]], "parquet").equals(whole)


def test_no_line_is_off_by_more_than_a_step(tmp_path: Path) -> None:
    rows = [making.LINE | {"ResourceId": f"n{n}", "EffectiveCost": f"0.{'0' * 18}{n}"} for n in range(10)]
    found = {row["ResourceId"]: row["EffectiveCost"] for row in read(tmp_path / "bill", [rows]).to_pylist()}
    assert sum(found.values()) == 4 * STEP, "4.5 steps, half to even"
    assert {name for name, cost in found.items() if cost} == {"n6", "n7", "n8", "n9"}
