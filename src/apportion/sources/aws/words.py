"""AWS's line item types in FOCUS words, and what each costs when commitments are spread over what they cover.

The columns under `amortised` are added, those with a minus taken off; none of them means nothing, None the unblended cost. These are the
rules of AWS's Cloud Intelligence Dashboards. A `Fee` is a commitment's only where it names a reservation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

PLAN, RESERVATION = "Savings Plan", "Reserved Instance"
ARN = MappingProxyType({PLAN: "savings_plan_savings_plan_a_r_n", RESERVATION: "reservation_reservation_a_r_n"})
SPENT_ON = MappingProxyType({PLAN: "Spend", RESERVATION: "Usage"})  # CommitmentDiscountCategory


@dataclass(frozen=True, slots=True)
class LineType:
    category: str
    frequency: str
    pricing: str | None = None
    commitment: str | None = None
    status: str | None = None  # Unused: of the part that the line carries, if it carries any
    amortised: tuple[str, ...] | None = None
    correction: bool = False


USED_PLAN = ("savings_plan_savings_plan_effective_cost",)
UNUSED_PLAN = ("savings_plan_total_commitment_to_date", "-savings_plan_used_commitment")
USED_RESERVATION = ("reservation_effective_cost",)
UNUSED_RESERVATION = (
    "reservation_unused_amortized_upfront_fee_for_billing_period",
    "reservation_unused_recurring_fee",
)
ADJUSTMENT = LineType("Adjustment", "Usage-Based")

# fmt: off
LINE_TYPES: Mapping[str, LineType] = MappingProxyType({
    "Usage":                   LineType("Usage", "Usage-Based", "Standard"),
    "DiscountedUsage":         LineType("Usage", "Usage-Based", "Committed", RESERVATION, "Used", USED_RESERVATION),
    "SavingsPlanCoveredUsage": LineType("Usage", "Usage-Based", "Committed", PLAN, "Used", USED_PLAN),
    "SavingsPlanNegation":     LineType("Usage", "Usage-Based", "Committed", PLAN, None, ()),
    "SavingsPlanUpfrontFee":   LineType("Purchase", "One-Time", "Standard", PLAN, None, ()),
    "SavingsPlanRecurringFee": LineType("Purchase", "Recurring", "Standard", PLAN, "Unused", UNUSED_PLAN),
    "RIFee":                   LineType("Purchase", "Recurring", "Standard", RESERVATION, "Unused", UNUSED_RESERVATION),
    "Fee":                     LineType("Purchase", "One-Time", "Standard", RESERVATION, None, ()),
    "Tax":                     LineType("Tax", "Usage-Based"),
    "Credit":                  LineType("Credit", "One-Time", "Other"),
    "Refund":                  LineType("Adjustment", "One-Time", correction=True),
    "EdpDiscount":             ADJUSTMENT,
    "BundledDiscount":         ADJUSTMENT,
    "PrivateRateDiscount":     ADJUSTMENT,
    "DistributorDiscount":     ADJUSTMENT,
    "RiVolumeDiscount":        ADJUSTMENT,
    "SppDiscount":             ADJUSTMENT,
    "Discount":                ADJUSTMENT,
})
# fmt: on
UNKNOWN = LineType("Adjustment", "One-Time")  # keeps its money and is marked

NET = MappingProxyType({  # the same after every discount; AWS has none for the unused part of a savings plan
    "savings_plan_savings_plan_effective_cost": "savings_plan_net_savings_plan_effective_cost",
    "reservation_effective_cost": "reservation_net_effective_cost",
    "reservation_unused_amortized_upfront_fee_for_billing_period": "reservation_net_unused_amortized_upfront_fee_for_billing_period",
    "reservation_unused_recurring_fee": "reservation_net_unused_recurring_fee",
})  # fmt: skip


def line_type(word: str | None) -> LineType:
    return LINE_TYPES.get(word or "", UNKNOWN)


def amortising(commitment: str) -> set[str]:
    """All columns that it takes to amortise one kind of commitment."""
    own = [kind.amortised or () for kind in LINE_TYPES.values() if kind.commitment == commitment]
    return {column.lstrip("-") for columns in own for column in columns} | {ARN[commitment]}
