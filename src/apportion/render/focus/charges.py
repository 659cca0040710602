"""What was booked as FOCUS charges: our own origin charges, one per bill, pool, component and day, and the postings that they are split into.

Transfers between owners and corrections of closed months are origins of their own, since FOCUS gives them another category or class. The
origin of a split is the sum of its rows, column by column, so nothing is left over.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import CREDIT, RECLASS
from apportion.engine.wide import Whole, starts_of
from apportion.model.currencies import MINOR_DIGITS
from apportion.model.kinds import kinds
from apportion.model.times import Interval, Period, day_start, instant_text
from apportion.render.focus.columns import COST, COSTS, EXACT, ORIGIN, QUANTITIES, QUANTITY, SCHEMA
from apportion.render.focus.numbers import attos, costs_of, decimals, prices, quantities, summed
from apportion.render.focus.owners import QUANTITY_UNIT, allocated_columns, quoted

TRANSFERS = ("credit", "adjustment", "subsidy")  # reasons: between owners, whatever the bill
USAGE, ADJUSTMENT, CORRECTION = "Usage", "Adjustment", "Correction"
ORIGIN_KEY = ("bill", "currency", "pool", "component", "day", "category", "about")
NO_POOL = "no pool"
SERVICES = {
    "compute": ("Compute", "Other (Compute)"),
    "storage": ("Storage", "Other (Storage)"),
    "network": ("Networking", "Other (Networking)"),
    "support": ("Management and Governance", "Support"),
}


@dataclass(frozen=True, slots=True)
class Issue:
    """Who issues the charges, of which month, and by what method each pool is shared."""

    period: Period
    zone: ZoneInfo
    issuer: str
    account: str
    methods: Mapping[str, str]

    @property
    def billing(self) -> Interval:
        return self.period.interval(self.zone)

    def charge_period(self, day: date) -> Interval:
        """A day of the month; what is of another day takes effect over the month that it is booked in, and says its day beside."""
        own = Interval(day_start(day, self.zone), day_start(day + timedelta(days=1), self.zone))
        inside = own.seconds and self.billing.start_s <= own.start_s and own.end_s <= self.billing.end_s
        return own if inside else self.billing


@dataclass(frozen=True, slots=True)
class Split:
    """Origin charges and what they are split into; both have all columns."""

    origins: pa.Table
    rows: pa.Table


def money_of(booked: pa.Table) -> pa.Table:
    """Carbon and energy are no cost and stay out."""
    return booked.filter(pc.is_in(booked["currency"], pa.array(MINOR_DIGITS)))


def split(booked: pa.Table, issue: Issue) -> Split:
    """Money that was booked (schema BOOKED), as charges."""
    rows = with_categories(booked)
    rows = rows.sort_by([(name, "ascending") for name in (*ORIGIN_KEY, *booked.column_names)])
    if not len(rows):
        return Split(SCHEMA.empty_table(), SCHEMA.empty_table())
    first = starts_of(kinds([rows[name] for name in ORIGIN_KEY], len(rows)).of)
    group = np.repeat(np.arange(len(first)), np.diff(first, append=len(rows)))
    keys = rows.select(ORIGIN_KEY).take(pa.array(first)).to_pylist()
    dimensions = [dimensions_of(key, issue) for key in keys]
    amounts = attos(rows["amount"])
    seconds = np.array([issue.charge_period(key["day"]).seconds for key in keys])
    each, price = numbers_of(amounts, first, group, seconds)
    adjusts = np.array([key["category"] == ADJUSTMENT for key in keys])
    shared = {name: column(name, dimensions) for name in SCHEMA.names}
    shared |= priced(price)
    origins = shared | metrics({name: summed(numbers, first) for name, numbers in each.items()}, adjusts)
    own = {name: values.take(pa.array(group)) for name, values in shared.items()}
    own |= metrics(each, adjusts[group]) | allocated_columns(rows, amounts, (first, group), issue.methods)
    return Split(*(pa.table([made[name] for name in SCHEMA.names], schema=SCHEMA) for made in (origins, own)))


def with_categories(booked: pa.Table) -> pa.Table:
    """What FOCUS calls each row: told once for each kind of run and reason."""
    transfers = pc.or_(
        pc.is_in(booked["kind"], pa.array([CREDIT, RECLASS])), pc.is_in(booked["reason"], pa.array(TRANSFERS))
    )
    return booked.append_column("category", pc.if_else(transfers, ADJUSTMENT, USAGE))


def numbers_of(
    amounts: Whole, first: np.ndarray, group: np.ndarray, seconds: np.ndarray
) -> tuple[dict[str, Whole], Whole]:
    """The summable metrics of each row, and each origin's price of a second."""
    costs = costs_of(amounts)
    price = prices(costs, first, seconds)
    return {"amount": amounts, "cost": costs, "quantity": quantities(costs, price[group])}, price


def metrics(numbers: Mapping[str, Whole], adjusts: np.ndarray) -> dict[str, pa.Array]:
    exact = decimals(numbers["amount"], EXACT)
    cost = decimals(numbers["cost"], EXACT).cast(COST)
    quantity = decimals(numbers["quantity"], QUANTITY)
    made = {
        "EffectiveCost": exact,
        "PricingCurrencyEffectiveCost": exact,
        **dict.fromkeys(COSTS, cost),
        "BilledCost": cost.cast(EXACT),
    }
    made |= dict.fromkeys(QUANTITIES, quantity)
    made["ConsumedQuantity"] = pc.if_else(pa.array(adjusts), pa.scalar(None, QUANTITY), quantity)  # only usage consumes
    return made


def priced(price: Whole) -> dict[str, pa.Array]:
    unit = decimals(price, EXACT)
    names = (
        "ContractedUnitPrice",
        "ListUnitPrice",
        "PricingCurrencyContractedUnitPrice",
        "PricingCurrencyListUnitPrice",
    )
    return dict.fromkeys(names, unit)


def column(name: str, dimensions: Sequence[Mapping[str, str | None]]) -> pa.Array:
    return pa.array([one.get(name) for one in dimensions], SCHEMA.field(name).type)


def dimensions_of(key: Mapping[str, Any], issue: Issue) -> dict[str, str | None]:
    """All that an origin says in words; its rows say the same."""
    pool, component, day = key["pool"], key["component"], key["day"]
    usage = key["category"] == USAGE
    category, subcategory = SERVICES.get(component, ("Other", "Other (Other)"))
    charged = issue.charge_period(day)
    service = f"{pool or NO_POOL} {component}"  # FOCUS wants each service in one category
    parts = [str(issue.period), key["bill"], pool, component, str(day), key["category"], key["about"]]
    origin = "/".join(quoted(part) for part in parts).rstrip("/")
    return {
        "BillingAccountId": issue.account,
        "BillingAccountName": issue.issuer,
        "BillingAccountType": "Internal",
        "BillingCurrency": key["currency"],
        "PricingCurrency": key["currency"],
        "BillingPeriodStart": instant_text(issue.billing.start_s),
        "BillingPeriodEnd": instant_text(issue.billing.end_s),
        "ChargePeriodStart": instant_text(charged.start_s),
        "ChargePeriodEnd": instant_text(charged.end_s),
        "ChargeCategory": key["category"],
        "ChargeClass": CORRECTION if key["about"] else None,
        "ChargeDescription": f"{'Cost' if usage else 'Transfers'} of {service} on {day}, from {key['bill']}",
        "ChargeFrequency": "Usage-Based" if usage else "One-Time",
        "ConsumedUnit": QUANTITY_UNIT if usage else None,
        "PricingUnit": QUANTITY_UNIT,
        "PricingCategory": "Dynamic",
        "HostProviderName": host_of(key["bill"]),
        "InvoiceIssuerName": issue.issuer,
        "ServiceProviderName": issue.issuer,
        "ProviderName": issue.issuer,
        "PublisherName": issue.issuer,
        "ResourceId": pool or None,
        "ResourceName": pool or None,
        "ResourceType": "Pool" if pool else None,
        "ServiceName": service,
        "ServiceCategory": category,
        "ServiceSubcategory": subcategory,
        "SkuId": "/".join((quoted(pool or NO_POOL), quoted(component))),
        "SkuMeter": component,
        "SkuPriceId": origin,
        "x_BillName": key["bill"],
        "x_PoolName": pool or None,
        "x_ComponentName": component,
        "x_ServiceDay": str(day),
        "x_CorrectedPeriod": key["about"] or None,
        ORIGIN: origin,
    }


def host_of(bill: str) -> str:
    """A bill is named by who issued it, its month and its currency."""
    return bill.rsplit(" ", 2)[0]
