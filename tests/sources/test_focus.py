"""FOCUS bills: every line once, exact, in its billing period, with an id that does not depend on files."""

import gzip
import random
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apportion.errors import InputError
from apportion.model.rows import COST_LINES
from apportion.model.times import Interval, Period, parse_instant, zone_named
from apportion.sources.bills.components import component_of
from apportion.sources.files.paths import InputFile
from apportion.sources.focus.rules import layout
from tests.sources import making

OCTOBER = {"BillingPeriodStart": "2026-10-01T00:00:00Z", "BillingPeriodEnd": "2026-11-01T00:00:00Z"}
NOVEMBER = {"BillingPeriodStart": "2026-11-01T00:00:00Z", "BillingPeriodEnd": "2026-12-01T00:00:00Z"}
FILE = InputFile("x.csv", Path("x.csv"), "csv")


def ids(deliveries: Any) -> list[str]:
    return sorted(row["line_id"] for row in making.lines(deliveries))


def refusal(base: Path, text: str | bytes, name: str = "bill.csv", **settings: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        making.read_bill(base, text, name, **settings)
    return caught.value


def test_a_delivery_has_the_models_schema(tmp_path: Path) -> None:
    (delivery,) = making.read_bill(tmp_path, making.bill_text({}))
    table = delivery.tables["cost_lines"]
    assert table.schema.equals(COST_LINES)
    table.validate(full=True)
    assert not any(table[field.name].null_count for field in COST_LINES if not field.nullable)


def test_ids_depend_neither_on_order_nor_on_files_nor_on_format(tmp_path: Path) -> None:
    changes = [{"EffectiveCost": f"{number}.50", "ResourceId": f"n{number}"} for number in range(20)] + [{}] * 3
    whole = ids(making.read_bill(tmp_path / "whole", making.bill_text(*changes)))
    assert len(set(whole)) == 23, "three equal lines are three lines"
    random.Random(1).shuffle(changes)
    making.put(tmp_path / "split/bills/a.csv", making.bill_text(*changes[:7]))
    making.put(tmp_path / "split/bills/b.csv.gz", gzip.compress(making.bill_text(*changes[7:20]).encode()))
    rows = [{**making.LINE, **change, "x_Extra": "7"} for change in changes[20:]]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "split/bills/c.parquet")
    assert ids(making.read("focus", tmp_path / "split", path="bills")) == whole


def test_ids_differ_by_source_and_by_content(tmp_path: Path) -> None:
    text = making.bill_text({})
    (here,) = ids(making.read_bill(tmp_path, text))
    (there,) = ids(making.read_bill(tmp_path, text, name="other.csv"))
    (changed,) = ids(making.read_bill(tmp_path, making.bill_text({"Tags": '{"team":"speech"}'})))
    making.put(tmp_path / "b.csv", text)
    (named,) = ids(making.read("focus", tmp_path, path="b.csv", name="else"))
    assert here == there
    assert len({here, changed, named}) == 3


def test_one_delivery_for_each_billing_period(tmp_path: Path) -> None:
    text = making.bill_text(OCTOBER, NOVEMBER, {**OCTOBER, "EffectiveCost": "3"})
    october, november = making.read_bill(tmp_path, text)
    assert october.window == Interval(parse_instant("2026-10-01T00:00:00Z"), parse_instant("2026-11-01T00:00:00Z"))
    assert [making.total([one]) for one in (october, november)] == [13, 10]
    assert [scope.billing for scope in november.scopes] == [(november.window,)]
    assert october.files == november.files
    assert (october.files[0].rows, october.files[0].control) == (3, "23")


def test_the_period_asked_for_is_found_in_any_time_zone(tmp_path: Path) -> None:
    making.put(tmp_path / "bill.csv", making.bill_text(OCTOBER, NOVEMBER))
    for name in ("UTC", "America/Los_Angeles", "Pacific/Kiritimati"):
        window = Period(2026, 10).interval(zone_named(name))
        (delivery,) = making.read("focus", tmp_path, window, path="bill.csv")
        assert delivery.window.start_s == parse_instant("2026-10-01T00:00:00Z")
    assert making.read("focus", tmp_path, Period(2027, 1).interval(zone_named("UTC")), path="bill.csv") == []


def test_billing_periods_that_overlap_are_one_delivery(tmp_path: Path) -> None:
    """Else a later delivery of the longer one would remove the lines of the shorter one."""
    late = {"BillingPeriodStart": "2026-10-15T00:00:00Z", "BillingPeriodEnd": "2026-11-01T00:00:00Z"}
    (delivery,) = making.read_bill(tmp_path, making.bill_text(OCTOBER, late))
    assert making.total([delivery]) == 20
    assert [len(scope.billing) for scope in delivery.scopes] == [2]


def test_scopes_name_issuers_accounts_and_role(tmp_path: Path) -> None:
    text = making.bill_text({}, {"BillingAccountId": "0043"}, {"InvoiceIssuerName": "Other"})
    (delivery,) = making.read_bill(tmp_path, text, role="reference")
    assert [(one.issuer, one.accounts, one.services, one.role) for one in delivery.scopes] == [
        ("Nimbus", ("0042", "0043"), (), "reference"),
        ("Other", ("0042",), (), "reference"),
    ]


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("NaN", "invalid-number"),
        ("inf", "invalid-number"),
        ("-Infinity", "invalid-number"),
        ("1_000", "invalid-number"),
        ("1,5", "invalid-number"),
        ("$10", "invalid-number"),
        ("=1+1", "invalid-number"),
        ("9" * 5000, "invalid-number"),
        ("1e30000000", "invalid-number"),
        ("١٢", "invalid-number"),
        ("100000000000000000000", "too-many-digits"),
        ("1e21", "too-many-digits"),
    ],
)
@pytest.mark.parametrize("column", ["BilledCost", "EffectiveCost", "ContractedCost", "ListCost"])
def test_an_amount_that_cannot_be_read_refuses_the_file(cell: str, code: str, column: str, tmp_path: Path) -> None:
    found = refusal(tmp_path, making.bill_text({}, {}, {column: cell}, {}))
    assert (found.code, found.where) == (code, "bill.csv:4")
    assert column in found.message


def test_money_with_a_fault_elsewhere_is_kept_and_seen(tmp_path: Path) -> None:
    faults = [
        {"BillingPeriodStart": "?"},
        {"ChargePeriodEnd": "2026-10-04T00:00:00Z"},
        {"ChargeCategory": ""},
        {"BillingCurrency": "BTC"},
        {"InvoiceIssuerName": ""},
        {"Tags": "a=b"},
    ]
    (delivery,) = making.read_bill(tmp_path, making.bill_text({}, *faults))
    assert making.total([delivery]) == 70
    marked = [row for row in making.lines([delivery]) if row["problem"]]
    assert len(marked) == len(faults)
    for problem in delivery.problems:
        assert problem.money == "10"
        assert problem.row in {row["line_id"] for row in marked}
    assert sorted(row["problem"] for row in marked) == making.codes(delivery)


def test_many_faults_are_counted_and_the_first_thousand_listed(tmp_path: Path) -> None:
    (delivery,) = making.read_bill(tmp_path, making.bill_text(*[{"ChargeCategory": "?"}] * 1500))
    assert len(delivery.problems) == 1001
    assert delivery.problems[-1].row == "+500"
    assert sum(Decimal(problem.money) for problem in delivery.problems) == 15_000


def test_a_currency_to_insist_on(tmp_path: Path) -> None:
    making.read_bill(tmp_path, making.bill_text({}), currency="USD")
    found = refusal(tmp_path, making.bill_text({}, {"BillingCurrency": "EUR"}), currency="USD")
    assert (found.code, found.where) == ("wrong-currency", "bill.csv:3")


def test_the_same_contents_twice_are_refused(tmp_path: Path) -> None:
    text = making.bill_text({})
    making.put(tmp_path / "b/one.csv", text)
    making.put(tmp_path / "b/two.csv.gz", gzip.compress(text.encode()))
    with pytest.raises(InputError) as caught:
        making.read("focus", tmp_path, path="b")
    assert caught.value.code == "same-file-twice"


def test_missing_columns_are_named_with_their_likeness(tmp_path: Path) -> None:
    text = making.csv_text([{name: value for name, value in making.LINE.items() if name != "BillingCurrency"}])
    found = refusal(tmp_path, text.replace("ChargeCategory", "ChargeCategry"))
    assert found.code == "missing-columns"
    assert "BillingCurrency" in found.message
    assert "ChargeCategory (is it ChargeCategry?)" in found.message


def test_without_effective_cost_the_billed_cost_is_taken_and_said(tmp_path: Path) -> None:
    text = making.csv_text([{name: value for name, value in making.LINE.items() if name != "EffectiveCost"}])
    (delivery,) = making.read_bill(tmp_path, text)
    assert making.total([delivery]) == 10
    assert making.codes(delivery) == ["derived-column"]
    assert [row["problem"] for row in making.lines([delivery])] == [None]


@pytest.mark.parametrize(
    ("more", "version"),
    [
        (["ProviderName"], "1.0"),
        (["ProviderName", "SkuMeter"], "1.1"),
        (["ProviderName", "InvoiceId"], "1.2"),
        (["ServiceProviderName"], "1.3"),
        (["ServiceProviderName", "InvoiceDetailId"], "1.4"),
    ],
)
def test_the_version_follows_from_the_columns(more: list[str], version: str) -> None:
    known = [name for name in making.LINE if name != "ServiceProviderName"]
    found = layout([*known, *more, "x_One", "Two"], FILE)
    assert (found.version, found.columns["ServiceProviderName"]) == (version, more[0])
    assert found.extra == 2


def test_parquet_types(tmp_path: Path) -> None:
    row = {
        **making.LINE,
        "BilledCost": Decimal("10.5"),
        "EffectiveCost": 0.1 + 0.2,
        "ListCost": 7,
        "BillingAccountId": 42,
    }
    row |= {"Tags": [("team", "vision")], "ContractedCost": None}
    table = pa.Table.from_pylist([row], schema=pa.schema([
        *((name, pa.string()) for name in row if isinstance(row[name], str)),
        ("BilledCost", pa.decimal128(20, 4)), ("EffectiveCost", pa.float64()), ("ListCost", pa.int32()), ("ContractedCost", pa.null()),
        ("BillingAccountId", pa.int64()), ("Tags", pa.map_(pa.string(), pa.string())),
    ]))  # fmt: skip
    for name in ("ChargePeriodStart", "ChargePeriodEnd"):
        times = pa.array([making.LINE[name].removesuffix("Z")]).cast(pa.timestamp("us"))
        table = table.set_column(table.column_names.index(name), name, times)
    pq.write_table(table, tmp_path / "bill.parquet")
    (delivery,) = making.read("focus", tmp_path, path="bill.parquet")
    (line,) = making.lines([delivery])
    assert (line["BilledCost"], line["ListCost"], line["ContractedCost"]) == (Decimal("10.5"), 7, None)
    assert line["EffectiveCost"] == Decimal("0.30000000000000004")
    assert (line["BillingAccountId"], line["Tags"]) == ("42", [("team", "vision")])
    assert line["charge_start_s"] == parse_instant("2026-10-05T00:00:00Z")
    assert delivery.problems == ()


@pytest.mark.parametrize("kind", [pa.large_string(), pa.string_view(), pa.binary()])
def test_text_is_text_however_parquet_holds_it(kind: pa.DataType, tmp_path: Path) -> None:
    table = pa.Table.from_pylist([{**making.LINE, "ResourceName": "é"}])
    pq.write_table(table.cast(pa.schema([(name, kind) for name in table.column_names])), tmp_path / "bill.parquet")
    (found,) = making.lines(making.read("focus", tmp_path, path="bill.parquet"))
    (wanted,) = making.lines(making.read_bill(tmp_path, making.bill_text({"ResourceName": "é"})))
    assert found == wanted


def test_a_last_line_without_end_is_said(tmp_path: Path) -> None:
    (delivery,) = making.read_bill(tmp_path, making.bill_text({}).rstrip())
    assert making.codes(delivery) == ["no-last-newline"]
    assert making.total([delivery]) == 10
    (packed,) = making.read_bill(tmp_path, gzip.compress(making.bill_text({}).rstrip().encode()), "bill.csv.gz")
    assert packed.problems == ()


def test_binary_amounts_beyond_18_places_are_cut_down_and_said(tmp_path: Path) -> None:
    table = pa.Table.from_pylist([{**making.LINE, "EffectiveCost": 1.2345678901234567e-7}])
    pq.write_table(table, tmp_path / "bill.parquet")
    (delivery,) = making.read("focus", tmp_path, path="bill.parquet")
    assert making.total([delivery]) == Decimal("0.000000123456789012")
    assert making.codes(delivery) == ["rounded-money"]


@pytest.mark.parametrize(
    ("words", "component"),
    [
        (("Compute", "Virtual Machines", "EC2", "BoxUsage", ""), "compute"),
        (("AI and Machine Learning", "", "SageMaker", "", ""), "compute"),
        (("Storage", "", "S3", "", ""), "storage"),
        (("Networking", "", "VPC", "", ""), "network"),
        (("Compute", "", "Windows Server", "Licence hours", ""), "licence"),
        (("Other", "Business software", "Anything", "", ""), "licence"),
        (("Business Applications", "", "Power BI", "", ""), "other"),
        (("Other", "", "Electricity hall 3", "", ""), "energy"),
        (("Other", "", "Colocation", "kWh", ""), "energy"),
        (("Management and Governance", "Observability", "Monitoring", "", ""), "support"),
        (("Other", "", "AWS Support (Business)", "", ""), "support"),
        (("", "", "", "", ""), "other"),
    ],
)
def test_components(words: tuple[str, str, str, str, str], component: str) -> None:
    assert component_of(*words) == component
