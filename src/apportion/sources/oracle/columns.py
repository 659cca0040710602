"""A cost report's columns as FOCUS columns.

    BilledCost, EffectiveCost, ContractedCost   cost/myCost; what is overage (cost/myCostOverage) is part of it, not beside it
    ContractedUnitPrice                         cost/unitPrice; Oracle tells no list price
    ChargeCategory, ChargeClass                 Usage; Correction where lineItem/isCorrection says so
    billing period                              the UTC month in which the usage begins: a report names none
    BillingAccountId, SubAccountId              tenancy, compartment
    Tags                                        the columns tags/NAMESPACE.KEY, as NAMESPACE.KEY

A correction names what it corrects by number; it keeps that as the tag `oracle.backreferenceNo`.
"""

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import SECOND
from apportion.sources.bills.form import COST, CURRENCY, TIME, Form, Lines
from apportion.sources.bills.part import Part
from apportion.sources.bills.placing import month
from apportion.sources.bills.vendors import refuse_others
from apportion.sources.cells.labels import labels_from_columns
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import missing_columns

ISSUER = "Oracle"
REQUIRED = (
    "lineItem/tenantId", "lineItem/intervalUsageStart", "lineItem/intervalUsageEnd", "product/service", "cost/myCost", "cost/currencyCode",
)  # fmt: skip
TEXTS = {  # FOCUS column: theirs
    "BillingAccountId": "lineItem/tenantId",
    "SubAccountId": "product/compartmentId",
    "SubAccountName": "product/compartmentName",
    "ServiceName": "product/service",
    "RegionId": "product/region",
    "AvailabilityZone": "product/availabilityDomain",
    "ResourceId": "product/resourceId",
    "ChargeDescription": "product/Description",
    "SkuId": "cost/productSku",
    "PricingUnit": "cost/skuUnitDescription",
    "ConsumedUnit": "cost/skuUnitDescription",
    "BillingCurrency": "cost/currencyCode",
}
NUMBERS = {
    "BilledCost": "cost/myCost",
    "EffectiveCost": "cost/myCost",
    "ContractedCost": "cost/myCost",
    "ContractedUnitPrice": "cost/unitPrice",
    "PricingQuantity": "usage/billedQuantity",
    "ConsumedQuantity": "usage/billedQuantity",
}
TYPED = {
    "cost/myCost": COST,
    "cost/currencyCode": CURRENCY,
    "lineItem/intervalUsageStart": TIME,
    "lineItem/intervalUsageEnd": TIME,
}
CORRECTION, BACK = "lineItem/isCorrection", "lineItem/backreferenceNo"
TAGS = "tags/"
CATEGORIES = {  # by the beginning of product/service
    "COMPUTE": "Compute", "CONTAINER": "Compute", "OKE": "Compute", "FUNCTIONS": "Compute", "VMWARE": "Compute",
    "BLOCK": "Storage", "OBJECT": "Storage", "FILE": "Storage", "ARCHIVE": "Storage", "LUSTRE": "Storage",
    "NETWORK": "Networking", "LOAD": "Networking", "VCN": "Networking", "FASTCONNECT": "Networking", "DNS": "Networking", "WAF": "Networking",
    "DATABASE": "Databases", "MYSQL": "Databases", "NOSQL": "Databases", "POSTGRESQL": "Databases", "AUTONOMOUS": "Databases",
    "DATA_SCIENCE": "AI and Machine Learning", "DATASCIENCE": "AI and Machine Learning",
    "GENERATIVE": "AI and Machine Learning", "AI": "AI and Machine Learning",
    "TELEMETRY": "Management and Governance", "LOGGING": "Management and Governance", "MONITORING": "Management and Governance",
    "KEY": "Security", "VAULT": "Security", "BASTION": "Security",
}  # fmt: skip


def form_of(header: Sequence[str], file: InputFile) -> Form:
    refuse_others(header, file, "oracle")
    missing = [name for name in REQUIRED if name not in header]
    if missing:
        raise missing_columns(missing, header, file, "is it a cost report (cost-csv), and no usage report (usage-csv)?")
    tags = [name for name in header if name.startswith(TAGS)]
    known = {*TEXTS.values(), *NUMBERS.values(), *REQUIRED, CORRECTION, BACK}
    wanted = (*(name for name in header if name in known), *tags)

    def translate(part: Part) -> Lines:
        return Lines(cells(part, tags), names={**TEXTS, **NUMBERS})

    return Form("Oracle cost report", wanted, translate, typed=TYPED)


def cells(part: Part, tags: Sequence[str]) -> dict[str, pa.Array]:
    corrects = pc.fill_null(pc.equal(pc.utf8_lower(part.text(CORRECTION)), "true"), fill_value=False)
    labels = {name.removeprefix(TAGS): part.text(name) for name in tags}
    labels["oracle.backreferenceNo"] = pc.if_else(corrects, part.text(BACK), None)
    starts = part.instants("lineItem/intervalUsageStart")
    first, last = months_of(starts)
    return {
        **{name: part.cells(column) for name, column in {**TEXTS, **NUMBERS}.items()},
        "InvoiceIssuerName": pa.repeat(pa.scalar(ISSUER), part.count),
        "ServiceCategory": categories(part.text("product/service")),
        "ChargeCategory": pa.repeat(pa.scalar("Usage"), part.count),
        "ChargeClass": pc.if_else(corrects, "Correction", pa.scalar(None, pa.string())),
        "ChargeFrequency": pa.repeat(pa.scalar("Usage-Based"), part.count),
        "Tags": labels_from_columns(part.count, labels),
        "ChargePeriodStart": starts,
        "ChargePeriodEnd": part.instants("lineItem/intervalUsageEnd"),
        "BillingPeriodStart": first,
        "BillingPeriodEnd": last,
    }


def categories(services: pa.Array) -> pa.Array:
    distinct = services.dictionary_encode()
    found = [
        next((value for word, value in CATEGORIES.items() if (name or "").upper().startswith(word)), "Other")
        for name in distinct.dictionary.to_pylist()
    ]
    return pa.array(found, pa.string()).take(distinct.indices)


def months_of(seconds: pa.Array) -> tuple[pa.Array, pa.Array]:
    distinct = seconds.dictionary_encode()
    found = [month(second) for second in distinct.dictionary.to_pylist()]
    starts, ends = (
        pa.array(bounds, SECOND) for bounds in ([one.start_s for one in found], [one.end_s for one in found])
    )
    return starts.take(distinct.indices), ends.take(distinct.indices)
