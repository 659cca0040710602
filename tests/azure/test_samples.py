"""Files that Azure wrote, and one that a generator did: every row and every digit arrives, and is still there after plan and apply."""

import csv
import json
import shutil
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path

import pytest

from apportion.verbs.accept import accept
from apportion.verbs.apply import apply
from apportion.verbs.ingest import ingest
from apportion.verbs.plan import plan
from apportion.verbs.project import Project, open_project
from tests.sources import making

BILLS = Path(__file__).parents[2] / ".." / "shared" / "data" / "bills"
ACTUAL, AMORTISED = "azure/ftk_EA_ActualCost_Small.csv", "azure/ftk_EA_AmortizedCost_Small.csv"
CANADIAN, MCA = "azure/focus_converters_anonymous_ea_export.csv", "nise_synthetic/azure_mca_actual.csv"
FILES = {  # and the column of its costs
    ACTUAL: "Cost",
    AMORTISED: "Cost",
    CANADIAN: "CostInBillingCurrency",
    MCA: "CostInBillingCurrency",
}
PLACES = Decimal("1e-18")
POLICY = """\
policy: samples
effective: 2023-01-01
currency: {currency}
time_zone: UTC
basis: {basis}
teams: {{platform: {{}}}}
owners: []
pools:
  rest: {{costs: otherwise, by: cost, over: all}}
"""


@pytest.fixture(autouse=True)
def samples() -> None:
    if not BILLS.exists():
        pytest.skip("no ../shared/data/bills beside this checkout")


def rows_of(name: str) -> list[dict[str, str]]:
    """Another reading of the same file, by other means."""
    with (BILLS / name).open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def total_of(name: str) -> Decimal:
    """As far as 18 places go: one of the files has amounts of 28."""
    return sum((Decimal(row[FILES[name]]) for row in rows_of(name)), Decimal(0)).quantize(PLACES)


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_lost(name: str) -> None:
    known = "EffectiveCost" if name == AMORTISED else "BilledCost"
    lines = making.lines(making.read("azure", BILLS, path=name))
    rows = rows_of(name)
    assert len(lines) == len(rows)
    assert sum(line[known] for line in lines) == total_of(name)
    for line, row in zip(lines, rows, strict=True):
        assert abs(line[known] - Decimal(row[FILES[name]])) < PLACES
        assert line["PricingQuantity"] == Decimal(row["Quantity"])
        assert line["SubAccountId"] == row["SubscriptionId"].lower()
        assert line["problem"] is None
        assert {key: value for key, value in line["Tags"] if not key.startswith("azure.")} == json.loads(
            row["Tags"] if row["Tags"].startswith("{") else f"{{{row['Tags']}}}"
        )
    assert len({line["line_id"] for line in lines}) == len(lines)


def test_actual_and_amortised_together() -> None:
    lines = making.lines(making.read("azure", BILLS, path=ACTUAL, amortised=AMORTISED))
    assert sum(line["BilledCost"] for line in lines) == total_of(ACTUAL)
    assert sum(line["EffectiveCost"] for line in lines) == total_of(AMORTISED)
    same = [row for row in rows_of(ACTUAL) if row in rows_of(AMORTISED)]
    assert len(same) == 10
    assert len(lines) == len(rows_of(ACTUAL)) + len(rows_of(AMORTISED)) - len(same)
    statuses = sorted(
        (line["CommitmentDiscountType"], line["CommitmentDiscountStatus"])
        for line in lines
        if line["CommitmentDiscountStatus"]
    )
    assert statuses == [("Reservation", "Used"), ("Savings Plan", "Used")]


@pytest.mark.parametrize(("basis", "name"), [("billed", ACTUAL), ("effective", AMORTISED)])
def test_after_plan_and_apply(basis: str, name: str, tmp_path: Path) -> None:
    for sample in FILES:
        shutil.copy(BILLS / sample, tmp_path)
    project = made(tmp_path, basis, "USD", {"ea": (ACTUAL, AMORTISED), "mca": (MCA,)})
    accept(project, "2023-09", ["exports-differ"], "the vendor's samples are of two days")
    assert posted(project, "2023-09") == total_of(name)
    assert posted(project, "2026-10") == total_of(MCA)


def test_after_plan_and_apply_in_another_currency(tmp_path: Path) -> None:
    shutil.copy(BILLS / CANADIAN, tmp_path)
    assert posted(made(tmp_path, "effective", "CAD", {"ea": (CANADIAN,)}), "2023-09") == total_of(CANADIAN)


def made(base: Path, basis: str, currency: str, sources: Mapping[str, Sequence[str]]) -> Project:
    """A project with its bills in the books, every row of them."""
    stanzas = [
        f'[[sources]]\nname = "{name}"\nkind = "azure"\n'
        + "".join(f'{key} = "{Path(file).name}"\n' for key, file in zip(("path", "amortised"), files, strict=False))
        for name, files in sources.items()
    ]
    making.put(base / "apportion.toml", "\n".join(['[project]\nname = "samples"\n', *stanzas]))
    making.put(base / "policy.yaml", POLICY.format(basis=basis, currency=currency))
    project = open_project(base)
    ingest(project)
    rows = sum(len(rows_of(file)) for files in sources.values() for file in files)
    in_both = 10 if AMORTISED in sources["ea"] else 0
    assert project.books.scan("cost_lines").num_rows == rows - in_both
    return project


def posted(project: Project, period: str) -> Decimal:
    plan(project, period)
    apply(project, period)
    return sum(project.books.posted(period)["amount"].to_pylist(), Decimal(0))
