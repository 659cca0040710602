"""The columns of FOCUS 1.0 to 1.4, Cost and Usage: since which version, until which, whether a file must have them, and what they hold.

Facts from the specification (https://focus.finops.org), whose versions differ in columns alone: what 1.0 made mandatory is so in 1.4, but
for ProviderName and PublisherName, which 1.3 replaced and 1.4 removed. The version of a file follows from the columns that it has.
"""

from collections.abc import Collection
from dataclasses import dataclass

VERSIONS = ("1.0", "1.1", "1.2", "1.3", "1.4")
MANDATORY, CONDITIONAL, RECOMMENDED = "mandatory", "conditional", "recommended"
TABLE = """
1.0  -    mandatory    filled  BilledCost:decimal BillingAccountId BillingCurrency BillingPeriodEnd:time BillingPeriodStart:time
1.0  -    mandatory    filled  ChargeCategory ChargePeriodEnd:time ChargePeriodStart:time ContractedCost:decimal EffectiveCost:decimal
1.0  -    mandatory    filled  InvoiceIssuerName ListCost:decimal ServiceCategory ServiceName
1.0  -    mandatory    empty   BillingAccountName ChargeClass ChargeDescription PricingQuantity:decimal PricingUnit
1.0  1.3  mandatory    filled  ProviderName PublisherName
1.0  -    conditional  empty   CommitmentDiscountCategory CommitmentDiscountId CommitmentDiscountName CommitmentDiscountStatus
1.0  -    conditional  empty   CommitmentDiscountType ConsumedQuantity:decimal ConsumedUnit ContractedUnitPrice:decimal ListUnitPrice:decimal
1.0  -    conditional  empty   PricingCategory RegionId RegionName ResourceId ResourceName ResourceType SkuId SkuPriceId
1.0  -    conditional  empty   SubAccountId SubAccountName Tags:json
1.0  -    recommended  empty   AvailabilityZone
1.0  -    recommended  filled  ChargeFrequency
1.1  -    conditional  empty   CapacityReservationId CapacityReservationStatus CommitmentDiscountQuantity:decimal CommitmentDiscountUnit
1.1  -    conditional  empty   SkuMeter SkuPriceDetails:json
1.1  -    recommended  filled  ServiceSubcategory
1.2  -    conditional  filled  BillingAccountType PricingCurrency PricingCurrencyEffectiveCost:decimal
1.2  -    conditional  empty   InvoiceId SubAccountType PricingCurrencyContractedUnitPrice:decimal PricingCurrencyListUnitPrice:decimal
1.3  -    mandatory    filled  ServiceProviderName
1.3  -    mandatory    empty   HostProviderName
1.3  -    conditional  empty   AllocatedMethodId AllocatedResourceId AllocatedResourceName AllocatedTags:json ContractApplied:json
1.3  -    recommended  empty   AllocatedMethodDetails:json
1.4  -    conditional  empty   CommitmentProgramEligibilityDetails:json InvoiceDetailId
"""


@dataclass(frozen=True, slots=True)
class Column:
    """`until` is the last version that had it, "" for those that still do; `empty` says whether its cells may be."""

    name: str
    kind: str
    since: str
    until: str
    level: str
    empty: bool


def listed(table: str) -> dict[str, Column]:
    found = {}
    for line in table.strip().splitlines():
        since, until, level, cells, *names = line.split()
        for name, _, kind in (word.partition(":") for word in names):
            found[name] = Column(name, kind or "text", since, until.strip("-"), level, cells == "empty")
    return found


COLUMNS = listed(TABLE)


def columns_of(version: str) -> list[Column]:
    """Those that a version knows."""
    return [one for one in COLUMNS.values() if one.since <= version and (not one.until or version <= one.until)]


def version_of(names: Collection[str]) -> str:
    """The oldest version that has all of the columns."""
    return max((COLUMNS[name].since for name in names if name in COLUMNS), default=VERSIONS[0])


def contradiction(stated: str, names: Collection[str]) -> str:
    """Why a file with these columns cannot be of the version stated, "" where it can."""
    newer = sorted(name for name in names if name in COLUMNS and COLUMNS[name].since > stated)
    if newer:
        return f"it has {newer[0]}, which came with {COLUMNS[newer[0]].since}"
    lacking = sorted(
        one.name for one in columns_of(stated) if one.level == MANDATORY and one.since > "1.0" and one.name not in names
    )
    return f"it lacks {lacking[0]}, which is mandatory since {COLUMNS[lacking[0]].since}" if lacking else ""
