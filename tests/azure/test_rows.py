"""What single rows say: dates, units, tags, services and whose file it is."""

import csv
import gzip
import io
import re
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apportion.errors import InputError, ProjectError
from apportion.sources.azure.units import block_of
from tests.azure.month import WRITERS, charge
from tests.sources import making

UNITS = Path(__file__).parents[2] / ".." / "shared" / "data" / "bills" / "azure" / "ftk_PricingUnits.csv"
ROW = {
    "BillingAccountId": "42", "BillingPeriodStartDate": "10/01/2026", "BillingPeriodEndDate": "10/31/2026", "Date": "10/05/2026",
    "SubscriptionId": "ABC", "MeterCategory": "Virtual Machines", "Quantity": "24", "UnitOfMeasure": "1 Hour", "Cost": "2.64",
    "BillingCurrency": "USD", "ResourceId": "/subscriptions/ABC/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/Node-1",
    "ChargeType": "Usage", "PricingModel": "OnDemand", "Tags": "",
}  # fmt: skip


def read(base: Path, *changes: dict[str, str], **settings: Any) -> list[dict[str, Any]]:
    making.put(base / "bill.csv", making.csv_text({**ROW, **change} for change in changes))
    return making.lines(making.read("azure", base, path="bill.csv", **settings))


def refused(base: Path, *changes: dict[str, str], **settings: Any) -> InputError:
    with pytest.raises(InputError) as found:
        read(base, *changes, **settings)
    return found.value


def day_of(second: int) -> date:
    return datetime.fromtimestamp(second, UTC).date()


@pytest.mark.parametrize(
    "written", ["10/5/2026", "10/05/2026", "2026-10-05", "20261005", "2026-10-05T00:00:00Z", "10/05/2026 00:00:00", "10/5/2026 12:00:00 AM"]
)  # fmt: skip
def test_a_day_in_every_form(written: str, tmp_path: Path) -> None:
    (line,) = read(tmp_path, {"Date": written})
    assert (day_of(line["charge_start_s"]), day_of(line["charge_end_s"])) == (date(2026, 10, 5), date(2026, 10, 6))


def test_a_day_that_cannot_be_with_the_month_first(tmp_path: Path) -> None:
    european = {"BillingPeriodStartDate": "01/10/2026", "BillingPeriodEndDate": "31/10/2026", "Date": "05/10/2026"}
    error = refused(tmp_path, european)
    assert (error.code, error.where) == ("other-date-form", "bill.csv:2")
    assert 'date_form = "day_first"' in error.hint
    (line,) = read(tmp_path, european, date_form="day_first")
    assert day_of(line["charge_start_s"]) == date(2026, 10, 5)
    assert refused(tmp_path, {}, date_form="day_first").code == "other-date-form"


def test_a_day_that_is_none_keeps_its_money(tmp_path: Path) -> None:
    first, second = read(tmp_path, {"Date": "someday"}, {"Date": "2026-02-30"})
    assert (first["problem"], second["problem"]) == ("invalid-time", "invalid-time")
    assert first["BilledCost"] == Decimal("2.64")


@pytest.mark.parametrize(
    ("cells", "first", "after"),
    [
        ({}, date(2026, 10, 1), date(2026, 11, 1)),
        ({"BillingPeriodEndDate": "11/01/2026"}, date(2026, 10, 1), date(2026, 11, 1)),  # the day after it, already
        ({"BillingPeriodStartDate": "9/18/2026", "BillingPeriodEndDate": "10/17/2026"}, date(2026, 9, 18), date(2026, 10, 18)),
        ({"BillingPeriodEndDate": ""}, date(2026, 10, 1), date(2026, 11, 1)),
        ({"BillingPeriodStartDate": "", "BillingPeriodEndDate": ""}, date(2026, 10, 1), date(2026, 11, 1)),
    ],
)  # fmt: skip
def test_billing_periods_name_their_last_day(cells: dict[str, str], first: date, after: date, tmp_path: Path) -> None:
    (line,) = read(tmp_path, cells)
    assert (day_of(line["billing_start_s"]), day_of(line["billing_end_s"])) == (first, after)


@pytest.mark.parametrize(
    ("written", "tags"),
    [
        ('"team": "vision","env": "prod"', {"team": "vision", "env": "prod"}),
        ('{"team": "vision"}', {"team": "vision"}),
        ('"why": "a, \\"b\\": c"', {"why": 'a, "b": c'}),
        ('"empty": ""', {"empty": ""}),
        ("", {}),
        ("{}", {}),
    ],
)
def test_tags_with_and_without_braces(written: str, tags: dict[str, str], tmp_path: Path) -> None:
    (line,) = read(tmp_path, {"Tags": written})
    assert (dict(line["Tags"]), line["problem"]) == (tags, None)


def test_tags_that_are_none_keep_the_money_and_say_so(tmp_path: Path) -> None:
    (line,) = read(tmp_path, {"Tags": "team=vision", "ResourceGroup": "RG"})
    assert (line["problem"], dict(line["Tags"])) == ("invalid-tags", {"azure.resource_group": "RG"})


def test_what_azure_says_besides(tmp_path: Path) -> None:
    info = '{"ServiceType": "Standard_ND96", "VCPUs": 96, "VMName": "pool_3", "GPUs": 8}'
    (line,) = read(tmp_path, {"AdditionalInfo": info, "CostAllocationRuleName": "shared hub", "CostCenter": "4711"})
    assert line["SkuPriceDetails"] == '{"CoreCount": 96, "GpuCount": 8, "InstanceType": "Standard_ND96"}'
    assert dict(line["Tags"]) == {
        "azure.vm": "pool_3", "azure.cost_allocation_rule": "shared hub", "azure.cost_center": "4711",
    }  # fmt: skip
    assert (
        line["ResourceId"] == "/subscriptions/abc/resourcegroups/rg/providers/microsoft.compute/virtualmachines/node-1"
    )
    assert (line["ResourceName"], line["ResourceType"]) == ("Node-1", "microsoft.compute/virtualmachines")
    assert (line["ServiceCategory"], line["component"], line["SubAccountId"]) == ("Compute", "compute", "abc")


def test_services_by_category_then_by_family(tmp_path: Path) -> None:
    rows = [
        ("Storage", "Compute"),
        ("Brand New Thing", "Compute"),
        ("Brand New Thing", "Networking"),
        ("", "Databases"),
    ]
    lines = read(tmp_path, *({"MeterCategory": category, "ServiceFamily": family} for category, family in rows))
    assert [line["ServiceCategory"] for line in lines] == ["Storage", "Other", "Networking", "Databases"]
    assert [line["ServiceName"] for line in lines] == ["Storage", "Brand New Thing", "Brand New Thing", "Databases"]


def test_a_marketplace_seller_is_on_microsofts_invoice(tmp_path: Path) -> None:
    (line,) = read(tmp_path, {"PublisherType": "Marketplace", "PublisherName": "Red Hat"})
    assert (line["InvoiceIssuerName"], line["ServiceProviderName"]) == ("Microsoft", "Red Hat")


def test_prices_in_another_currency_are_not_prices_of_the_bill(tmp_path: Path) -> None:
    cells = {
        "BillingCurrency": "EUR",
        "pricingCurrency": "USD",
        "UnitPrice": "3",
        "PayGPrice": "4",
        "costInPricingCurrency": "2.9",
    }
    (line,) = read(tmp_path, {**cells, "paygCostInBillingCurrency": "3.5"})
    assert (line["ContractedUnitPrice"], line["PricingCurrencyContractedUnitPrice"]) == (None, 3)
    assert (line["ListUnitPrice"], line["PricingCurrencyListUnitPrice"], line["PricingCurrency"]) == (None, 4, "USD")
    assert (line["ListCost"], line["PricingCurrencyEffectiveCost"]) == (Decimal("3.5"), Decimal("2.9"))


def test_a_file_of_a_pay_as_you_go_subscription(tmp_path: Path) -> None:
    row = {
        "SubscriptionGuid": "S-1", "UsageDateTime": "2026-10-05T00:00:00", "MeterCategory": "Storage", "UsageQuantity": "2",
        "PreTaxCost": "0.5", "Currency": "EUR", "InstanceId": "/x/providers/a/b/c", "UnitOfMeasure": "10 GB",
    }  # fmt: skip
    making.put(tmp_path / "bill.csv", making.csv_text([row]))
    (delivery,) = making.read("azure", tmp_path, path="bill.csv")
    (line,) = making.lines([delivery])
    assert (line["BilledCost"], line["EffectiveCost"], line["BillingAccountId"]) == (
        Decimal("0.5"),
        Decimal("0.5"),
        "s-1",
    )
    assert (line["ConsumedQuantity"], line["ConsumedUnit"], line["PricingUnit"]) == (20, "GB", "10 GB")
    assert (line["ChargeCategory"], making.codes(delivery)) == ("Usage", ["column-not-given", "column-not-given"])


def test_blocks_of_units_are_those_of_microsofts_list() -> None:
    if not UNITS.exists():
        pytest.skip("no ../shared/data/bills beside this checkout")
    with UNITS.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) > 300
    plain = re.compile(
        r"[\d,]* ?[KMB]?\W?(?:|Units?|Hours?|Minutes?|Seconds?|Days?|Months?|[GMKTP]i?B)(?:/(?:Hour|Day|Month))?"
    )
    told = 0
    for row in rows:
        size, unit = block_of(row["UnitOfMeasure"])
        assert size == Decimal(row["PricingBlockSize"]), row
        if plain.fullmatch(row["UnitOfMeasure"]):
            told += 1
            assert unit == row["DistinctUnits"], row
    assert told > 150


@pytest.mark.parametrize(
    ("cost", "code"), [("1,5", "invalid-number"), ("", "missing-cost"), ("1e30", "too-many-digits"), ("=1+1", "invalid-number")]
)  # fmt: skip
def test_a_cost_that_cannot_be_read(cost: str, code: str, tmp_path: Path) -> None:
    if cost:
        error = refused(tmp_path, {}, {"Cost": cost})
        assert (error.code, error.where) == (code, "bill.csv:3")
    else:
        assert [line["problem"] for line in read(tmp_path, {}, {"Cost": cost})] == [None, code]


def test_costs_with_more_than_18_places_keep_their_sum(tmp_path: Path) -> None:
    costs = ["0.0000000000000000004", "0.0000000000000000004", "0.00000000000000000049", "-0.0000000000000000013", "1"]
    lines = read(tmp_path, *({"Cost": cost, "Quantity": str(number)} for number, cost in enumerate(costs)))
    exact = sum(map(Decimal, costs), Decimal(0))
    assert sum(line["BilledCost"] for line in lines) == exact.quantize(Decimal("1e-18"))
    for line, cost in zip(lines, costs, strict=True):
        assert abs(line["BilledCost"] - Decimal(cost)) < Decimal("1e-18")


@pytest.mark.parametrize(
    ("header", "code", "words"),
    [
        ("BilledCost,BillingCurrency,ChargeCategory,ChargePeriodStart", "another-vendors-file", "kind = 'focus'"),
        ("lineItem/UsageAccountId,lineItem/UnblendedCost", "another-vendors-file", "kind = 'aws'"),
        ("Date,Cost,BillingCurrency,Meter Catégory", "missing-columns", ""),
    ],
)
def test_somebody_elses_file_is_refused(header: str, code: str, words: str, tmp_path: Path) -> None:
    making.put(tmp_path / "bill.csv", f"{header}\n{',' * header.count(',')}\n")
    with pytest.raises(InputError) as found:
        making.read("azure", tmp_path, path="bill.csv")
    assert found.value.code == code
    assert words in found.value.hint


def test_gzip_and_parquet_are_the_same_lines(tmp_path: Path) -> None:
    text = WRITERS["MCA, YYYY-MM-DD"].text(
        [charge(date(2026, 10, day), {"quantity": "1"}, Decimal(day), Decimal(day), tags={"a": "b"}) for day in (1, 2)], "actual"
    )  # fmt: skip
    rows = [{name: value or None for name, value in row.items()} for row in csv.DictReader(io.StringIO(text))]
    for row in rows:
        row["costInBillingCurrency"] = Decimal(row["costInBillingCurrency"] or 0)
        row["date"] = datetime.fromisoformat(str(row["date"]))
    making.put(tmp_path / "a" / "bill.csv", text)
    making.put(tmp_path / "b" / "bill.csv.gz", gzip.compress(text.encode()))
    (tmp_path / "c").mkdir()
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "c" / "bill.parquet")
    ids = [{line["line_id"] for line in making.lines(making.read("azure", tmp_path, path=name))} for name in "abc"]
    assert ids[0] == ids[1] == ids[2]
    assert len(ids[0]) == 2


def test_settings_that_do_not_go_together(tmp_path: Path) -> None:
    with pytest.raises(ProjectError) as found:
        read(tmp_path, {}, amortised="bill.csv", dataset="actual")
    assert found.value.code == "invalid-setting"
