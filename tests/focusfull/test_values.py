"""Words, JSON and costs that FOCUS binds to each other: what is wrong keeps its money and is told."""

from decimal import Decimal
from pathlib import Path

import pytest

from tests.sources import making

WORDS = {
    "ChargeClass": "Correction",
    "ChargeFrequency": "Usage-Based",
    "PricingCategory": "Dynamic",
    "CommitmentDiscountCategory": "Spend",
    "CommitmentDiscountStatus": "Unused",
    "CapacityReservationStatus": "Used",
}


@pytest.mark.parametrize("column", WORDS)
def test_a_word_is_known_in_any_case_and_an_unknown_one_keeps_its_money(column: str, tmp_path: Path) -> None:
    text = making.bill_text(
        {column: WORDS[column]}, {column: WORDS[column].upper()}, {column: "Whatever"}, {column: ""}
    )
    (delivery,) = making.read_bill(tmp_path, text)
    lines = making.lines([delivery])
    assert [line[column] for line in lines] == [WORDS[column], WORDS[column], "Whatever", None]
    assert making.total([delivery]) == 40
    (problem,) = delivery.problems
    assert (problem.code, problem.where, problem.money) == ("unknown-word", "bill.csv:4", "10")
    decides = column == "CommitmentDiscountStatus"  # forms a price or not
    assert [line["problem"] for line in lines] == [None, None, "unknown-word" if decides else None, None]


@pytest.mark.parametrize(
    "column",
    [
        "SkuPriceDetails",
        "AllocatedMethodDetails",
        "AllocatedTags",
        "ContractApplied",
        "CommitmentProgramEligibilityDetails",
    ],
)
def test_json_that_is_none_is_told(column: str, tmp_path: Path) -> None:
    cells = ['{"a": 1}', "{", "[1]", "17", ""]
    (delivery,) = making.read_bill(tmp_path, making.bill_text(*({column: cell} for cell in cells)))
    assert [problem.where for problem in delivery.problems] == ["bill.csv:3", "bill.csv:4", "bill.csv:5"]
    assert set(making.codes(delivery)) == {"invalid-json"}
    assert [line["problem"] for line in making.lines([delivery])] == [None] * 5
    assert making.lines([delivery])[0][column] == '{"a": 1}'
    assert making.total([delivery]) == 50


def test_taxes_and_credits_cost_what_is_billed(tmp_path: Path) -> None:
    rows = [
        {"ChargeCategory": category, "BilledCost": "5.00", "EffectiveCost": cost}
        for category in ("Tax", "Credit", "Usage")
        for cost in ("5", "5.01")
    ]
    (delivery,) = making.read_bill(tmp_path, making.bill_text(*rows))
    assert [(one.code, one.where) for one in delivery.problems] == [
        ("unequal-cost", "bill.csv:3"),
        ("unequal-cost", "bill.csv:5"),
    ]
    assert making.total([delivery]) == Decimal("30.03")
