"""The evidence, as Arrow tables: one schema per table, the same in a delivery, in the books and in the engine.

Times are UTC seconds in `*_s` columns; amounts are whole base units of the row's meter; money is decimal(38,18).
Labels are maps of text; a cost line's labels are its FOCUS columns, its Tags (as `tag.KEY`), `line_type` (the vendor's own word
for the kind of line) and `status`.
"""

import hashlib
import json
from collections.abc import Iterable
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

MONEY = pa.decimal128(38, 18)
WHOLE = pa.decimal128(38, 0)
LABELS = pa.map_(pa.string(), pa.string())
TEXT, SECOND, UNITS = pa.string(), pa.int64(), pa.int64()
STATES = ("up", "drained", "down", "starting")
OUTCOMES = (
    "completed",
    "failed",
    "cancelled",
    "timeout",
    "out_of_memory",
    "preempted",
    "requeued",
    "node_fail",
    "running",
)
COSTS = ("BilledCost", "EffectiveCost", "ContractedCost", "ListCost", "NetCost")  # net: amortised, after every discount
STATUSES = ("estimated", "final")  # of a bill; null where nobody says
CHARGE_CATEGORIES = ("Usage", "Purchase", "Tax", "Credit", "Adjustment")

OWN_TAG = "apportion:"  # before the keys of AllocatedTags that our own exports write, so that none is one of a vendor's
FOCUS_TEXT = (
    "BillingCurrency", "BillingAccountId", "BillingAccountName", "SubAccountId", "SubAccountName", "InvoiceId", "InvoiceIssuerName",
    "ServiceProviderName", "HostProviderName", "ChargeCategory", "ChargeClass", "ChargeFrequency", "ChargeDescription",
    "ServiceCategory", "ServiceSubcategory", "ServiceName", "SkuId", "SkuPriceId", "SkuMeter", "PricingCategory", "PricingUnit", "ConsumedUnit",
    "RegionId", "RegionName", "AvailabilityZone", "ResourceId", "ResourceName", "ResourceType",
    "CommitmentDiscountId", "CommitmentDiscountCategory", "CommitmentDiscountType", "CommitmentDiscountStatus",
    "CapacityReservationId", "CapacityReservationStatus",
    "BillingAccountType", "SubAccountType", "PricingCurrency", "CommitmentDiscountName", "CommitmentDiscountUnit", "InvoiceDetailId",
    "AllocatedMethodId", "AllocatedResourceId", "AllocatedResourceName", "AllocatedMethodDetails", "AllocatedTags",
    "ContractApplied", "SkuPriceDetails", "CommitmentProgramEligibilityDetails",
)  # fmt: skip
FOCUS_NUMBERS = (
    *COSTS, "PricingQuantity", "ConsumedQuantity", "ListUnitPrice", "ContractedUnitPrice", "CommitmentDiscountQuantity",
    "PricingCurrencyEffectiveCost", "PricingCurrencyListUnitPrice", "PricingCurrencyContractedUnitPrice",
)  # fmt: skip
# Columns that books made earlier lack. They stand last, and count for ids and digests only where they say something.
ADDED = (
    "NetCost", "CommitmentDiscountQuantity", "PricingCurrencyEffectiveCost", "PricingCurrencyListUnitPrice", "PricingCurrencyContractedUnitPrice",
    "BillingAccountType", "SubAccountType", "PricingCurrency", "CommitmentDiscountName", "CommitmentDiscountUnit", "InvoiceDetailId",
    "AllocatedMethodId", "AllocatedResourceId", "AllocatedResourceName", "AllocatedMethodDetails", "AllocatedTags",
    "ContractApplied", "SkuPriceDetails", "CommitmentProgramEligibilityDetails", "line_type", "status",
)  # fmt: skip
ADDED_LATER = frozenset({*ADDED, "cluster", "label_set"})  # the same of every table; a delivery may leave them out


def table(*fields: tuple[str, pa.DataType] | tuple[str, pa.DataType, bool]) -> pa.Schema:
    """Fields are required unless a third item says that they may be null."""
    return pa.schema([pa.field(field[0], field[1], nullable=len(field) > 2) for field in fields])


COST_LINES = table(
    ("source", TEXT),
    ("line_id", TEXT),  # stable: hash of the source, the billing period and the row's content and occurrence
    ("charge_start_s", SECOND),
    ("charge_end_s", SECOND),
    ("billing_start_s", SECOND),
    ("billing_end_s", SECOND),
    ("component", TEXT),  # compute, storage, network, licence, energy, support or other
    *((name, MONEY, True) for name in FOCUS_NUMBERS if name not in ADDED),
    *((name, TEXT, True) for name in FOCUS_TEXT if name not in ADDED),
    ("Tags", LABELS),
    ("problem", TEXT, True),  # code of what is wrong with the row; its money is posted to `_unallocated`
    *((name, MONEY if name in FOCUS_NUMBERS else TEXT, True) for name in ADDED),
)
USAGE = table(
    ("source", TEXT),
    ("workload", TEXT),
    ("meter", TEXT),
    ("resource", TEXT),
    ("start_s", SECOND),
    ("end_s", SECOND),
    ("allocated", UNITS, True),  # null: not stated
    ("used", UNITS, True),  # null: not measured
    ("cluster", TEXT, True),  # of the resource; null: not stated
    ("label_set", TEXT, True),  # of the workload's rows, the one whose labels own this row; null: the workload's own
)
CAPACITY = table(
    ("source", TEXT),
    ("resource", TEXT),
    ("meter", TEXT),
    ("start_s", SECOND),
    ("end_s", SECOND),
    ("amount", UNITS),
    ("state", TEXT),
    ("labels", LABELS),
    ("cluster", TEXT, True),  # null: not stated
)
RESERVATIONS = table(
    ("source", TEXT),
    ("reservation", TEXT),
    ("meter", TEXT),
    ("start_s", SECOND),
    ("end_s", SECOND),
    ("amount", UNITS),
    ("labels", LABELS),  # both who holds it (matched by the owner rules) and where (matched by the pools' `usage`)
)
WORKLOADS = table(
    ("source", TEXT),
    ("workload", TEXT),
    ("run", TEXT),  # the job, array or run that this is an attempt or task of; the workload itself where there is none
    ("name", TEXT, True),
    ("start_s", SECOND),
    ("end_s", SECOND),
    ("outcome", TEXT),
    ("labels", LABELS),
    ("label_set", TEXT, True),  # names the labels where rows of one id have several sets of them
)
RATES = table(  # of exchange: on that day one unit of `base` was so much of `currency`
    ("source", TEXT), ("currency", TEXT), ("base", TEXT), ("day", pa.date32()), ("rate", MONEY),
)  # fmt: skip
TABLES = MappingProxyType({
    "cost_lines": COST_LINES, "usage": USAGE, "capacity": CAPACITY, "reservations": RESERVATIONS, "workloads": WORKLOADS,
    "rates": RATES,
})  # fmt: skip

# What one workload owes to one pool for one day: the evidence behind a posting. Quantities stand once for each workload, pool, day and
# currency, so that they add up; `waste` is the money of what was held without use, null where nothing was measured.
CHARGES = table(
    ("period", TEXT),
    ("bill", TEXT),
    ("component", TEXT),
    ("pool", TEXT),
    ("day", pa.date32()),
    ("reason", TEXT),
    ("team", TEXT),
    ("project", TEXT),
    ("user", TEXT),
    ("workload", TEXT),
    ("unit_seconds", WHOLE),
    ("amount", MONEY),
    ("unit", TEXT, True),  # what the quantities are counted in, such as GPU; null for flows
    ("per_unit", WHOLE, True),  # so many counted seconds are one second of one unit
    ("held", WHOLE, True),
    ("used", WHOLE, True),  # of what was measured
    ("unmeasured", WHOLE, True),  # held, and not known whether it was used
    ("waste", MONEY, True),
)

POSTING_KEY = ("period", "bill", "currency", "component", "pool", "day", "reason", "cause",
               "cost_centre", "department", "team", "project", "user")  # fmt: skip
POSTINGS = table(
    *((name, pa.date32() if name == "day" else TEXT) for name in POSTING_KEY),
    ("amount", MONEY),
)
BILL_DAYS = table(  # what the postings of a day must add up to; over the days, the bill
    ("bill", TEXT), ("currency", TEXT), ("component", TEXT), ("day", pa.date32()), ("amount", MONEY),
)  # fmt: skip

# What a period comes to in whole minor units: its postings without their days, apportioned once, from the bill down to the last column.
MINOR_KEY = (
    "bill",
    "currency",
    "cost_centre",
    "department",
    "team",
    "project",
    "user",
    "component",
    "pool",
    "reason",
    "cause",
)
MINOR = table(*((name, TEXT) for name in MINOR_KEY), ("amount", pa.int64()))
# Postings as reports read them: a row of no day is what whole minor units add to the others of its key, or take from them.
RECORDED = table(
    *((name, pa.date32(), True) if name == "day" else (name, TEXT) for name in POSTING_KEY),
    ("amount", MONEY),
)

IDLE, UNALLOCATED, RESIDUAL = "_idle", "_unallocated", "_residual"
SYSTEM_OWNERS = (IDLE, UNALLOCATED, RESIDUAL)
REASONS = ("usage", "burst", "idle", "overhead", "credit", "adjustment", "subsidy", "rounding", "recovery")
IDLE_CAUSES = ("unsold", "reserved", "held", "down")
UNALLOCATED_CAUSES = ("no owner", "no pool", "no demand", "problem")


def complete_columns(rows: pa.Table, schema: pa.Schema) -> pa.Table:
    """The same rows with empty columns where those that were added later are left out."""
    for field in schema:
        if field.name in ADDED_LATER and field.name not in rows.column_names:
            rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
    return rows


def set_of_labels(labels: Iterable[tuple[str, str]]) -> str:
    """The name of a set of labels: the same for the same labels in any order."""
    return hashlib.sha256(json.dumps(sorted(labels), ensure_ascii=False).encode()).hexdigest()[:16]


def held_amounts(usage: pa.Table) -> pa.ChunkedArray:
    """What each row held; where nobody states it, what was used: a row counts by what is stated."""
    return pc.coalesce(usage["allocated"], usage["used"], pa.scalar(0, UNITS))


def empty(name: str) -> pa.Table:
    return TABLES[name].empty_table()
