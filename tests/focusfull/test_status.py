"""Estimated or final: what Billing Period files say, else what the invoice numbers tell, else nothing."""

from pathlib import Path

import pytest

from apportion.errors import InputError
from tests.sources import making

NOVEMBER = {"BillingPeriodStart": "2026-11-01T00:00:00Z", "BillingPeriodEnd": "2026-12-01T00:00:00Z"}
PERIOD = {
    "BillingPeriodCreated": "2026-10-01T00:00:00Z", "BillingPeriodEnd": "2026-11-01T00:00:00Z", "BillingPeriodLastUpdated": "2026-11-03T00:00:00Z",
    "BillingPeriodStart": "2026-10-01T00:00:00Z", "BillingPeriodStatus": "Closed", "InvoiceIssuerName": "Nimbus",
}  # fmt: skip


def statuses(base: Path, *rows: dict[str, str], path: str = "b") -> list[str | None]:
    making.put(base / "b/bill.csv", making.bill_text(*rows))
    return [line["status"] for line in making.lines(making.read("focus", base, path=path))]


def test_without_invoice_numbers_nobody_says(tmp_path: Path) -> None:
    assert statuses(tmp_path, {}, {}) == [None, None]


def test_a_bill_whose_payable_lines_are_all_invoiced_is_final(tmp_path: Path) -> None:
    used = {"BilledCost": "0", "InvoiceId": ""}  # paid by a commitment: nothing to invoice
    assert statuses(tmp_path, {"InvoiceId": "7"}, used) == ["final", "final"]
    assert statuses(tmp_path, {"InvoiceId": "7"}, {"InvoiceId": ""}) == ["estimated", "estimated"]
    assert statuses(tmp_path, {"InvoiceId": ""}, {"InvoiceId": "", "InvoiceIssuerName": "Cumulus"}) == ["estimated"] * 2


def test_each_issuer_and_period_has_its_own(tmp_path: Path) -> None:
    rows = {"InvoiceId": "7"}, {"InvoiceId": "", **NOVEMBER}, {"InvoiceId": "", "InvoiceIssuerName": "Cumulus"}
    assert statuses(tmp_path, *rows) == ["final", "estimated", "estimated"]


@pytest.mark.parametrize(("word", "status"), [("Closed", "final"), ("Open", "estimated")])
def test_billing_periods_overrule_invoice_numbers(word: str, status: str, tmp_path: Path) -> None:
    making.put(tmp_path / "b/periods.csv", making.csv_text([{**PERIOD, "BillingPeriodStatus": word}]))
    for invoice in ("", "7"):
        assert statuses(tmp_path, {"InvoiceId": invoice}, {**NOVEMBER, "InvoiceId": "7"}) == [status, "final"]
    assert statuses(tmp_path, {}, NOVEMBER) == [status, None]


def test_a_billing_period_that_says_neither_is_refused(tmp_path: Path) -> None:
    making.put(tmp_path / "b/periods.csv", making.csv_text([PERIOD, {**PERIOD, "BillingPeriodStatus": "Maybe"}]))
    with pytest.raises(InputError) as caught:
        statuses(tmp_path, {})
    assert (caught.value.code, caught.value.where) == ("invalid-billing-period", "b/periods.csv:3")


def test_a_line_that_becomes_final_keeps_its_id(tmp_path: Path) -> None:
    making.put(tmp_path / "b/bill.csv", making.bill_text({"InvoiceId": "7"}))
    ids = set()
    for word in ("Open", "Closed"):
        making.put(tmp_path / "b/periods.csv", making.csv_text([{**PERIOD, "BillingPeriodStatus": word}]))
        (line,) = making.lines(making.read("focus", tmp_path, path="b"))
        ids.add(line["line_id"])
    assert len(ids) == 1
