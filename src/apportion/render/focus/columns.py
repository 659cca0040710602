"""The columns of a FOCUS export, in their order: FOCUS's own by name, then ours."""

from types import MappingProxyType

import pyarrow as pa

TEXT = pa.string()
EXACT = pa.decimal128(38, 18)  # what was posted, and prices
COST = pa.decimal128(38, 12)
QUANTITY = pa.decimal128(38, 15)

COSTS = (
    "BilledCost",
    "ContractedCost",
    "ListCost",
)  # of 12 places; a tax or credit is billed as it is effective, with every place
QUANTITIES = ("ConsumedQuantity", "PricingQuantity")
NUMBERS = MappingProxyType({
    "EffectiveCost": EXACT, "PricingCurrencyEffectiveCost": EXACT, **dict.fromkeys(COSTS, COST), "BilledCost": EXACT,
    **dict.fromkeys((*QUANTITIES, "CommitmentDiscountQuantity"), QUANTITY),
    **dict.fromkeys(("ContractedUnitPrice", "ListUnitPrice", "PricingCurrencyContractedUnitPrice", "PricingCurrencyListUnitPrice"), EXACT),
})  # fmt: skip
ALLOCATED = (
    "AllocatedMethodDetails",
    "AllocatedMethodId",
    "AllocatedResourceId",
    "AllocatedResourceName",
    "AllocatedTags",
)
DEPRECATED = ("ProviderName", "PublisherName")  # of 1.2; 1.4's rules still ask for them
FOCUS = (
    *ALLOCATED, "AvailabilityZone", "BilledCost", "BillingAccountId", "BillingAccountName", "BillingAccountType", "BillingCurrency",
    "BillingPeriodEnd", "BillingPeriodStart", "CapacityReservationId", "CapacityReservationStatus", "ChargeCategory", "ChargeClass",
    "ChargeDescription", "ChargeFrequency", "ChargePeriodEnd", "ChargePeriodStart", "CommitmentDiscountCategory", "CommitmentDiscountId",
    "CommitmentDiscountName", "CommitmentDiscountQuantity", "CommitmentDiscountStatus", "CommitmentDiscountType", "CommitmentDiscountUnit",
    "CommitmentProgramEligibilityDetails", "ConsumedQuantity", "ConsumedUnit", "ContractApplied", "ContractedCost", "ContractedUnitPrice",
    "EffectiveCost", "HostProviderName", "InvoiceDetailId", "InvoiceId", "InvoiceIssuerName", "ListCost", "ListUnitPrice", "PricingCategory",
    "PricingCurrency", "PricingCurrencyContractedUnitPrice", "PricingCurrencyEffectiveCost", "PricingCurrencyListUnitPrice", "PricingQuantity",
    "PricingUnit", *DEPRECATED, "RegionId", "RegionName", "ResourceId", "ResourceName", "ResourceType", "ServiceCategory", "ServiceName",
    "ServiceProviderName", "ServiceSubcategory", "SkuId", "SkuMeter", "SkuPriceDetails", "SkuPriceId", "SubAccountId", "SubAccountName",
    "SubAccountType", "Tags",
)  # fmt: skip
OWNER = MappingProxyType({  # ours, by the column of a posting
    "cost_centre": "x_CostCentreName", "department": "x_DepartmentName", "team": "x_TeamName", "project": "x_ProjectName", "user": "x_UserName",
})  # fmt: skip
KEY = MappingProxyType({
    "bill": "x_BillName", "pool": "x_PoolName", "component": "x_ComponentName", "day": "x_ServiceDay", "about": "x_CorrectedPeriod",
    "reason": "x_Reason", "cause": "x_Cause",
})  # fmt: skip
ORIGIN = "x_OriginChargeId"
OURS = tuple(sorted([*OWNER.values(), *KEY.values(), ORIGIN, "x_SourceLineId"]))

SINCE_1_2 = (
    *ALLOCATED,
    "CommitmentProgramEligibilityDetails",
    "ContractApplied",
    "HostProviderName",
    "InvoiceDetailId",
    "ServiceProviderName",
)
VERSIONS = ("1.4", "1.2")
SCHEMA = pa.schema([pa.field(name, NUMBERS.get(name, TEXT)) for name in (*FOCUS, *OURS)])

PERIODS = pa.schema([
    pa.field(name, TEXT) for name in (
        "BillingPeriodCreated", "BillingPeriodEnd", "BillingPeriodLastUpdated", "BillingPeriodStart", "BillingPeriodStatus", "InvoiceIssuerName",
    )
])  # fmt: skip


def in_version(table: pa.Table, version: str) -> pa.Table:
    """What 1.2 does not know of splits becomes a column of ours; the rest that it does not know goes."""
    if version == VERSIONS[0]:
        return table
    kept = [name for name in FOCUS if name not in SINCE_1_2]
    ours = {f"x_{name}": name for name in (*ALLOCATED, "HostProviderName")} | {name: name for name in OURS}
    return table.select([*kept, *(ours[name] for name in sorted(ours))]).rename_columns([*kept, *sorted(ours)])
