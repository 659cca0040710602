"""Figures as cost lines: one for each day and group, in the billing period of their month.

BilledCost     UnblendedCost       NetCost   NetAmortizedCost
EffectiveCost  AmortizedCost       ConsumedQuantity   UsageQuantity
ChargeCategory by RECORD_TYPE; without that group every line is Usage
status         AWS says of each day whether it is estimated
"""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from apportion.errors import InputError
from apportion.model.delivery import Delivery, FileDigest, Scope
from apportion.model.money import DIGITS, PLACES
from apportion.model.rows import COST_LINES
from apportion.model.times import DAY_S, Interval, Period, instant_text
from apportion.sources.bills.components import component_of
from apportion.sources.bills.placing import month
from apportion.sources.cost_explorer.answers import Answer, Group, Result
from apportion.sources.cost_explorer.settings import CATEGORY, DIMENSIONS, TAG, How

METRICS = {
    "UnblendedCost": "BilledCost",
    "AmortizedCost": "EffectiveCost",
    "NetAmortizedCost": "NetCost",
    "UsageQuantity": "ConsumedQuantity",
}
CATEGORIES = {  # by the beginning of the record type
    "Tax": "Tax", "Credit": "Credit", "Refund": "Adjustment", "Recurring": "Purchase", "Upfront": "Purchase", "Fee": "Purchase",
    "Savings Plan Recurring": "Purchase", "Savings Plan Upfront": "Purchase", "Savings Plan Negation": "Adjustment",
    "Enterprise Discount": "Adjustment", "Bundled Discount": "Adjustment", "Private Rate Discount": "Adjustment", "Discount": "Adjustment",
    "Support": "Purchase", "Solution Provider": "Adjustment", "Reseller": "Adjustment",
}  # fmt: skip
STEP = Decimal(1).scaleb(-PLACES)
ZONE = ZoneInfo("UTC")


def months(window: Interval) -> Iterator[Interval]:
    """Each month that the window touches, from its first day to its last or to the window's last whole day."""
    end = window.end_s // DAY_S * DAY_S
    at = datetime.fromtimestamp(window.start_s, tz=UTC)
    period = Period(at.year, at.month)
    while period.interval(ZONE).start_s < end:
        whole = period.interval(ZONE)
        yield Interval(whole.start_s, min(whole.end_s, end))
        period = period.next


def delivery(
    answers: Sequence[Answer], span: Interval, how: How, account: str, files: tuple[FileDigest, ...] = ()
) -> Delivery:
    groups: dict[tuple[int, tuple[str, ...], str], Group] = {}
    lines = []
    for asked, result, group in told(answers, span):
        key = (result.span.start_s, group.keys, group.unit)
        if groups.setdefault(key, group) != group:
            raise twice(result, group, how)
        if groups[key] is group:
            lines.append(line(result, group, asked or how.group_by, how, account))
    table = pa.Table.from_pylist(lines, COST_LINES)
    scope = Scope(how.issuer, (account,) if account else (), (), (month(span.start_s),), role=how.role)
    return Delivery(how.source, span, {"cost_lines": table}, (), files, (scope,))


def told(answers: Sequence[Answer], span: Interval) -> Iterator[tuple[tuple[str, ...], Result, Group]]:
    """What the answers say of the span's days."""
    for answer in answers:
        for result in answer.results:
            if span.start_s <= result.span.start_s < span.end_s:
                yield from ((answer.asked, result, group) for group in result.groups)


def twice(result: Result, group: Group, how: How) -> InputError:
    return InputError(
        "conflicting-rows",
        f"two answers tell {', '.join(group.keys) or 'the total'} of {instant_text(result.span.start_s)[:10]} otherwise",
        where=how.where,
        hint="keep the newest answer for each day only",
    )


def line(result: Result, group: Group, groups: Sequence[str], how: How, account: str) -> dict[str, Any]:
    billing = month(result.span.start_s)
    columns, tags = named(groups, group.keys)
    category = next((CATEGORIES[word] for word in CATEGORIES if columns.get("line_type", "").startswith(word)), "Usage")
    content = "\x1f".join(
        [how.source, str(result.span.start_s), str(result.span.end_s), group.unit, *groups, *group.keys]
    )
    service = columns.get("ServiceName", "")
    return {
        "source": how.source,
        "line_id": hashlib.sha256(content.encode()).hexdigest()[:32],
        "charge_start_s": result.span.start_s,
        "charge_end_s": result.span.end_s,
        "billing_start_s": billing.start_s,
        "billing_end_s": billing.end_s,
        "component": component_of("", "", service, columns.get("SkuMeter", ""), ""),
        **{METRICS[name]: exact(amount) for name, amount in group.amounts.items() if name in METRICS},
        "BillingCurrency": group.unit,
        "BillingAccountId": account or None,
        "InvoiceIssuerName": how.issuer,
        "ServiceProviderName": "AWS",
        "ChargeCategory": category,
        "status": "estimated" if result.estimated else "final",
        **columns,
        "Tags": sorted(tags.items()),
    }


def named(groups: Sequence[str], keys: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """Columns and tags of a group; `team$` is what AWS calls a line without the tag."""
    columns: dict[str, str] = {}
    tags: dict[str, str] = {}
    for name, key in zip(groups, keys, strict=False):
        if name.startswith((TAG, CATEGORY)):
            tag = name.removeprefix(TAG).replace(CATEGORY, "cost_category.")
            value = key.partition("$")[2] if "$" in key else key
            tags |= {tag: value} if value else {}
        elif name in DIMENSIONS and key:
            columns[DIMENSIONS[name]] = key
    return columns, tags


def exact(amount: Decimal) -> Decimal:
    """At 18 places: AWS writes up to ten."""
    with localcontext() as context:
        context.prec = DIGITS
        return amount.quantize(STEP, ROUND_HALF_EVEN)
