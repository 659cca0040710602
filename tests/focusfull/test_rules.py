"""Versions, columns that are missing, files that changed on the way."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apportion.errors import InputError, ProjectError
from apportion.sources.focus.columns import COLUMNS, columns_of, contradiction, version_of
from tests.focusfull import samples
from tests.sources import making


def without(*names: str, **more: str) -> dict[str, str]:
    return {**{name: value for name, value in making.LINE.items() if name not in names}, **more}


def refused(base: Path, text: str, **settings: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        making.read_bill(base, text, **settings)
    return caught.value


def noted(base: Path, *rows: dict[str, str], **settings: Any) -> list[tuple[str, str]]:
    (delivery,) = making.read_bill(base, making.csv_text(rows), **settings)
    return [(problem.code, problem.message) for problem in delivery.problems]


def test_the_columns_of_1_4_are_those_of_the_specifications_model() -> None:
    model = json.loads((samples.needed() / "focus/focus_1_4_model.json").read_text(encoding="utf-8"))
    kinds = {"Decimal": "decimal", "String": "text", "Date/Time": "time", "JSON": "json"}
    expected = {
        name: (
            kinds[column["data_type"]],
            max(column["version"], "1.0"),
            column["feature_level"].lower(),
            column["allows_nulls"],
        )
        for name, column in model["datasets"]["Cost and Usage"]["columns"].items()
    }
    assert {one.name: (one.kind, one.since, one.level, one.empty) for one in columns_of("1.4")} == expected
    assert len(expected) == 65


def test_each_version_has_what_it_had() -> None:
    assert [len(columns_of(version)) for version in ("1.0", "1.1", "1.2", "1.3", "1.4")] == [43, 50, 57, 65, 65]
    assert {one.name for one in columns_of("1.3")} - {one.name for one in columns_of("1.4")} == {
        "ProviderName",
        "PublisherName",
    }
    for column in COLUMNS.values():
        assert version_of([column.name]) == column.since


@pytest.mark.parametrize(
    ("stated", "names", "word"),
    [
        ("1.0", ["InvoiceId"], "which came with 1.2"),
        ("1.3", ["HostProviderName"], "lacks ServiceProviderName"),
        ("1.2", ["ProviderName", "InvoiceId"], ""),
        ("1.4", ["ServiceProviderName", "HostProviderName", "ProviderName"], ""),
    ],
)
def test_a_version_that_the_columns_deny(stated: str, names: list[str], word: str) -> None:
    assert (word in contradiction(stated, names)) if word else contradiction(stated, names) == ""


def test_metadata_beside_the_data_states_the_version(tmp_path: Path) -> None:
    making.put(tmp_path / "b/data/bill.csv", making.csv_text([without("ServiceProviderName", ProviderName="Nimbus")]))
    making.put(tmp_path / "b/metadata.json", json.dumps({"Schema": {"FocusVersion": "1.2-preview"}}))
    (delivery,) = making.read("focus", tmp_path, path="b")
    assert making.codes(delivery) == []
    making.put(tmp_path / "b/metadata.json", json.dumps({"FocusVersion": "1.4"}))
    (delivery,) = making.read("focus", tmp_path, path="b")
    (problem,) = delivery.problems
    assert problem.code == "version-differs"
    assert "is said to be FOCUS 1.4, but it lacks HostProviderName" in problem.message


def test_the_stanza_states_the_version(tmp_path: Path) -> None:
    found = noted(tmp_path, without(InvoiceId="7"), version="1.1")
    assert [code for code, _ in found] == ["version-differs"]
    with pytest.raises(ProjectError, match=r"version cannot be '1\.9'"):
        making.read_bill(tmp_path, making.bill_text({}), version="1.9")


@pytest.mark.parametrize("older", ["ProviderName", "provider", "PublisherName", "x_None"])
def test_the_provider_by_its_older_names(older: str, tmp_path: Path) -> None:
    row = without("ServiceProviderName", **{older: "Seller"})
    (delivery,) = making.read_bill(tmp_path, making.csv_text([row]))
    assert making.codes(delivery) == []
    (line,) = making.lines([delivery])
    assert line["ServiceProviderName"] == ("Nimbus" if older == "x_None" else "Seller")


@pytest.mark.parametrize(
    ("ahead", "why"),
    [
        ({"CommitmentDiscountId": "sp-1"}, "a commitment's"),
        ({"CommitmentDiscountStatus": "Used"}, "a commitment's"),
        ({"ChargeCategory": "Purchase"}, "a purchase"),
    ],
)
def test_billed_cost_never_stands_for_what_was_paid_ahead(ahead: dict[str, str], why: str, tmp_path: Path) -> None:
    plain = without("EffectiveCost")
    assert [code for code, _ in noted(tmp_path, plain)] == ["derived-column"]
    found = refused(tmp_path, making.csv_text([plain, {**plain, **ahead}]))
    assert (found.code, found.where) == ("missing-columns", "bill.csv:3")
    assert why in found.message


@pytest.mark.parametrize("name", ["BilledCost", "ContractedCost", "ListCost", "ServiceCategory"])
def test_what_stays_empty_is_said(name: str, tmp_path: Path) -> None:
    assert noted(tmp_path, without(name)) == [("column-not-given", f"there is no column {name}: it stays empty")]


@pytest.mark.parametrize(
    "name", ["BillingCurrency", "BillingAccountId", "ChargeCategory", "ServiceName", "ChargePeriodEnd"]
)
def test_what_nothing_can_stand_for_is_refused(name: str, tmp_path: Path) -> None:
    found = refused(tmp_path, making.csv_text([without(name)]))
    assert (found.code, name in found.message) == ("missing-columns", True)


def test_parts_of_one_bill_have_the_same_columns(tmp_path: Path) -> None:
    making.put(tmp_path / "b/1.csv", making.csv_text([without(InvoiceId="7")]))
    changed = {name.replace("InvoiceId", "Invoice"): value for name, value in without(InvoiceId="8").items()}
    making.put(tmp_path / "b/2.csv", making.csv_text([changed]))
    with pytest.raises(InputError) as caught:
        making.read("focus", tmp_path, path="b")
    assert (caught.value.code, caught.value.where) == ("changed-columns", "b/1.csv and b/2.csv")
    assert "b/2.csv has no column InvoiceId, b/1.csv has it" in caught.value.message


@pytest.mark.parametrize(
    "other",
    [
        {"BillingPeriodStart": "2026-11-01T00:00:00Z", "BillingPeriodEnd": "2026-12-01T00:00:00Z"},
        {"InvoiceIssuerName": "Cumulus"},
        {"BillingAccountId": "77"},
    ],
)
def test_bills_of_other_months_and_vendors_may_have_others(other: dict[str, str], tmp_path: Path) -> None:
    making.put(tmp_path / "b/1.csv", making.csv_text([without(InvoiceId="7")]))
    making.put(tmp_path / "b/2.csv", making.csv_text([without(**other)]))
    assert making.total(making.read("focus", tmp_path, path="b")) == 20


def test_csv_gzip_and_parquet_may_be_parts_of_one_bill(tmp_path: Path) -> None:
    making.put(tmp_path / "b/1.csv", making.csv_text([without()]))
    row = {**without(), "Tags": [("team", "vision")]}
    schema = pa.schema([(name, pa.map_(pa.string(), pa.string()) if name == "Tags" else pa.string()) for name in row])
    pq.write_table(pa.Table.from_pylist([row], schema=schema), tmp_path / "b/2.parquet")
    first, second = making.lines(making.read("focus", tmp_path, path="b"))
    assert first["Tags"] == second["Tags"] == [("team", "vision")]
