"""A month with reservations, savings plans, what they left unused, refunds, a marketplace, tax and rounding: the lines are those of its schedule."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apportion.books.prepare import Prepared
from apportion.errors import InputError
from tests.azure import month
from tests.azure.month import WRITERS, Charge, Writer
from tests.sources import making

EA = WRITERS["EA, M/D/YYYY"]


def written(base: Path, charges: Sequence[Charge], writer: Writer = EA) -> None:
    for dataset in ("actual", "amortised"):
        making.put(base / f"{dataset}.csv", writer.text(charges, dataset))


def pair(base: Path, **more: Any) -> list[dict[str, Any]]:
    return making.lines(making.read("azure", base, path="actual.csv", amortised="amortised.csv", **more))


def told(line: dict[str, Any]) -> tuple[object, ...]:
    costs = (line[name].quantize(Decimal("1e-15")) for name in ("BilledCost", "EffectiveCost"))
    return (
        datetime.fromtimestamp(line["charge_start_s"], UTC).date().isoformat(), line["ChargeCategory"], line["ChargeClass"],
        line["CommitmentDiscountStatus"], *costs, line["ConsumedQuantity"], line["CommitmentDiscountId"], line["ResourceId"] or "",
        tuple(sorted(line["Tags"])),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_both_exports_are_one_bill(seed: int, tmp_path: Path) -> None:
    charges = month.made(seed)
    written(tmp_path, charges)
    (delivery,) = making.read("azure", tmp_path, path="actual.csv", amortised="amortised.csv")
    lines = making.lines([delivery])
    assert Counter(map(told, lines)) == Counter(one.truth for one in charges)
    for column, dataset in (("BilledCost", "actual"), ("EffectiveCost", "amortised")):
        assert sum(line[column] for line in lines) == month.total(charges, dataset)
    assert set(making.codes(delivery)) == {"rounded-money"}
    assert {line["problem"] for line in lines} == {None}
    assert {(line["billing_start_s"], line["billing_end_s"]) for line in lines} == {(1790812800, 1793491200)}


def test_amortised_in_and_prepaid_out(tmp_path: Path) -> None:
    """What effective has beyond billed is what commitments were used up for, less what was paid for them."""
    charges = month.made(7)
    written(tmp_path, charges)
    lines = pair(tmp_path)
    used_up = sum(line["EffectiveCost"] for line in lines if line["CommitmentDiscountStatus"])
    paid = sum(
        line["BilledCost"] for line in lines if line["ChargeCategory"] == "Purchase" and line["CommitmentDiscountId"]
    )
    assert paid == Decimal("2976.00") - Decimal("120.5") + 24 * Decimal("1.25") + sum(range(24))
    assert used_up == sum(one.amortised for one in charges if one.status and one.amortised is not None)
    gap = sum(line["EffectiveCost"] for line in lines) - sum(line["BilledCost"] for line in lines)
    rest = month.total(charges, "amortised") - month.total(charges, "actual") - (used_up - paid)
    assert gap == used_up - paid + rest
    assert abs(rest) <= Decimal("1e-18"), "the two sums are each rounded at the last place"


def test_agreements_dates_and_the_order_of_rows_make_no_difference(tmp_path: Path) -> None:
    charges = month.made(1)
    digests = set()
    for number, writer in enumerate(WRITERS.values()):
        base = tmp_path / str(number)
        written(base, month.shuffled(charges, number), writer)
        (delivery,) = making.read("azure", base, path="actual.csv", amortised="amortised.csv")
        table = delivery.tables["cost_lines"].sort_by("line_id")
        digests.add(str(table.to_pylist()))
    assert len(digests) == 1


@pytest.mark.parametrize("dataset", ["actual", "amortised"])
def test_one_export_alone_says_what_it_does_not_know(dataset: str, tmp_path: Path) -> None:
    charges = month.made(2)
    written(tmp_path, charges)
    (delivery,) = making.read("azure", tmp_path, path=f"{dataset}.csv")
    lines = making.lines([delivery])
    there = [one for one in charges if getattr(one, dataset) is not None]
    assert len(lines) == len(there)
    committed = [one for one in there if "benefit" in one.cells]
    known, other = ("BilledCost", "EffectiveCost") if dataset == "actual" else ("EffectiveCost", "BilledCost")
    assert sum(line[known] for line in lines) == month.total(charges, dataset)
    note = {"actual": "no-amortised-export", "amortised": "no-actual-export"}[dataset]
    assert next(problem.message for problem in delivery.problems if problem.code == note).startswith(
        f"{len(committed)} lines "
    )
    if dataset == "actual":
        assert sum(line[other] is None for line in lines) == len(committed)
    else:
        assert sum(line[other] == 0 for line in lines) == len(committed)
    for line in lines:
        assert line["CommitmentDiscountId"] is not None or line[other] == line[known]


def test_a_month_that_only_one_export_has_yet(tmp_path: Path) -> None:
    """October in both, November in the actual export alone: its ordinary lines have both costs, its commitments no effective one."""
    charges = month.made(3)
    written(tmp_path, charges)
    november = EA.text(charges[:60], "actual").replace(",10/", ",11/")
    making.put(tmp_path / "both" / "october.csv", EA.text(charges, "actual"))
    making.put(tmp_path / "both" / "november.csv", november.replace(",11/31/2026", ",11/30/2026"))
    (tmp_path / "actual.csv").unlink()
    october, later = making.read("azure", tmp_path, path="both", amortised="amortised.csv")
    assert making.total([october]) == month.total(charges, "amortised")
    for line in making.lines([later]):
        assert line["EffectiveCost"] == (None if line["CommitmentDiscountId"] else line["BilledCost"])


def test_exports_that_do_not_agree_are_told_and_each_keeps_its_sum(tmp_path: Path) -> None:
    charges = month.made(4)
    usual = [
        at for at, one in enumerate(charges) if one.actual is not None and one.amortised is not None and not one.status
    ]
    dropped, changed = charges[usual[0]], charges[usual[1]]
    others = [one for at, one in enumerate(charges) if at not in usual[:2]]
    making.put(tmp_path / "actual.csv", EA.text([*others, dropped, changed], "actual"))
    assert changed.amortised is not None
    dearer = Charge(changed.cells, changed.actual, changed.amortised + 1, tags=changed.tags)
    making.put(tmp_path / "amortised.csv", EA.text([*others, dearer], "amortised"))
    (delivery,) = making.read("azure", tmp_path, path="actual.csv", amortised="amortised.csv")
    assert making.total([delivery], "BilledCost") == month.total([*others, dropped, changed], "actual")
    assert making.total([delivery]) == month.total([*others, dearer], "amortised")
    found = [problem.message for problem in delivery.problems if problem.code == "exports-differ"]
    assert [text.partition(":")[0] for text in found] == [
        "1 line in the actual export only", "1 line with another cost in the amortised export",
    ]  # fmt: skip


def test_exports_that_are_exchanged_or_mixed_are_refused(tmp_path: Path) -> None:
    written(tmp_path, month.made(5))
    for settings in (
        {"path": "amortised.csv", "amortised": "actual.csv"},
        {"path": "actual.csv", "amortised": "actual.csv"},
        {"path": "*.csv"},
    ):
        with pytest.raises(InputError) as refused:
            making.read("azure", tmp_path, **settings)
        assert refused.value.code == "wrong-dataset"


def test_the_same_delivery_has_the_same_digest(tmp_path: Path) -> None:
    written(tmp_path, month.made(6))
    first, second = (making.read("azure", tmp_path, path="actual.csv", amortised="amortised.csv") for _ in range(2))
    assert Prepared(first[0]).digest == Prepared(second[0]).digest


def test_faults_stay_with_their_lines(tmp_path: Path) -> None:
    """Of a row in both exports once; of one that only the amortised export has, with its own money."""
    charges = month.made(8)
    unused = next(at for at, one in enumerate(charges) if one.status == "Unused")
    usual = next(at for at, one in enumerate(charges) if one.actual and not one.status)
    written(tmp_path, charges)
    for name in ("actual", "amortised"):
        rows = list(csv.DictReader(io.StringIO(EA.text(charges, name))))
        stands = [one for one in charges if getattr(one, name) is not None]
        for at in (usual, unused) if name == "amortised" else (usual,):
            rows[stands.index(charges[at])]["Tags"] = "team=vision"
        making.put(tmp_path / f"{name}.csv", making.csv_text(rows))
    (delivery,) = making.read("azure", tmp_path, path="actual.csv", amortised="amortised.csv")
    found = [problem for problem in delivery.problems if problem.code == "invalid-tags"]
    assert [problem.where.partition(":")[0] for problem in found] == ["actual.csv", "amortised.csv"]
    lines = {line["line_id"]: line for line in making.lines([delivery])}
    for problem, at in zip(found, (usual, unused), strict=True):
        line = lines[problem.row]
        assert line["problem"] == "invalid-tags"
        assert line["CommitmentDiscountStatus"] == charges[at].status
        assert abs(Decimal(problem.money) - (charges[at].amortised or 0)) < Decimal("1e-17")
    assert sum(line["problem"] is not None for line in lines.values()) == 2


def test_rows_that_differ_in_cost_alone_are_paired_by_cost_in_any_order(tmp_path: Path) -> None:
    costs = {"actual": ["1", "2", "3"], "amortised": ["1.5", "2.5", "3"]}
    found = []
    for number in range(3):
        for name, amounts in costs.items():
            turned = amounts[number:] + amounts[:number] if name == "actual" else amounts
            rows = [month.charge(month.FIRST, {"quantity": "1"}, Decimal(cost), Decimal(cost)) for cost in turned]
            making.put(tmp_path / f"{name}.csv", EA.text(rows, name))
        found.append(sorted((line["BilledCost"], line["EffectiveCost"]) for line in pair(tmp_path)))
    assert found == [[(Decimal(1), Decimal("1.5")), (Decimal(2), Decimal("2.5")), (Decimal(3), Decimal(3))]] * 3
