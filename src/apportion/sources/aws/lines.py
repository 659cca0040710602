"""Rows of a Cost and Usage Report to FOCUS columns."""

import json
import re
from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from apportion.sources.aws.block import Block, of_all, plainly
from apportion.sources.aws.costs import Costs, costs, split_rows
from apportion.sources.aws.header import Header
from apportion.sources.aws.services import categories
from apportion.sources.aws.split import Taken, given
from apportion.sources.aws.tags import distinct, tags
from apportion.sources.aws.words import ARN, LINE_TYPES, PLAN, RESERVATION, SPENT_ON, LineType, line_type
from apportion.sources.bills.form import Form, Lines
from apportion.sources.bills.part import Part
from apportion.sources.cells.text import shown

AWS = "AWS"
MARKETPLACE = "AWS Marketplace"
ACCOUNT_DIGITS = 12
PLAIN_TEXT = {
    "BillingCurrency": ("line_item_currency_code",),
    "BillingAccountName": ("bill_payer_account_name",),
    "SubAccountName": ("line_item_usage_account_name",),
    "InvoiceId": ("bill_invoice_id",),
    "ChargeDescription": ("line_item_line_item_description",),
    "SkuId": ("product_sku",),
    "SkuPriceId": ("pricing_rate_code",),
    "SkuMeter": ("line_item_usage_type",),
    "PricingUnit": ("pricing_unit",),
    "RegionId": ("product_region_code", "product_region"),
    "AvailabilityZone": ("line_item_availability_zone",),
    "ResourceId": ("line_item_resource_id",),
    "ResourceType": ("product_product_family",),
    "CapacityReservationId": ("capacity_reservation_capacity_reservation_arn",),
}
TIMES = {
    "ChargePeriodStart": "line_item_usage_start_date",
    "ChargePeriodEnd": "line_item_usage_end_date",
    "BillingPeriodStart": "bill_billing_period_start_date",
    "BillingPeriodEnd": "bill_billing_period_end_date",
}
NUMBERS = {
    "PricingQuantity": "line_item_usage_amount",
    "ListUnitPrice": "pricing_public_on_demand_rate",
    "ContractedUnitPrice": "line_item_unblended_rate",
}
DETAILS = {"InstanceType": "instance_type", "CoreCount": "vcpu", "GpuCount": "gpu", "MemorySize": "memory"}
TYPE = "line_item_line_item_type"
NUMBER = re.compile(r"^[0-9]+(?:\.[0-9]+)?")
BETWEEN = "\x1f"
NOT_TAKEN = (
    'rows of pods and tasks carry no money, since their instances\' own lines do; `split = "pods"` takes it from those'
)


def form(header: Header, taken: Taken | None) -> Form:
    told: set[str] = set()
    for_all = of_all if taken is None else pc.take

    def translate(part: Part) -> Lines:
        block = Block(part, header, told)
        types, split = block.text(TYPE), split_rows(block)
        found = costs(block, types, split)
        few, kind = block.few()
        words = {name: for_all(cells, kind) for name, cells in {**described(few), **typed(few)}.items()}
        cells = {**words, **measured(block), **found.cells}
        cells["CommitmentDiscountStatus"] = by_amount(words["CommitmentDiscountStatus"], cells["EffectiveCost"])
        cells["ConsumedQuantity"] = pc.if_else(is_usage(types), plainly(cells["PricingQuantity"]), None)
        cells["problem"] = problems(block, types, found)
        columns_of = {**TIMES, **{name: columns[0] for name, columns in PLAIN_TEXT.items()}, **NUMBERS}
        names = {name: header.columns.get(column, column) for name, column in columns_of.items()}
        if taken is not None:
            return Lines(*given(block, cells, taken), names)
        if pc.any(split, min_count=0).as_py():
            block.tell("split-not-taken", NOT_TAKEN)
        return Lines(cells, names=names)

    return Form(header.name, header.read, translate, taken.notes if taken else (), header.typed)


def problems(block: Block, types: pa.Array, found: Costs) -> pa.Array:
    unknown = pc.invert(pc.fill_null(pc.is_in(types, pa.array(sorted(LINE_TYPES))), fill_value=False))
    named = block.header.columns[TYPE]
    return pc.coalesce(
        block.part.mark(unknown, "unknown-line-type", lambda row: f"{shown(named, types, row)} is no line item type that is known"),
        block.part.mark(
            found.lost, "not-amortised", lambda row: f"a line of type {types[row].as_py()} says no amortised cost: its unblended cost is taken"
        ),
    )  # fmt: skip


def described(block: Block) -> dict[str, pa.Array]:
    """What a line is about, whatever its type; it says the same of rows that have the same words."""
    cells: dict[str, pa.Array] = {name: block.text(*columns) for name, columns in PLAIN_TEXT.items()}
    code, entity = block.text("line_item_product_code"), block.text("line_item_legal_entity")
    marketplace = pc.fill_null(pc.equal(block.text("bill_billing_entity"), MARKETPLACE), fill_value=False)
    product = attributes(block)
    cells["BillingAccountId"] = account(block.text("bill_payer_account_id"))
    cells["SubAccountId"] = account(block.text("line_item_usage_account_id"))
    cells["InvoiceIssuerName"] = pc.coalesce(block.text("bill_invoicing_entity"), entity, pa.scalar(AWS))
    cells["ServiceProviderName"] = pc.if_else(marketplace, pc.coalesce(entity, pa.scalar(MARKETPLACE)), AWS)
    cells["HostProviderName"] = pa.repeat(pa.scalar(AWS), block.count)
    cells["ServiceName"] = pc.coalesce(product["product_name"], block.text("product_servicename"), code)
    cells["ServiceCategory"] = categories(code, cells["ResourceType"], cells["SkuMeter"])
    cells["CapacityReservationStatus"] = known_status(block.text("capacity_reservation_capacity_reservation_status"))
    cells["SkuPriceDetails"] = details(product)
    cells["Tags"] = tags(block)
    cells["status"] = pc.if_else(cells["InvoiceId"].is_valid(), "final", "estimated")
    return cells


def measured(block: Block) -> dict[str, pa.Array]:
    """When, and how much."""
    times = {name: block.part.instants(block.header.columns[column]) for name, column in TIMES.items()}
    return times | {name: block.quantity(column) for name, column in NUMBERS.items()}


def account(cells: pa.Array) -> pa.Array:
    """Twelve digits, whatever a spreadsheet or a database made of them."""
    return pc.utf8_lpad(cells, ACCOUNT_DIGITS, "0")


def known_status(cells: pa.Array) -> pa.Array:
    return pc.if_else(pc.is_in(cells, pa.array(["Used", "Unused"])), cells, None)


def attributes(block: Block) -> dict[str, pa.Array]:
    """Of the product: from columns of their own (the older report has all of them) or from CUR 2.0's map."""
    keys = ("product_name", *DETAILS.values())
    columns = {key: block.text(f"product_{key}") for key in keys}
    if not block.has("product"):
        return columns
    cells = block.cells("product")
    if pa.types.is_map(cells.type):
        found = {key: pc.map_lookup(cells, pa.scalar(key), "first") for key in keys}
    else:
        read = distinct(cells, dict)
        found = {
            key: pa.array([(value or {}).get(key) for value in read.values], pa.string()).take(pa.array(read.codes))
            for key in keys
        }
    return {key: pc.coalesce(columns[key], found[key]) for key in keys}


def details(product: dict[str, pa.Array]) -> pa.Array:
    """Instance type, cores, accelerators and memory (GiB) as FOCUS's SkuPriceDetails; null where none of them is said."""
    parts = [product[key] for key in DETAILS.values()]
    keys = pc.binary_join_element_wise(
        *parts, BETWEEN, null_handling="replace", null_replacement=""
    ).dictionary_encode()
    texts = [detail(key.split(BETWEEN)) for key in keys.dictionary.to_pylist()]
    return pa.DictionaryArray.from_arrays(keys.indices, pa.array(texts, pa.string()))


def detail(words: list[str]) -> str | None:
    found: dict[str, str | int | float] = {}
    for name, word in zip(DETAILS, words, strict=True):
        number = NUMBER.match(word.replace(",", ""))
        if name == "InstanceType" and word:
            found[name] = word
        elif number:
            found[name] = float(number[0]) if "." in number[0] else int(number[0])
    return json.dumps(found) if found else None


def typed(block: Block) -> dict[str, pa.Array]:
    """What follows from the type of a line."""
    types, split = block.text(TYPE), split_rows(block)
    encoded = types.dictionary_encode()
    kinds = [line_type(word) for word in encoded.dictionary.to_pylist()]

    def by_type(tell: Callable[[LineType], str | None]) -> pa.Array:
        return pa.array([tell(kind) for kind in kinds], pa.string()).take(encoded.indices)

    usage = is_usage(types)
    fee = pc.fill_null(pc.equal(types, "Fee"), fill_value=False)
    committed = pc.if_else(split, None, by_type(lambda kind: kind.commitment))
    arns = [pc.if_else(pc.equal(committed, kind), block.text(ARN[kind]), None) for kind in (PLAN, RESERVATION)]
    arn = pc.coalesce(*arns)
    committed = pc.if_else(pc.and_(fee, arn.is_null()), None, committed)
    spot = pc.or_kleene(
        pc.equal(block.text("pricing_term"), "Spot"),
        pc.match_substring(block.text("line_item_usage_type"), "SpotUsage"),
    )
    return {
        "line_type": types,
        "ChargeCategory": pc.fill_null(by_type(lambda kind: kind.category), "Adjustment"),
        "ChargeClass": by_type(lambda kind: "Correction" if kind.correction else None),
        "ChargeFrequency": by_type(lambda kind: kind.frequency),
        "PricingCategory": pc.if_else(
            pc.and_(usage, pc.fill_null(spot, fill_value=False)), "Dynamic", by_type(lambda kind: kind.pricing)
        ),
        "CommitmentDiscountId": arn,
        "CommitmentDiscountType": committed,
        "CommitmentDiscountCategory": pc.if_else(
            committed.is_valid(), pc.if_else(pc.equal(committed, PLAN), SPENT_ON[PLAN], SPENT_ON[RESERVATION]), None
        ),
        "CommitmentDiscountStatus": pc.if_else(split, None, by_type(lambda kind: kind.status)),
        "ConsumedUnit": pc.if_else(usage, block.text("pricing_unit"), None),
    }


def is_usage(types: pa.Array) -> pa.Array:
    words = [word for word, kind in LINE_TYPES.items() if kind.category == "Usage"]
    return pc.fill_null(pc.is_in(types, pa.array(words)), fill_value=False)


def by_amount(status: pa.Array, effective: pa.Array) -> pa.Array:
    """Of a commitment, `Unused` is a line that carries some of it."""
    if not pc.any(status.is_valid(), min_count=0).as_py():
        return status
    return pc.if_else(pc.and_(pc.equal(plainly(status), "Unused"), pc.equal(effective, 0)), None, plainly(status))
