"""Oracle's cost reports: every line once, its money exact, whatever the spelling of a number; other files are refused."""

import csv
from decimal import Decimal, localcontext
from pathlib import Path

import pyarrow.compute as pc
import pytest

from apportion.errors import InputError
from apportion.sources.oracle import read

SAMPLE = Path(__file__).parents[2].parent / "shared/data/bills/oci/focus_converters_oci_cost_report.csv"
GOLDEN = Path(__file__).parents[1] / "sources/golden/oracle/corrections"


def test_the_sample_keeps_its_lines_and_its_money() -> None:
    if not SAMPLE.exists():
        pytest.skip(f"no ../shared beside the project: {SAMPLE.name}")
    with SAMPLE.open(encoding="utf-8", newline="") as file, localcontext() as context:
        context.prec = 60
        rows = list(csv.DictReader(file))
        truth = sum(Decimal(row["cost/myCost"]) for row in rows)
    (delivery,) = read({"name": "o", "kind": "oracle", "path": SAMPLE.name}, SAMPLE.parent)
    lines = delivery.tables["cost_lines"]
    assert (lines.num_rows, delivery.problems) == (len(rows), ())
    for cost in ("BilledCost", "EffectiveCost", "ContractedCost"):
        assert pc.sum(lines[cost]).as_py() == truth
    tags = dict(lines["Tags"][0].as_py())
    own = {name.removeprefix("tags/"): cell for name, cell in rows[0].items() if name.startswith("tags/") and cell}
    assert tags == own


def test_a_correction_lies_in_the_month_of_its_usage_and_names_what_it_corrects() -> None:
    october, november = read({"name": "o", "kind": "oracle", "path": "reports"}, GOLDEN)
    by_class = {row["ChargeClass"]: row for row in october.tables["cost_lines"].to_pylist()}
    assert pc.sum(october.tables["cost_lines"]["EffectiveCost"]).as_py() == Decimal("24.000000000000000001")
    assert dict(by_class["Correction"]["Tags"])["oracle.backreferenceNo"] == "r1"
    assert november.tables["cost_lines"]["EffectiveCost"].to_pylist() == [Decimal("0.000000481298076439")]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lineItem/tenantId,usage/consumedQuantity\n1,2\n", "cost/myCost"),
    ],
)
def test_another_report_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "usage.csv").write_text(text, "utf-8")
    with pytest.raises(InputError, match="missing-columns") as caught:
        list(read({"name": "o", "kind": "oracle", "path": "usage.csv"}, tmp_path))
    assert said in str(caught.value)
    assert "usage-csv" in caught.value.hint


def test_another_vendors_bill_is_sent_to_its_own_kind(tmp_path: Path) -> None:
    (tmp_path / "bill.csv").write_text("lineItem/UnblendedCost,lineItem/LineItemType\n1,Usage\n", "utf-8")
    with pytest.raises(InputError, match="another-vendors-file") as caught:
        list(read({"name": "o", "kind": "oracle", "path": "bill.csv"}, tmp_path))
    assert "kind = 'aws'" in caught.value.hint
