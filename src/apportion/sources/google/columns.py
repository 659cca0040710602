"""A row of the export as FOCUS columns.

    BilledCost, EffectiveCost   cost and those credits that are part of the price (`credits`)
    ContractedCost              cost: at the account's own prices, before credits
    ListCost                    cost_at_list, where the export has it
    billing period              the UTC month that invoice.month names. Google closes it at midnight in California; the bill's name is what others
                                know it by, and which usage shares a line is told by its charge period
    charge period               usage_start_time to usage_end_time, which may lie in another month than the invoice
    ChargeCategory              by cost_type: regular is Usage, tax Tax, adjustment and rounding_error Adjustment
    line_type                   cost_type, or the type of the credit

The fee of a commitment (a SKU that begins with Commitment) is a Purchase. Where Google takes its used part off again (FEE_UTILIZATION_OFFSET) what is
left was not used: Usage with the CommitmentDiscountStatus Unused. Usage that a commitment paid for has the status Used.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import MONEY, SECOND
from apportion.model.times import Interval, Period
from apportion.sources.bills.form import Lines
from apportion.sources.bills.part import Fault, Part
from apportion.sources.bills.placing import UTC_ZONE, month
from apportion.sources.cells.labels import labels_from_columns
from apportion.sources.cells.text import mask_of, text
from apportion.sources.google.credits import Credits, credits_of
from apportion.sources.google.fields import Fields
from apportion.sources.google.gke import TAG, split
from apportion.sources.google.labels import labels_of
from apportion.sources.google.services import categories, fees

ISSUER = "Google Cloud"
TEXTS = {  # FOCUS column: theirs
    "BillingAccountId": "billing_account_id",
    "BillingCurrency": "currency",
    "SubAccountId": "project.id",
    "SubAccountName": "project.name",
    "ServiceName": "service.description",
    "SkuId": "sku.id",
    "SkuMeter": "sku.description",
    "ChargeDescription": "sku.description",
    "AvailabilityZone": "location.zone",
    "ResourceName": "resource.name",
    "ConsumedUnit": "usage.unit",
    "PricingUnit": "usage.pricing_unit",
}
QUANTITIES = {
    "ConsumedQuantity": "usage.amount",
    "PricingQuantity": "usage.amount_in_pricing_units",
    "ContractedUnitPrice": "price.effective_price",
    "ListUnitPrice": "price.list_price",
}
CATEGORIES = {"regular": "Usage", "tax": "Tax", "adjustment": "Adjustment", "rounding_error": "Adjustment"}
NOTED = {  # further tags
    "adjustment.id": "adjustment_info.id",
    "adjustment.mode": "adjustment_info.mode",
    "adjustment.type": "adjustment_info.type",
}
NAMES = {**TEXTS, **QUANTITIES, "BilledCost": "cost", "EffectiveCost": "cost", "ListCost": "cost_at_list"}
NAMES |= {"ChargePeriodStart": "usage_start_time", "ChargePeriodEnd": "usage_end_time", "ChargeCategory": "cost_type"}
NAMES |= {"BillingPeriodStart": "invoice.month", "BillingPeriodEnd": "invoice.month"}
NO_TEXT = pa.scalar(None, pa.string())


def lines_of(part: Part) -> Lines:
    fields = Fields(part)
    found, given = rows_of(fields)
    if not len(given.given.rows):
        return Lines(found, names=NAMES)
    rows = pa.array(np.concatenate([np.arange(part.count), given.given.rows]))
    return Lines(with_credits(found, given), rows, NAMES)


def rows_of(fields: Fields) -> tuple[dict[str, pa.Array], Credits]:
    part = fields.part
    cost = part.exact(fields.cells("cost"), "cost")
    given = credits_of(fields, cost)
    own = fields.pairs("labels")
    shares = split(own, part.count)
    labels, unread = labels_of(fields, own)
    told = {TAG: shares.pop(TAG)} if shares else {}
    told |= {tag: fields.text(path) for tag, path in NOTED.items()}
    bad = part.mark(mask_of(unread, part.count), "invalid-tags", lambda _: "labels are no list of keys and values")
    return {
        **{name: fields.text(path) for name, path in TEXTS.items()},
        **{name: fields.cells(path) for name, path in QUANTITIES.items()},
        "BilledCost": given.net,
        "EffectiveCost": given.net,
        "ContractedCost": cost,
        "ListCost": part.exact(fields.cells("cost_at_list"), "cost_at_list"),
        "InvoiceIssuerName": pa.repeat(pa.scalar(ISSUER), part.count),
        "ServiceProviderName": pc.fill_null(fields.text("seller_name"), ISSUER),
        "HostProviderName": pa.repeat(pa.scalar(ISSUER), part.count),
        "ServiceCategory": categories(fields.text("service.description"), fields.text("sku.description")),
        "RegionId": pc.coalesce(fields.text("location.region"), fields.text("location.location")),
        "ResourceId": pc.coalesce(fields.text("resource.global_name"), fields.text("resource.name")),
        "ChargeClass": pc.if_else(told["adjustment.id"].is_valid(), "Correction", NO_TEXT),
        "ChargeFrequency": pa.repeat(pa.scalar("Usage-Based"), part.count),
        "Tags": labels_from_columns(part.count, told, labels),
        "problem": bad,
        **charges(fields, given),
        **times(fields),
        **shares,
    }, given


def charges(fields: Fields, given: Credits) -> dict[str, pa.Array]:
    """What kind of line it is, and its commitment."""
    kind, sku = fields.text("cost_type"), fields.text("sku.description")
    fee = pc.and_(fees(sku), pc.fill_null(pc.equal(kind, "regular"), fill_value=True))
    bought = pc.and_(fee, pc.invert(given.offset))
    unused = pc.and_(fee, given.offset)
    used = pc.and_(given.commitment.is_valid(), pc.invert(fee))
    place = pc.index_in(pc.fill_null(kind, "regular"), value_set=pa.array(list(CATEGORIES)))
    category = pa.array(list(CATEGORIES.values())).take(place)
    spend = pc.or_(
        pc.match_substring(pc.utf8_lower(pc.fill_null(sku, "")), "dollar based"),
        pc.fill_null(pc.match_substring(given.of_commitment("type"), "DOLLAR"), fill_value=False),
    )
    committed = pc.or_(fee, used)
    name = pc.coalesce(given.of_commitment("full_name"), given.of_commitment("name"), sku)
    return {
        "ChargeCategory": pc.if_else(bought, "Purchase", pc.coalesce(category, kind)),
        "line_type": kind,
        "CommitmentDiscountStatus": pc.if_else(used, "Used", pc.if_else(unused, "Unused", NO_TEXT)),
        "CommitmentDiscountType": pc.if_else(committed, "Committed use discount", NO_TEXT),
        "CommitmentDiscountCategory": pc.if_else(committed, pc.if_else(spend, "Spend", "Usage"), NO_TEXT),
        "CommitmentDiscountName": pc.if_else(committed, name, NO_TEXT),
        "CommitmentDiscountId": pc.if_else(
            committed, pc.coalesce(fields.text("subscription.instance_id"), given.of_commitment("id"), name), NO_TEXT
        ),
        "PricingCategory": pc.if_else(committed, "Committed", "Standard"),
    }


def times(fields: Fields) -> dict[str, pa.Array]:
    starts, ends = fields.seconds("usage_start_time"), fields.seconds("usage_end_time")
    first, last = invoiced(fields.text("invoice.month"))
    without = fields.text("invoice.month").is_null()
    if (count := pc.sum(without).as_py() or 0) > 0:
        message = f"{count} rows name no invoice month: they lie in the month of their usage"
        fields.part.faults.append(Fault(-1, "no-invoice-month", message))
        own = bounds(starts, month)
        first, last = (pc.if_else(without, mine, told) for mine, told in zip(own, (first, last), strict=True))
    return {
        "ChargePeriodStart": starts,
        "ChargePeriodEnd": ends,
        "BillingPeriodStart": first,
        "BillingPeriodEnd": last,
    }


def invoiced(months: pa.Array) -> tuple[pa.Array, pa.Array]:
    plain = pc.replace_substring(months, "-", "")
    return bounds(pc.if_else(pc.match_substring_regex(plain, "^[12][0-9]{3}(0[1-9]|1[0-2])$"), plain, None), named)


def named(text: str) -> Interval:
    return Period(int(text[:4]), int(text[4:])).interval(UTC_ZONE)


def bounds(cells: pa.Array, find: Any) -> tuple[pa.Array, pa.Array]:
    distinct = cells.dictionary_encode()
    found = [find(cell) for cell in distinct.dictionary.to_pylist()]
    starts, ends = (pa.array(edges, SECOND) for edges in ([one.start_s for one in found], [one.end_s for one in found]))
    return starts.take(distinct.indices), ends.take(distinct.indices)


def with_credits(found: Mapping[str, pa.Array], given: Credits) -> dict[str, pa.Array]:
    """The rows, and below them a line for each credit that is given, with the account, service, resource and labels of its row."""
    credit, count = given.given.fields, len(given.given.rows)
    rows = pa.array(given.given.rows)
    name = pc.coalesce(text(credit["full_name"]), text(credit["name"]), text(credit["id"]), credit["type"])
    listed = found["ListCost"].take(rows)
    own = {
        **dict.fromkeys(("BilledCost", "EffectiveCost", "ContractedCost"), credit["amount"]),
        "ListCost": pc.if_else(listed.is_valid(), credit["amount"], pa.scalar(None, MONEY)),
        "ChargeCategory": pa.repeat(pa.scalar("Credit"), count),
        "ChargeDescription": described(name, text(credit["id"])),
        "line_type": pc.fill_null(credit["type"], "credit"),
        **{column: pa.nulls(count, found[column].type) for column in found if column in NOT_OF_CREDITS},
    }
    return {column: pa.concat_arrays([cells, own.get(column, cells.take(rows))]) for column, cells in found.items()}


NOT_OF_CREDITS = (
    *QUANTITIES, "ConsumedUnit", "PricingUnit", "PricingCategory", "ChargeClass", "CommitmentDiscountStatus", "CommitmentDiscountType",
    "CommitmentDiscountCategory", "CommitmentDiscountName", "CommitmentDiscountId",
)  # fmt: skip


def described(name: pa.Array, number: pa.Array) -> pa.Array:
    other = pc.fill_null(pc.not_equal(name, number), fill_value=False)
    return pc.if_else(other, pc.binary_join_element_wise(name, " (", number, ")", ""), name)
