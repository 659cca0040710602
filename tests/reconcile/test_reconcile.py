"""`report reconcile`: vendor, read and posted, per bill, invoice, service and day; nothing differs without a reason."""

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import apportion
from apportion.reports.report import Report
from apportion.verbs.project import Project
from apportion.verbs.reconcile import reconciled
from tests.sources import making

SETTINGS = """\
[[sources]]
name = "cloud"
kind = "focus"
path = "bill.csv"

[[sources]]
name = "invoice"
kind = "focus"
path = "invoice.csv"
role = "reference"
"""
POLICY = """\
policy: small
effective: 2026-10-01
currency: USD
time_zone: UTC
teams: {vision: {}, speech: {}}
owners:
  - {when: {tag.team: "*"}, team: "{tag.team}"}
pools:
  all: {costs: otherwise, method: direct}
"""
COMMITMENT = {"CommitmentDiscountId": "sp-1", "CommitmentDiscountType": "Savings Plan"}
LINES: tuple[Mapping[str, str], ...] = (
    {"BilledCost": "100.10", "EffectiveCost": "100.10", "InvoiceId": "I-1"},
    {"BilledCost": "0", "EffectiveCost": "30.000000000000000001", "InvoiceId": "I-1", "CommitmentDiscountStatus": "Used", **COMMITMENT},
    {"BilledCost": "0", "EffectiveCost": "10", "InvoiceId": "I-1", "CommitmentDiscountStatus": "Unused", **COMMITMENT},
    {"BilledCost": "480", "EffectiveCost": "0", "ChargeCategory": "Purchase", "InvoiceId": "I-2", **COMMITMENT},
    {"BilledCost": "7", "EffectiveCost": "7", "ServiceName": "Disks", "ServiceCategory": "Storage", "ChargePeriodStart": "2026-10-09T00:00:00Z",
     "ChargePeriodEnd": "2026-10-10T00:00:00Z", "InvoiceId": "I-1"},
    {"BilledCost": "21.42", "EffectiveCost": "21.42", "ChargeCategory": "Tax", "ServiceName": "Tax", "InvoiceId": "I-2"},
)  # fmt: skip
NOTHING = {"InvoiceId": "", "CommitmentDiscountId": "", "CommitmentDiscountType": "", "CommitmentDiscountStatus": ""}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "apportion.toml").write_text(SETTINGS, "utf-8")
    (tmp_path / "policy.yaml").write_text(POLICY, "utf-8")
    bill(tmp_path, LINES)
    (tmp_path / "invoice.csv").write_text(
        making.bill_text(
            *({**NOTHING, "BilledCost": amount, "EffectiveCost": "", "InvoiceId": name, "Tags": ""} for name, amount in INVOICES)
        ),
        "utf-8",
    )  # fmt: skip
    return apportion.open_project(tmp_path)


INVOICES = (("I-1", "107.10"), ("I-2", "501.42"))


def bill(folder: Path, lines: tuple[Mapping[str, str], ...]) -> None:
    (folder / "bill.csv").write_text(making.bill_text(*({**NOTHING, **line} for line in lines)), "utf-8")


def post(project: Project) -> None:
    apportion.ingest(project)
    apportion.plan(project, "2026-10")
    apportion.apply(project, "2026-10")


def rows(report: Report, name: str = "") -> list[dict[str, Any]]:
    found = report if not name else next(one for one in report.beside if one.name == name)
    return [
        dict(zip((column.name for column in found.columns), row, strict=True))
        for section in found.sections
        for row in section.rows
    ]


def test_a_posted_bill_agrees_everywhere(project: Project) -> None:
    post(project)
    report = reconciled(project, "2026-10")
    (row,) = rows(report)
    assert (row["lines"], row["read"], row["posted"], row["difference"], row["why"]) == (
        6, Decimal("168.520000000000000001"), Decimal("168.520000000000000001"), 0, None,
    )  # fmt: skip
    assert report.more["basis"] == "effective cost"
    (reference,) = rows(report, "references")
    assert (reference["cost"], reference["vendor"], reference["read"], reference["difference"]) == (
        "billed", Decimal("608.52"), Decimal("608.52"), 0,
    )  # fmt: skip
    (files,) = rows(report, "files")
    assert (files["lines"], files["kept"], files["difference"]) == (6, 6, 0)
    assert report.title == (
        "1 bill of 2026-10: all that was read is posted; 1 bill compared with references, no difference."
    )


def test_what_is_amortised_and_what_is_invoiced_are_bridged(project: Project) -> None:
    post(project)
    (bridge,) = rows(reconciled(project, "2026-10"), "bridge")
    assert {name: bridge[name] for name in ("billed", "prepaid", "used", "unused", "effective")} == {
        "billed": Decimal("608.52"), "prepaid": Decimal(-480), "used": Decimal("30.000000000000000001"), "unused": Decimal(10),
        "effective": Decimal("168.520000000000000001"),
    }  # fmt: skip
    assert bridge["other"] in (None, 0)


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("invoice", {"I-1": "147.100000000000000001", "I-2": "21.42"}),
        ("service", {"Disks": "7", "Tax": "21.42", "Virtual Machines": "140.100000000000000001"}),
        ("day", {"2026-10-05": "161.520000000000000001", "2026-10-09": "7"}),
    ],
)
def test_by_invoice_service_and_day(by: str, expected: dict[str, str], project: Project) -> None:
    post(project)
    report = reconciled(project, "2026-10", by)
    assert {row["key"]: row["read"] for row in rows(report)} == {key: Decimal(sum_) for key, sum_ in expected.items()}
    assert all(row["difference"] == 0 for row in rows(report))
    if by == "invoice":
        told = {row["key"]: (row["vendor"], row["difference"]) for row in rows(report, "references")}
        assert told == {name: (Decimal(amount), 0) for name, amount in INVOICES}


def test_before_anything_is_posted_it_says_so(project: Project) -> None:
    apportion.ingest(project)
    report = reconciled(project, "2026-10")
    (row,) = rows(report)
    assert row["posted"] is None
    assert row["why"] == "not posted yet: apportion plan --period 2026-10"
    assert report.title.startswith("1 bill of 2026-10: 1 bill not posted as read")


def test_a_restated_bill_is_listed_with_its_difference_until_it_is_posted(project: Project, tmp_path: Path) -> None:
    post(project)
    bill(tmp_path, (*LINES[:4], {**LINES[4], "EffectiveCost": "9.5", "BilledCost": "9.5"}, LINES[5]))
    apportion.ingest(project)
    report = reconciled(project, "2026-10")
    (row,) = rows(report)
    assert row["difference"] == Decimal("2.5")
    assert row["why"] is not None
    assert "delivered again" in row["why"]
    (changed,) = rows(report, "restated")
    assert (changed["service"], changed["before"], changed["after"], changed["change"]) == (
        "Disks", Decimal(7), Decimal("9.5"), Decimal("2.5"),
    )  # fmt: skip
    (reference,) = rows(report, "references")
    assert (reference["difference"], reference["why"]) == (Decimal("2.5"), "mostly I-1 +2.50")
    apportion.plan(project, "2026-10")
    apportion.apply(project, "2026-10")
    assert rows(reconciled(project, "2026-10"))[0]["difference"] == 0


def test_a_ledger_that_does_not_add_up_to_the_lines_is_told(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    post(project)
    believed = project.books.believed
    monkeypatch.setattr(project.books, "believed", lambda period: believed(period).slice(1))
    (row,) = rows(reconciled(project, "2026-10"))
    assert "run apportion verify" in row["why"]


def test_a_reference_that_speaks_of_no_bill_is_shown(project: Project, tmp_path: Path) -> None:
    (tmp_path / "invoice.csv").write_text(
        making.bill_text({"InvoiceIssuerName": "Other", "BillingAccountId": "9", "BilledCost": "5"}), "utf-8"
    )
    post(project)
    (row,) = rows(reconciled(project, "2026-10"), "references")
    assert (row["read"], row["why"]) == (None, "no bill that was read says anything of it")


def test_another_name_of_the_issuer_is_tied_by_account(project: Project, tmp_path: Path) -> None:
    (tmp_path / "invoice.csv").write_text(
        making.bill_text({"InvoiceIssuerName": "Nimbus Inc.", "BilledCost": "608.52", "EffectiveCost": ""}), "utf-8"
    )
    post(project)
    (row,) = rows(reconciled(project, "2026-10"), "references")
    assert (row["bill"], row["difference"]) == ("Nimbus 2026-10 USD", 0)
