"""Which of a file's columns is which. Azure's names vary by agreement (EA, MCA, pay-as-you-go), by year, and in case."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apportion.sources.bills.vendors import refuse_others
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import missing_columns

# Our word for a column, and what files call it, the preferred name first; letters only, in lower case.
# From the schemas of Cost Management's exports (actual and amortised costs, c360-2025-04) and the files of older agreements.
NAMES: Mapping[str, tuple[str, ...]] = {
    "cost": ("costinbillingcurrency", "cost", "pretaxcost", "extendedcost"),
    "currency": ("billingcurrencycode", "billingcurrency", "currency"),
    "date": ("date", "usagedatetime", "usagedate"),
    "billing_start": ("billingperiodstartdate", "billingperiodstart"),
    "billing_end": ("billingperiodenddate", "billingperiodend"),
    "profile": ("billingprofileid",),
    "profile_name": ("billingprofilename",),
    "account": ("billingaccountid", "enrollmentnumber"),
    "account_name": ("billingaccountname",),
    "subscription": ("subscriptionguid", "subscriptionid"),  # where both stand, the id is a number of older times
    "subscription_name": ("subscriptionname",),
    "owner_account": ("accountname",),
    "section": ("invoicesectionname", "invoicesection"),
    "cost_center": ("costcenter",),
    "invoice": ("invoiceid",),
    "resource": ("resourceid", "instanceid"),
    "resource_name": ("resourcename",),
    "resource_group": ("resourcegroup", "resourcegroupname"),
    "location": ("resourcelocation", "resourcelocationnormalized", "location"),
    "zone": ("availabilityzone",),
    "category": ("metercategory",),
    "family": ("servicefamily",),
    "meter": ("metername",),
    "meter_id": ("meterid",),
    "product": ("productname", "product"),
    "product_id": ("productid",),
    "order_name": ("productordername",),
    "part_number": ("partnumber",),
    "quantity": ("quantity", "usagequantity", "consumedquantity"),
    "unit": ("unitofmeasure",),
    "unit_price": ("unitprice", "resourcerate"),
    "list_price": ("paygprice",),
    "list_cost": ("paygcostinbillingcurrency",),
    "pricing_currency": ("pricingcurrencycode", "pricingcurrency"),
    "pricing_cost": ("costinpricingcurrency",),
    "charge_type": ("chargetype",),
    "frequency": ("frequency",),
    "pricing_model": ("pricingmodel",),
    "publisher_type": ("publishertype",),
    "publisher": ("publishername",),
    "reservation": ("reservationid",),
    "reservation_name": ("reservationname",),
    "benefit": ("benefitid",),
    "benefit_name": ("benefitname",),
    "tags": ("tags",),
    "info": ("additionalinfo",),
    "rule": ("costallocationrulename",),
}
REQUIRED = {"cost": "CostInBillingCurrency", "currency": "BillingCurrency", "date": "Date", "category": "MeterCategory"}


@dataclass(frozen=True, slots=True)
class Layout:
    """`columns` names the file's column for each of our words that it has."""

    agreement: str
    columns: Mapping[str, str]


def layout(header: Sequence[str], file: InputFile) -> Layout:
    """Refuses a file that lacks what no cost file of Azure lacks."""
    folded = {letters(name): name for name in reversed(header)}
    columns = {
        ours: folded[found]
        for ours, names in NAMES.items()
        if (found := next((name for name in names if name in folded), None))
    }
    missing = [REQUIRED[ours] for ours in REQUIRED if ours not in columns]
    if missing:
        refuse_others(header, file, "azure")
        raise missing_columns(missing, header, file)
    return Layout(agreement(columns), columns)


def agreement(columns: Mapping[str, str]) -> str:
    if "pricing_cost" in columns or "pricing_currency" in columns:
        return "MCA"
    return "EA" if "account" in columns else "pay-as-you-go"


def letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())
