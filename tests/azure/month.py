"""A month of Azure's charges from a seed, written as its exports are: actual and amortised, in the columns and dates of EA and of MCA.

What must come of it is kept beside each charge, so that the files and the truth are made of one schedule and neither of the other.
"""

import csv
import io
import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal

FIRST, LAST = date(2026, 10, 1), date(2026, 10, 31)
SUBSCRIPTION = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
RESERVATION = "/providers/Microsoft.Capacity/reservationOrders/11111111-aaaa-4bbb-8ccc-222222222222/reservations/r1"
PLAN = "/providers/Microsoft.BillingBenefits/savingsPlanOrders/33333333-aaaa-4bbb-8ccc-444444444444/savingsPlans/s1"
NAMES = {  # our word: the column of an EA, that of an MCA
    "account": ("BillingAccountId", "billingAccountId"),
    "profile": ("BillingProfileId", "billingProfileId"),
    "first": ("BillingPeriodStartDate", "billingPeriodStartDate"),
    "last": ("BillingPeriodEndDate", "billingPeriodEndDate"),
    "subscription": ("SubscriptionId", "SubscriptionId"),
    "day": ("Date", "date"),
    "product": ("Product", "ProductName"),
    "category": ("MeterCategory", "meterCategory"),
    "meter": ("MeterName", "meterName"),
    "quantity": ("Quantity", "quantity"),
    "unit": ("UnitOfMeasure", "unitOfMeasure"),
    "cost": ("Cost", "costInBillingCurrency"),
    "price": ("EffectivePrice", "effectivePrice"),
    "currency": ("BillingCurrency", "billingCurrency"),
    "location": ("ResourceLocation", "resourceLocation"),
    "resource": ("ResourceId", "ResourceId"),
    "group": ("ResourceGroup", "resourceGroupName"),
    "section": ("InvoiceSection", "invoiceSectionName"),
    "center": ("CostCenter", "costCenter"),
    "info": ("AdditionalInfo", "additionalInfo"),
    "tags": ("Tags", "tags"),
    "kind": ("ChargeType", "chargeType"),
    "frequency": ("Frequency", "frequency"),
    "model": ("PricingModel", "pricingModel"),
    "publisher_type": ("PublisherType", "publisherType"),
    "publisher": ("PublisherName", "publisherName"),
    "reservation": ("ReservationId", "reservationId"),
    "benefit": ("benefitId", "benefitId"),
    "rule": ("CostAllocationRuleName", "costAllocationRuleName"),
}
EMPTY_IN_MCA = ("invoiceId", "pricingCurrency", "costInPricingCurrency", "paygCostInBillingCurrency", "exchangeRate")
PLAIN = {"kind": "Usage", "frequency": "UsageBased", "model": "OnDemand", "publisher_type": "Azure", "currency": "USD"}


@dataclass(frozen=True)
class Charge:
    """`actual` and `amortised` are the costs in those exports, None where it does not stand there."""

    cells: Mapping[str, str]
    actual: Decimal | None
    amortised: Decimal | None
    category: str = "Usage"
    class_: str | None = None
    status: str | None = None
    consumed: Decimal | None = None
    tags: Mapping[str, str] = field(default_factory=dict)

    @property
    def truth(self) -> tuple[object, ...]:
        """The line that it must become; costs cut at 15 places, since those of more than 18 may differ in the last."""
        costs = tuple((cost or Decimal(0)).quantize(Decimal("1e-15")) for cost in (self.actual, self.amortised))
        own = {"azure.resource_group": "rg-ml", "azure.invoice_section": "Research", "azure.cost_center": "4711"}
        return (
            self.cells["day"], self.category, self.class_, self.status, *costs, self.consumed,
            self.cells.get("benefit"), self.cells["resource"].lower(), tuple(sorted({**self.tags, **own}.items())),
        )  # fmt: skip


def amount(dice: random.Random, places: int) -> Decimal:
    return Decimal(dice.randrange(1, 10 ** (places + 2))).scaleb(-places)


def made(seed: int) -> list[Charge]:
    """Ordinary and covered usage every day, and once each of what is rare."""
    dice = random.Random(seed)
    charges: list[Charge] = []
    for number in range((LAST - FIRST).days + 1):
        day = FIRST + timedelta(days=number)
        charges += [ordinary(dice, day) for _ in range(4)]
        charges += covered(dice, day, "Reservation", RESERVATION) + covered(dice, day, "SavingsPlan", PLAN)
    for kind, actual in (("Purchase", "2976.00"), ("Refund", "-120.5")):
        cells = {"kind": kind, "frequency": "OneTime", "model": "Reservation", "benefit": RESERVATION}
        charges.append(special(FIRST, cells, Decimal(actual), None, "Purchase"))
    for hour in range(24):
        cells = {"kind": "Purchase", "frequency": "Recurring", "model": "SavingsPlan", "benefit": PLAN}
        charges.append(special(FIRST, cells, Decimal("1.25") + hour, None, "Purchase"))
    sold = {"kind": "Purchase", "frequency": "Recurring", "publisher_type": "Marketplace", "publisher": "Red Hat"}
    charges.append(special(LAST, sold, Decimal(310), Decimal(310), "Purchase"))
    back = amount(dice, 2)
    charges.append(special(LAST, {"kind": "Refund", "frequency": "OneTime"}, -back, -back, "Purchase"))
    cent = Decimal("-0.004999999999999999999999")
    charges.append(special(LAST, {"kind": "RoundingAdjustment"}, cent, cent, "Adjustment"))
    charges.append(special(LAST, {"kind": "Tax"}, Decimal("77.07"), Decimal("77.07"), "Tax"))
    return charges


def ordinary(dice: random.Random, day: date) -> Charge:
    unit, size = dice.choice([("1 Hour", 1), ("10 GB", 10), ("100 Hours", 100), ("10K", 10_000), ("1 GB/Month", 1)])
    cost, quantity = amount(dice, dice.choice([2, 6, 18, 24])), amount(dice, 6)
    tags = dice.choice([{}, {"team": "vision"}, {"team": "speech", "why": 'a "b", c'}])
    cells = {"unit": unit, "quantity": f"{quantity:f}", "model": dice.choice(["OnDemand", "Spot"])}
    node = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-ml/providers/Microsoft.Compute/virtualMachines/N{dice.randrange(3)}"
    return charge(day, {**cells, "resource": node}, cost, cost, consumed=quantity * size, tags=tags)


def covered(dice: random.Random, day: date, model: str, benefit: str) -> list[Charge]:
    """24 hours of a node by a commitment, paid elsewhere, and what the commitment had left."""
    used, left = amount(dice, 8), amount(dice, 8)
    cells = {"model": model, "benefit": benefit, "unit": "1 Hour", "quantity": "24"}
    node = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/rg-ml/providers/Microsoft.Compute/virtualMachines/N1"
    hours = {**cells, "resource": node}
    return [
        charge(day, hours, Decimal(0), used, status="Used", consumed=Decimal(24), tags={"team": "vision"}),
        charge(day, {**cells, "kind": f"Unused{model}", "quantity": "1"}, None, left, status="Unused"),
    ]  # fmt: skip


def special(day: date, cells: Mapping[str, str], actual: Decimal, amortised: Decimal | None, category: str) -> Charge:
    class_ = "Correction" if cells["kind"] == "Refund" else None
    return charge(day, {"quantity": "1", **cells}, actual, amortised, category=category, class_=class_)


def charge(
    day: date, cells: Mapping[str, str], actual: Decimal | None, amortised: Decimal | None, /, **truth: object
) -> Charge:
    fixed = {
        "day": day.isoformat(), "account": "8611537", "profile": "8611537", "subscription": SUBSCRIPTION, "section": "Research",
        "center": "4711", "group": "rg-ml", "category": "Virtual Machines", "meter": "ND96", "location": "westeurope", "resource": "",
    }  # fmt: skip
    return Charge({**fixed, **PLAIN, **cells}, actual, amortised, **truth)  # type: ignore[arg-type]


def american(day: date) -> str:
    return f"{day.month}/{day.day}/{day.year}"


def padded(day: date) -> str:
    return f"{day:%m/%d/%Y}"


@dataclass(frozen=True)
class Writer:
    """How an agreement's files look: 0 is EA, 1 is MCA."""

    agreement: int
    dates: Callable[[date], str]

    def text(self, charges: Iterable[Charge], dataset: str) -> str:
        rows = [self.row(one, getattr(one, dataset)) for one in charges if getattr(one, dataset) is not None]
        out = io.StringIO()
        columns = [pair[self.agreement] for pair in NAMES.values()] + list(EMPTY_IN_MCA if self.agreement else ())
        writer = csv.DictWriter(out, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()

    def row(self, one: Charge, cost: Decimal) -> dict[str, str]:
        tags = json.dumps(dict(one.tags))
        bare = tags[1:-1] if self.agreement == 0 else tags
        cells = {
            **one.cells,
            "day": self.dates(date.fromisoformat(one.cells["day"])),
            "first": self.dates(FIRST),
            "last": self.dates(LAST),
            "cost": f"{cost:f}",
            "tags": bare if one.tags else "",
        }
        return {pair[self.agreement]: cells.get(ours, "") for ours, pair in NAMES.items()}


WRITERS = {
    "EA, M/D/YYYY": Writer(0, american),
    "EA, MM/DD/YYYY": Writer(0, padded),
    "MCA, YYYY-MM-DD": Writer(1, date.isoformat),
    "MCA, YYYYMMDD": Writer(1, lambda day: f"{day:%Y%m%d}"),
    "MCA, with a time": Writer(1, lambda day: f"{day:%Y-%m-%d}T00:00:00Z"),
}


def total(charges: Iterable[Charge], dataset: str) -> Decimal:
    """What the books can hold of the file's sum."""
    found = sum((cost for one in charges if (cost := getattr(one, dataset)) is not None), Decimal(0))
    return found.quantize(Decimal("1e-18"))


def shuffled(charges: Sequence[Charge], seed: int) -> list[Charge]:
    return random.Random(seed).sample(list(charges), len(charges))
