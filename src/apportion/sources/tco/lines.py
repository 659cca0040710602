"""Items to cost lines in FOCUS columns, a delivery for each month."""

from collections.abc import Iterable
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from apportion.model.money import DIGITS, PLACES
from apportion.model.rows import COST_LINES
from apportion.model.times import Interval
from apportion.sources.bills.identity import beside_equals, hashes_of, id_column, repeated
from apportion.sources.tco.items import Item
from apportion.sources.tco.settings import How

CATEGORIES = {
    "compute": "Compute", "storage": "Storage", "network": "Networking", "support": "Management and Governance",
}  # fmt: skip
FREQUENCIES = {"Usage": "Recurring", "Purchase": "One-Time", "Adjustment": "One-Time"}


def cost_lines(items: Iterable[Item], how: How, account: str, billing: Interval) -> pa.Table:
    month = {"source": how.source, "line_id": "", "billing_start_s": billing.start_s, "billing_end_s": billing.end_s}
    lines = pa.Table.from_pylist([month | columns(item, how, account) for item in items], COST_LINES)
    return lines.set_column(
        COST_LINES.get_field_index("line_id"), COST_LINES.field("line_id"), line_ids(lines, how.source)
    )


def line_ids(lines: pa.Table, source: str) -> pa.Array:
    """As those of any bill; equal lines differ by their occurrence."""
    if not len(lines):
        return pa.array([], pa.string())
    hashes = hashes_of(lines.combine_chunks(), source)
    for place, own in repeated(hashes, beside_equals(hashes), source).items():
        hashes[place] = np.frombuffer(own, np.uint8)
    return id_column(hashes)


def columns(item: Item, how: How, account: str) -> dict[str, Any]:
    """What an item says, by FOCUS's names. There is no list to buy from: list and contracted cost are the amortised cost."""
    amount, quantity = exact(item.amount), exact(item.quantity)
    category = CATEGORIES.get(item.component, "Other")
    return {
        "charge_start_s": item.start_s,
        "charge_end_s": item.end_s,
        "component": item.component,
        "BilledCost": exact(item.billed),
        "EffectiveCost": amount,
        "ContractedCost": amount,
        "ListCost": amount,
        "NetCost": amount,
        "ConsumedQuantity": quantity if item.category == "Usage" else None,
        "ConsumedUnit": item.unit if item.category == "Usage" else None,
        "PricingQuantity": quantity,
        "PricingUnit": item.unit,
        "ListUnitPrice": item.unit_price,
        "ContractedUnitPrice": item.unit_price,
        "PricingCategory": "Standard",
        "BillingCurrency": item.currency,
        "BillingAccountId": account,
        "BillingAccountName": account,
        "InvoiceIssuerName": item.issuer or how.issuer,
        "ServiceProviderName": how.issuer,
        "HostProviderName": how.issuer,
        "ChargeCategory": item.category,
        "ChargeFrequency": FREQUENCIES[item.category],
        "ChargeDescription": item.explanation,
        "ServiceCategory": category,
        "ServiceSubcategory": f"Other ({category})",
        "ServiceName": item.service,
        "SkuId": item.sku or None,
        "ResourceId": item.resource or None,
        "ResourceName": item.name if item.resource else None,
        "ResourceType": item.kind or None,
        "Tags": sorted(item.tags.items()),
    }


def exact(number: Fraction | Decimal) -> Decimal:
    """Up to 18 places; items carry whole nanos, quantities may be thirds."""
    with localcontext() as context:
        context.prec = DIGITS
        found = number if isinstance(number, Decimal) else Decimal(number.numerator) / Decimal(number.denominator)
        return found.quantize(Decimal(1).scaleb(-PLACES))
