"""Items to cost lines in FOCUS columns, a delivery for each month."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pyarrow as pa

from apportion.model.money import DIGITS, PLACES
from apportion.model.rows import COST_LINES
from apportion.model.times import Interval
from apportion.sources.tco.items import Item
from apportion.sources.tco.settings import How

CATEGORIES = {
    "compute": "Compute", "storage": "Storage", "network": "Networking", "support": "Management and Governance",
}  # fmt: skip
FREQUENCIES = {"Usage": "Recurring", "Purchase": "One-Time", "Adjustment": "One-Time"}
FIELD = "\x1f"


def cost_lines(items: Iterable[Item], how: How, account: str, billing: Interval) -> pa.Table:
    seen: Counter[str] = Counter()
    rows = []
    for item in items:
        row = dict(columns(item, how, account))
        key = FIELD.join((
            how.source, str(billing.start_s), item.sku, item.service, item.component, item.resource, item.category, str(item.start_s),
        ))  # fmt: skip
        seen[key] += 1
        row |= {
            "source": how.source,
            "line_id": hashlib.sha256(f"{key}{FIELD}{seen[key]}".encode()).hexdigest()[:32],
            "billing_start_s": billing.start_s,
            "billing_end_s": billing.end_s,
        }
        rows.append(row)
    return pa.Table.from_pylist(rows, COST_LINES)


def columns(item: Item, how: How, account: str) -> Mapping[str, Any]:
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
        "InvoiceIssuerName": how.issuer,
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
