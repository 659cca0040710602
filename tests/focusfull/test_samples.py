"""Every FOCUS bill of the samples: nothing is lost on reading, after planning or after posting, by any cost."""

from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.errors import InputError
from apportion.sources.bills.datasets import MEANING
from tests.focusfull import samples
from tests.focusfull.samples import COSTS, SPEC, TOOLKIT, Row
from tests.sources import making

GROUPS = {  # bills that may stand beside each other: no two speak for one account and month
    "real and 1.2": (
        "focus/FOCUS-1.0_focus_sample_1000.csv", "focus/SYNTHETIC_our_attribution_focus14_0fail.csv",
        *(f"{TOOLKIT}/focus_1_2_cost_and_usage_{vendor}.csv" for vendor in ("aws", "azure", "gcp")),
    ),
    "1.3": (
        f"{TOOLKIT}/consolidated_multi_provider_1_3.csv",
        *(f"{TOOLKIT}/focus_1_3_cost_and_usage_{vendor}.csv" for vendor in ("aws", "azure", "gcp")),
    ),
    "1.4": (f"{TOOLKIT}/synthetic_focus_1_4_cost_and_usage.csv", "focus/SYNTHETIC_our_attribution_focus14_0fail.parquet"),
}  # fmt: skip
EXAMPLES = sorted((samples.BILLS / SPEC).glob("*.csv"))


def sources(group: str) -> dict[str, Path | list[Row]]:
    base = samples.needed()
    if group != "appendix":
        return {Path(name).stem: base / name for name in GROUPS[group]}
    return {
        path.stem: samples.completed(samples.rows_of(path), path.stem) for path in sorted((base / SPEC).glob("*.csv"))
    }


@pytest.mark.parametrize("group", [*GROUPS, "appendix"])
def test_every_bill_is_whole_in_the_books_in_the_plan_and_in_the_record(group: str, tmp_path: Path) -> None:
    bills = sources(group)
    rows = {name: bill if isinstance(bill, list) else samples.rows_of(bill) for name, bill in bills.items()}
    project = apportion.open_project(samples.write_project(tmp_path, bills))
    apportion.ingest(project)
    lines = project.books.scan("cost_lines").to_pylist()
    for name, own in rows.items():
        mine = [line for line in lines if line["source"] == name]
        assert len(mine) == len(own)
        for cost in COSTS:
            assert sum((line[cost] or Decimal(0) for line in mine), Decimal(0)) == samples.total(own, cost), (
                name,
                cost,
            )
        accounts = {row["BillingAccountId"] for row in own}
        for account in accounts if group == "appendix" else ():
            mine = [line["EffectiveCost"] for line in lines if line["BillingAccountId"] == account]
            assert sum(mine) == samples.total(
                [row for row in own if row["BillingAccountId"] == account], "EffectiveCost"
            )
    every = [row for own in rows.values() for row in own]
    for basis, cost in (("billed", "BilledCost"), ("list", "ListCost"), ("effective", "EffectiveCost")):
        making.put(tmp_path / "policy.yaml", samples.POLICY.format(basis=basis))
        project = apportion.open_project(tmp_path)
        expected = samples.bills_of(every, cost)
        for month in sorted({month for month, _ in expected}):
            planned = apportion.plan(project, month)
            postings = sums(planned.plan.postings.to_pylist())
            assert postings == {bill: amount for (its, bill), amount in expected.items() if its == month}
            assert {bill.id: bill.total for bill in planned.bills if bill.total} == postings
            if basis == "effective":
                apportion.apply(project, month, made=planned.plan)
                assert sums(project.books.posted(month).to_pylist()) == postings
    assert apportion.verify(project).findings == ()


def sums(postings: list[dict[str, object]]) -> dict[str, Decimal]:
    found: dict[str, Decimal] = defaultdict(Decimal)
    for posting in postings:
        found[str(posting["bill"])] += Decimal(str(posting["amount"]))
    return dict(found)


APPENDIX = {  # purchase and what was used or not used of it: one by one in the example, worked out in the specification
    "one_hundred_percent_utilization_with_commitment_discount_flexibility_with_1_resource": "0.50",
    "one_hundred_percent_utilization_with_commitment_discount_flexibility_with_2_resources": "2.00",
    "one_hundred_percent_utilization_without_commitment_discount_flexibility": "1.50",
    "zero_percent_utilization_without_commitment_discount_flexibility": "1.50",
}


@pytest.mark.parametrize("example", APPENDIX)
def test_what_was_paid_ahead_is_what_was_used_and_unused_of_it(example: str, tmp_path: Path) -> None:
    path = samples.needed() / SPEC / f"{example}.csv"
    text = making.csv_text(samples.completed(samples.rows_of(path), example))
    lines = making.lines(making.read_bill(tmp_path, text))
    paid = sum(line["BilledCost"] for line in lines if line["ChargeCategory"] == "Purchase")
    spent = sum(line["EffectiveCost"] for line in lines if line["CommitmentDiscountStatus"])
    assert paid == spent == Decimal(APPENDIX[example])
    assert all(line["EffectiveCost"] == 0 for line in lines if line["ChargeCategory"] == "Purchase")


@pytest.mark.parametrize("example", ["saas_spend_agreements_b1", "saas_spend_agreements_b2"])
def test_a_years_agreement_is_paid_once_and_spent_over_the_year(example: str, tmp_path: Path) -> None:
    path = samples.needed() / SPEC / f"{example}.csv"
    found = making.read_bill(tmp_path, making.csv_text(samples.completed(samples.rows_of(path), example)))
    assert making.total(found, "BilledCost") == making.total(found, "EffectiveCost") == 1200


def test_the_examples_as_they_stand_are_refused_with_the_reason() -> None:
    """They leave out columns that FOCUS makes mandatory, write 4/1/25 for a time or $10,000.00 for an amount."""
    base = samples.needed()
    found: dict[str, str] = {}
    for path in EXAMPLES:
        with pytest.raises(InputError) as caught:
            making.read("focus", base, path=f"{SPEC}/{path.name}")
        found[path.stem] = caught.value.code
    assert found.pop("simple_saas_agreements_a1") == "invalid-number"
    assert set(found.values()) == {"missing-columns", "no-billing-period", "invalid-number"}
    assert found["zero_percent_utilization_without_commitment_discount_flexibility"] == "missing-columns"


@pytest.mark.parametrize("vendor", ["aws", "azure", "gcp"])
def test_agreements_are_no_bill(vendor: str) -> None:
    with pytest.raises(InputError) as caught:
        making.read("focus", samples.needed(), path=f"{TOOLKIT}/focus_1_3_contract_commitment_{vendor}.csv")
    assert caught.value.code == "another-dataset"
    assert "Contract Commitment" in caught.value.message
    assert MEANING["Contract Commitment"] in caught.value.message


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("aws/focus_converters_anonymous_aws_cur.csv", "aws"),
        ("aws/SYNTHETIC_cur2_with_eks_gpu_split.parquet", "aws"),
        ("nise_synthetic/aws_legacy_cur.csv", "aws"),
        ("azure/focus_converters_anonymous_ea_export.csv", "azure"),
        ("azure/ftk_EA_ActualCost_Small.csv", "azure"),
        ("azure/ftk_EA_AmortizedCost_Small.csv", "azure"),
        ("nise_synthetic/azure_mca_actual.csv", "azure"),
        ("nise_synthetic/gcp_bigquery_flat.csv", "google"),
        ("oci/focus_converters_oci_cost_report.csv", "oracle"),
    ],
)
def test_another_vendors_bill_is_sent_to_its_own_kind(name: str, kind: str) -> None:
    with pytest.raises(InputError) as caught:
        making.read("focus", samples.needed(), path=name)
    assert (caught.value.code, caught.value.where) == ("another-vendors-file", name)
    assert repr(kind) in caught.value.hint


def test_a_whole_delivery_of_1_4_is_one_path(tmp_path: Path) -> None:
    """The bill, which of its periods are closed, and its invoices, which add up to it."""
    base = samples.needed() / TOOLKIT
    for dataset in ("billing_period", "cost_and_usage", "invoice_detail"):
        making.put(tmp_path / f"all/{dataset}.csv", (base / f"synthetic_focus_1_4_{dataset}.csv").read_bytes())
    bill = making.read("focus", tmp_path, path="all")
    invoices = making.read("invoices", tmp_path, path="all")
    rows = samples.rows_of(base / "synthetic_focus_1_4_cost_and_usage.csv")
    assert making.total(bill, "BilledCost") == samples.total(rows, "BilledCost")
    assert {line["status"] for line in making.lines(bill)} == {"final"}
    assert [problem.code for found in bill for problem in found.problems] == ["another-dataset"]
    assert [scope.role for found in invoices for scope in found.scopes] == ["reference"]
    assert by_invoice(making.lines(bill)) == by_invoice(making.lines(invoices))


def by_invoice(lines: list[dict[str, object]]) -> dict[str, Decimal]:
    found: dict[str, Decimal] = defaultdict(Decimal)
    for line in lines:
        found[str(line["InvoiceId"])] += Decimal(str(line["BilledCost"]))
    return dict(found)
