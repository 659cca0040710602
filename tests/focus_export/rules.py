"""The rules of a FOCUS split, checked from the files' own text with csv and Decimal alone: those that the official validator skips among them.

Each rule yields a sentence for what breaks it. Nothing of the program under test is imported.
"""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Context, Decimal, InvalidOperation, setcontext
from pathlib import Path

Row = dict[str, str]
SUMMABLE = (
    "BilledCost",
    "EffectiveCost",
    "ContractedCost",
    "ListCost",
    "ConsumedQuantity",
    "PricingQuantity",
    "PricingCurrencyEffectiveCost",
)
PRICES = ("ListUnitPrice", "ContractedUnitPrice", "PricingCurrencyListUnitPrice", "PricingCurrencyContractedUnitPrice")
PLACES = {
    **dict.fromkeys(("BilledCost", "ContractedCost", "ListCost"), 12),
    **dict.fromkeys(("ConsumedQuantity", "PricingQuantity"), 15),
    "EffectiveCost": 18,
}
ALLOCATED = (
    "AllocatedMethodId",
    "AllocatedMethodDetails",
    "AllocatedResourceId",
    "AllocatedResourceName",
    "AllocatedTags",
)
OF_ROWS = {
    *SUMMABLE,
    *ALLOCATED,
    "x_CostCentreName",
    "x_DepartmentName",
    "x_TeamName",
    "x_ProjectName",
    "x_UserName",
    "x_Reason",
    "x_Cause",
}  # else as the origin
PER_LINE = {"x_PoolName"}  # a vendor's line may be shared by several pools
NOT_NULL = (
    "BilledCost", "BillingAccountId", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart", "ChargeCategory", "ChargePeriodEnd",
    "ChargePeriodStart", "ContractedCost", "EffectiveCost", "InvoiceIssuerName", "ListCost", "ServiceCategory", "ServiceName",
    "ServiceProviderName", "ChargeFrequency", "x_OriginChargeId",
)  # fmt: skip
CATEGORIES = ("Usage", "Purchase", "Tax", "Credit", "Adjustment")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
SYSTEM = ("_idle", "_unallocated", "_residual", "")
KEY = "x_OriginChargeId"
setcontext(Context(prec=80))


@dataclass
class Export:
    """The rows, what they are split from, the billing period, and what the ledger holds by bill, pool, component and day."""

    rows: list[Row]
    origins: list[Row]
    periods: list[Row]
    ledger: Mapping[tuple[str, ...], Decimal]
    money: tuple[str, ...] = ("USD", "EUR")
    groups: dict[str, list[Row]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            found[row[KEY]].append(row)
        self.groups = dict(found)


def read(folder: Path, ledger: Mapping[tuple[str, ...], Decimal]) -> Export:
    rows, origins, periods = (
        table(folder / f"{name}.csv") for name in ("cost_and_usage", "origin_charges", "billing_period")
    )
    return Export(rows, origins, periods, ledger)


def table(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def number(text: str) -> Decimal | None:
    try:
        return Decimal(text) if text else None
    except InvalidOperation:
        return Decimal("NaN")


def total(rows: list[Row], column: str) -> Decimal | None:
    said = [amount for row in rows if (amount := number(row[column])) is not None]
    return sum(said, Decimal(0)) if said else None


def sums_to_origin(export: Export) -> Iterator[str]:
    for origin in export.origins:
        for column in SUMMABLE:
            if total(export.groups.get(origin[KEY], []), column) != number(origin[column]):
                yield f"{column} of {origin[KEY]}"


def every_row_has_an_origin(export: Export) -> Iterator[str]:
    known = [origin[KEY] for origin in export.origins]
    yield from (f"origin {key} twice" for key in {one for one in known if known.count(one) > 1})
    yield from (f"no origin {key}" for key in set(export.groups) - set(known))


def says_what_its_origin_says(export: Export) -> Iterator[str]:
    for origin in export.origins:
        shared = [
            name for name in origin if name not in OF_ROWS and not (origin.get("x_SourceLineId") and name in PER_LINE)
        ]
        for row in export.groups.get(origin[KEY], []):
            yield from (f"{name} of {origin[KEY]}" for name in shared if row[name] != origin[name])


def ratios(export: Export) -> Iterator[str]:
    for key, rows in export.groups.items():
        parts = []
        for row in rows:
            if row["AllocatedMethodDetails"]:
                parts.extend(ratios_of(row["AllocatedMethodDetails"]))
        whole = total(rows, "EffectiveCost") or Decimal(0)
        mixed = {(number(row["EffectiveCost"]) or 0) > 0 for row in rows if number(row["EffectiveCost"])} == {
            True,
            False,
        }
        if bool(parts) == mixed or (parts and len(parts) != len(rows)):
            yield f"ratios of {key} where there are none, or none where there are some"
        elif parts and sum(parts) != 1:
            yield f"ratios of {key} come to {sum(parts)}"
        elif any(not 0 <= part <= 1 for part in parts):
            yield f"a ratio of {key} is no part"
        elif any(
            abs(part * whole - (number(row["EffectiveCost"]) or 0)) > abs(whole) * Decimal("1e-14")
            for part, row in zip(parts, rows, strict=False)
        ):
            yield f"a ratio of {key} is not the part that its cost is"


def ratios_of(text: str) -> list[Decimal]:
    """As FOCUS's JSON schema has it; anything else is no number."""
    try:
        told = json.loads(text, parse_float=Decimal, parse_int=Decimal)
        elements = told.pop("Elements")
        if told or not elements or any(set(one) != {"AllocatedRatio"} for one in elements):
            return [Decimal(-1)]
        return [Decimal(one["AllocatedRatio"]) for one in elements]
    except (ValueError, KeyError, AttributeError, TypeError):
        return [Decimal(-1)]


def split_columns(export: Export) -> Iterator[str]:
    for row in export.rows:
        if not row["AllocatedMethodId"]:
            yield f"no method in {row[KEY]}"
        nobody = row["x_TeamName"] in SYSTEM
        if bool(row["AllocatedResourceId"]) == nobody:
            yield f"AllocatedResourceId of {row['x_TeamName']} in {row[KEY]}"
        if bool(row["AllocatedResourceId"]) != bool(row["AllocatedResourceName"]):
            yield f"AllocatedResourceName in {row[KEY]}"
    yield from (f"{name} of an origin" for origin in export.origins for name in ALLOCATED if origin[name])


def tags(export: Export) -> Iterator[str]:
    for row in export.rows:
        try:
            own, vendor = (json.loads(row[name] or "{}") for name in ("AllocatedTags", "Tags"))
            if set(own) & set(vendor) or not all(key.startswith("apportion:") for key in own):
                yield f"tags {sorted(own)} of {row[KEY]}"
            elif own.get("apportion:team", "") != (row["x_TeamName"] if row["AllocatedResourceId"] else ""):
                yield f"tags of {row['x_TeamName']} in {row[KEY]}"
        except ValueError:
            yield f"tags of {row[KEY]} are no JSON"


def times(export: Export) -> Iterator[str]:
    for row in (*export.rows, *export.origins):
        bounds = [
            row[name] for name in ("BillingPeriodStart", "ChargePeriodStart", "ChargePeriodEnd", "BillingPeriodEnd")
        ]
        if not all(TIME.fullmatch(bound) for bound in bounds):
            yield f"{bounds} of {row[KEY]} is not a time"
        elif not bounds[1] < bounds[2] or (
            not row["x_SourceLineId"] and not bounds[0] <= bounds[1] < bounds[2] <= bounds[3]
        ):
            yield f"{bounds} of {row[KEY]} is out of order"


def classes(export: Export) -> Iterator[str]:
    for row in export.rows:
        about = row["x_CorrectedPeriod"]
        if row["ChargeClass"] != ("Correction" if about else "") and not row["x_SourceLineId"]:
            yield f"class of {row[KEY]}"
        if about and about >= row["BillingPeriodEnd"][:7]:
            yield f"{row[KEY]} corrects a month to come"
        if row["ChargeCategory"] not in CATEGORIES:
            yield f"category of {row[KEY]}"
        if row["ConsumedQuantity"] and row["ChargeCategory"] != "Usage":
            yield f"{row[KEY]} consumes"


def prices(export: Export) -> Iterator[str]:
    for row in export.rows:
        for cost, price in (("ListCost", "ListUnitPrice"), ("ContractedCost", "ContractedUnitPrice")):
            told, unit, quantity = (number(row[name]) for name in (cost, price, "PricingQuantity"))
            if told is None or unit is None or quantity is None:
                continue
            if unit < 0 or abs(unit * quantity - told) > Decimal("1e-9") * max(abs(told), Decimal(1)):
                yield f"{cost} of {row[KEY]}"


def filled(export: Export) -> Iterator[str]:
    for row in (*export.rows, *export.origins):
        yield from (f"no {name} in {row[KEY]}" for name in NOT_NULL if not row[name])
        for name, places in PLACES.items():
            exact = name == "BilledCost" and row["ChargeCategory"] in ("Tax", "Credit")  # billed as it is effective
            if row[name] and not re.fullmatch(rf"-?\d+(\.\d{{1,{18 if exact else places}}}0*)?", row[name]):
                yield f"{name} {row[name]} of {row[KEY]}"


def comes_to_the_ledger(export: Export) -> Iterator[str]:
    lines = any(row["x_SourceLineId"] for row in export.rows)
    for rows in (export.rows, export.origins):
        found: dict[tuple[str, ...], Decimal] = defaultdict(Decimal)
        for row in rows:
            found[row["x_BillName"], row["x_PoolName"], row["x_ComponentName"], row["x_ServiceDay"]] += (
                number(row["EffectiveCost"]) or 0
            )
        booked = {key: amount for key, amount in export.ledger.items() if key[0].endswith(export.money)}
        if lines:
            if rows is export.origins:
                continue
            found, booked = (by_pool(one) for one in (found, booked))
        yield from (
            f"ledger and file differ in {key}" for key in {*found, *booked} if found.get(key, 0) != booked.get(key, 0)
        )


def by_pool(sums: Mapping[tuple[str, ...], Decimal]) -> dict[tuple[str, ...], Decimal]:
    found: dict[tuple[str, ...], Decimal] = defaultdict(Decimal)
    for key, amount in sums.items():
        found[key[:3]] += amount
    return found


def billing_period(export: Export) -> Iterator[str]:
    if len(export.periods) != 1:
        yield "not one billing period"
        return
    (period,) = export.periods
    if period["BillingPeriodStatus"] not in ("Open", "Closed"):
        yield "status of the billing period"
    if not period["BillingPeriodCreated"] <= period["BillingPeriodLastUpdated"]:
        yield "the billing period was changed before it was made"
    for row in export.rows:
        if not row["x_SourceLineId"]:
            yield from (
                name
                for name in ("BillingPeriodStart", "BillingPeriodEnd", "InvoiceIssuerName")
                if row[name] != period[name]
            )


def no_row_twice(export: Export) -> Iterator[str]:
    seen = set()
    for row in export.rows:
        key = tuple(value for name, value in row.items() if name not in SUMMABLE and name != "AllocatedMethodDetails")
        if key in seen:
            yield f"a row of {row[KEY]} twice"
        seen.add(key)


RULES: dict[str, Callable[[Export], Iterator[str]]] = {
    rule.__name__: rule
    for rule in (
        sums_to_origin, every_row_has_an_origin, says_what_its_origin_says, ratios, split_columns, tags, times, classes, prices, filled,
        comes_to_the_ledger, billing_period, no_row_twice,
    )
}  # fmt: skip


def broken(export: Export) -> dict[str, list[str]]:
    found = {name: list(rule(export)) for name, rule in RULES.items()}
    return {name: said for name, said in found.items() if said}
