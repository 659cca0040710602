"""Cloud Cost as a reference: a cost line a day and group, never posted. Only whole days (UTC) are taken, so that a day is never half a day."""

import hashlib
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from types import MappingProxyType
from typing import Any

import pyarrow as pa

from apportion.model.delivery import Delivery, FileDigest, Scope
from apportion.model.money import PLACES
from apportion.model.rows import COST_LINES
from apportion.model.times import DAY_S, Interval
from apportion.sources.datadog.answers import Series
from apportion.sources.datadog.settings import How

CURRENCIES = MappingProxyType({"dollar": "USD", "euro": "EUR", "pound": "GBP", "yen": "JPY"})
COLUMNS = MappingProxyType({
    "servicename": "ServiceName", "aws_product": "ServiceName", "service_name": "ServiceName", "providername": "ServiceProviderName",
    "provider": "ServiceProviderName", "aws_member_account_id": "SubAccountId", "subaccountid": "SubAccountId", "accountid": "SubAccountId",
    "account_id": "SubAccountId", "region": "RegionId", "regionid": "RegionId", "resourceid": "ResourceId", "resource_id": "ResourceId",
})  # fmt: skip
ISSUER = "Datadog Cloud Cost"
STEP = Decimal(1).scaleb(-PLACES)


def cost_query(how: How) -> str:
    return f"sum:{how.costs}{{{how.filter or '*'}}} by {{{','.join(how.by)}}}.rollup(sum, daily)"


def whole_days(window: Interval) -> Interval:
    return Interval(window.start_s // DAY_S * DAY_S, window.end_s // DAY_S * DAY_S)


def cost_delivery(series: Sequence[Series], window: Interval, how: How, files: tuple[FileDigest, ...]) -> Delivery:
    lines = [
        line(one, at, value, how)
        for one in series
        for at, value in sorted(one.values.items())
        if window.start_s <= at < window.end_s and value
    ]
    days = sorted({Interval(row["billing_start_s"], row["billing_end_s"]) for row in lines})
    scope = Scope(ISSUER, (how.source,), (), tuple(days) or (window,), role="reference")
    return Delivery(how.source, window, {"cost_lines": pa.Table.from_pylist(lines, COST_LINES)}, (), files, (scope,))


def line(series: Series, at: int, value: Decimal, how: How) -> dict[str, Any]:
    """The amount as Datadog writes it; the day is both its charge and its billing period."""
    amount = value.quantize(STEP, ROUND_HALF_EVEN)
    day = at // DAY_S * DAY_S
    columns = {COLUMNS[tag]: text for tag, text in series.tags if tag in COLUMNS}
    currency = CURRENCIES.get(series.unit, how.currency)
    content = "\x1f".join(
        [how.source, series.metric, str(day), currency, *(f"{tag}:{text}" for tag, text in series.tags)]
    )
    return {
        "source": how.source,
        "line_id": hashlib.sha256(content.encode()).hexdigest()[:32],
        "charge_start_s": day,
        "charge_end_s": day + DAY_S,
        "billing_start_s": day,
        "billing_end_s": day + DAY_S,
        "component": "other",
        "BilledCost": amount,
        "EffectiveCost": amount,
        "BillingCurrency": currency,
        "BillingAccountId": how.source,
        "InvoiceIssuerName": ISSUER,
        "ChargeCategory": "Usage",
        **columns,
        "Tags": list(series.tags),
    }
