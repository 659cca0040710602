"""Which of a file's columns is which FOCUS column. Matched by name, never by place; the version follows from the names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from apportion.model.rows import FOCUS_NUMBERS, FOCUS_TEXT
from apportion.sources.bills.form import TIMES, Form, Lines
from apportion.sources.bills.part import Fault, Part
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import missing_columns

READ = (*FOCUS_NUMBERS, *FOCUS_TEXT, *TIMES, "Tags", "x_Component")
ALIASES = {  # before 1.3 the seller was ProviderName; one vendor writes it `provider`
    "ServiceProviderName": ("ProviderName", "Provider", "PublisherName", "InvoiceIssuerName"),
    "InvoiceIssuerName": ("ServiceProviderName", "ProviderName", "Provider", "PublisherName"),
    "EffectiveCost": ("BilledCost",),
}
REQUIRED = (
    "EffectiveCost", "BillingCurrency", *TIMES, "ChargeCategory", "BillingAccountId", "InvoiceIssuerName", "ServiceName",
)  # fmt: skip
EXPECTED = (
    "BilledCost",
    "ContractedCost",
    "ListCost",
    "ServiceCategory",
)  # mandatory in FOCUS, but nothing is lost without them
SINCE = (  # columns that a version was the first to have, newest version first
    ("1.4", ("InvoiceDetailId", "CommitmentProgramEligibilityDetails")),
    ("1.3", ("ServiceProviderName", "HostProviderName", "AllocatedMethodId", "AllocatedResourceId", "ContractApplied")),
    ("1.2", ("InvoiceId", "PricingCurrency", "BillingAccountType", "SubAccountType")),
    (
        "1.1",
        ("CapacityReservationId", "CommitmentDiscountQuantity", "ServiceSubcategory", "SkuMeter", "SkuPriceDetails"),
    ),
)


@dataclass(frozen=True, slots=True)
class Layout:
    """`columns` names the file's column for each FOCUS column that it has; `derived` those taken from another FOCUS column."""

    version: str
    columns: Mapping[str, str]
    derived: Mapping[str, str]
    lacking: tuple[str, ...]
    extra: int  # columns that are not read, x_ columns among them


def layout(header: Sequence[str], file: InputFile) -> Layout:
    """Refuses a file that lacks a column which cannot be derived safely."""
    folded = {name.casefold(): name for name in reversed(header)}

    def find(name: str) -> str | None:
        return name if name in header else folded.get(name.casefold())

    columns: dict[str, str] = {}
    derived: dict[str, str] = {}
    for name in READ:
        taken = next((source for source in (name, *ALIASES.get(name, ())) if find(source)), None)
        if taken is not None:
            columns[name] = str(find(taken))
        if taken not in (name, None):
            derived[name] = columns[name]
    version = next((version for version, names in SINCE if any(find(name) for name in names)), "1.0")
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        hint = f"the file looks like FOCUS {version}; is it a Cost and Usage file with a header, separated by commas?"
        raise missing_columns(missing, header, file, hint)
    lacking = tuple(name for name in EXPECTED if name not in columns)
    return Layout(version, columns, derived, lacking, len(set(header) - set(columns.values())))


def form_of(header: Sequence[str], file: InputFile) -> Form:
    found = layout(header, file)

    def translate(part: Part) -> Lines:
        return Lines({name: part.cells(column) for name, column in found.columns.items()})

    notes = [
        Fault(-1, "derived-column", f"there is no column {name}: {source} is taken for it")
        for name, source in found.derived.items()
        if name != "ServiceProviderName"  # its older name is the same thing
    ]
    notes += [Fault(-1, "column-not-given", f"there is no column {name}: it stays empty") for name in found.lacking]
    return Form(f"FOCUS {found.version}", tuple(found.columns.values()), translate, tuple(notes))
