"""Invoices are references: read exactly, compared with, never posted."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.cli.main import main
from apportion.errors import InputError
from tests.sources import making

OWN = {
    "issuer": "Nimbus", "invoice": "INV-7", "billing_start": "2026-10-01", "billing_end": "2026-11-01", "currency": "USD", "amount": "1234.56",
}  # fmt: skip


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    making.put(
        tmp_path / "i.csv", making.csv_text([OWN, {**OWN, "invoice": "INV-8", "amount": "-0.000000000000000001"}])
    )
    (delivery,) = making.read("invoices", tmp_path, path="i.csv")
    assert making.codes(delivery) == []
    assert making.total([delivery], "BilledCost") == Decimal("1234.559999999999999999")
    assert [scope.role for scope in delivery.scopes] == ["reference"]


@pytest.mark.parametrize("column", OWN)
def test_what_it_lacks_is_named(column: str, tmp_path: Path) -> None:
    making.put(tmp_path / "i.csv", making.csv_text([{name: value for name, value in OWN.items() if name != column}]))
    with pytest.raises(InputError) as caught:
        making.read("invoices", tmp_path, path="i.csv")
    assert (caught.value.code, column in caught.value.message) == ("missing-columns", True)


def test_a_bill_is_no_invoice(tmp_path: Path) -> None:
    making.put(tmp_path / "i.csv", making.bill_text({}))
    with pytest.raises(InputError) as caught:
        making.read("invoices", tmp_path, path="i.csv")
    assert (caught.value.code, "'focus'" in caught.value.hint) == ("another-vendors-file", True)


def test_they_stand_beside_the_bill_and_are_not_posted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    making.put(tmp_path / "bill.csv", making.bill_text({"InvoiceId": "INV-7"}))
    making.put(tmp_path / "i.csv", making.csv_text([{**OWN, "amount": "10.00"}]))
    stanzas = (
        f'[[sources]]\nname = "{kind}"\nkind = "{kind}"\npath = "{path}"\n'
        for kind, path in (("focus", "bill.csv"), ("invoices", "i.csv"))
    )
    making.put(tmp_path / "apportion.toml", "\n".join(['[project]\nname = "two"\n', *stanzas]))
    policy = "policy: two\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\nteams: {a: {}}\nowners: []\n"
    making.put(
        tmp_path / "policy.yaml", policy + "pools: {rest: {costs: otherwise, method: fixed, shares: {a: 100}}}\n"
    )
    project = apportion.open_project(tmp_path)
    apportion.ingest(project)
    assert sum(row["BilledCost"] for row in project.books.scan("cost_lines").to_pylist()) == 20
    assert project.books.reference_sources() == ["invoices"]
    planned = apportion.plan(project, "2026-10")
    assert sum(row["amount"] for row in planned.plan.postings.to_pylist()) == 10
    apportion.apply(project, "2026-10")
    with pytest.raises(SystemExit):
        main(
            ["--project", str(tmp_path), "report", "reconcile", "--period", "2026-10", "--by", "invoice", "-o", "json"]
        )
    ((found,),) = (one["rows"] for one in json.loads(capsys.readouterr().out)["references"])
    assert (found["key"], found["cost"], found["vendor"], found["difference"]) == ("INV-7", "billed", "10", "0")
