"""What becomes of a column that a file lacks: another column stands for it, the file is refused, or it stays empty.

    column                     stands for it                                            otherwise
    ServiceProviderName        ProviderName (its name until 1.2), Provider (so Oracle), PublisherName, InvoiceIssuerName
    InvoiceIssuerName          ServiceProviderName, ProviderName, PublisherName: said   refused
    EffectiveCost              BilledCost: said; refused where anything was paid ahead  refused
    BilledCost, ContractedCost, ListCost, ServiceCategory                               stays empty: said
    the billing account and currency, the four times, ChargeCategory, ServiceName       refused
    all others                                                                          stay empty

BilledCost is what was paid and EffectiveCost what was used of it: the two are the same only where nothing was paid ahead. Quantities and unit
prices are never multiplied to costs, and costs never divided: a vendor's rounding cannot be told from its prices.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.rows import FOCUS_NUMBERS, FOCUS_TEXT
from apportion.sources.bills.form import TIMES
from apportion.sources.bills.part import Fault, Part
from apportion.sources.cells.text import rows_where
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import missing_columns
from apportion.sources.focus.columns import COLUMNS, contradiction, version_of

READ = (*FOCUS_NUMBERS, *FOCUS_TEXT, *TIMES, "Tags", "x_Component")
STANDS_FOR = {
    "ServiceProviderName": ("ProviderName", "Provider", "PublisherName", "InvoiceIssuerName"),
    "InvoiceIssuerName": ("ServiceProviderName", "ProviderName", "Provider", "PublisherName"),
    "EffectiveCost": ("BilledCost",),
}
SILENT = ("ServiceProviderName",)  # mostly its own older name, and no money hangs on it
REQUIRED = (
    "EffectiveCost", "BillingCurrency", *TIMES, "ChargeCategory", "BillingAccountId", "InvoiceIssuerName", "ServiceName",
)  # fmt: skip
PAID_AHEAD = {
    "CommitmentDiscountId": "a commitment's",
    "CommitmentDiscountStatus": "a commitment's",
    "ChargeCategory": "a purchase",
}
MISSED = ("BilledCost", "ContractedCost", "ListCost", "ServiceCategory")  # other bases and the component hang on them


@dataclass(frozen=True, slots=True)
class Layout:
    """`columns` names the file's column for each FOCUS column that it has; `derived` those taken from another FOCUS column."""

    version: str
    columns: Mapping[str, str]
    derived: Mapping[str, str]
    lacking: tuple[str, ...]
    extra: int  # columns that are not read, x_ columns among them
    notes: tuple[Fault, ...]


def layout(header: Sequence[str], file: InputFile, stated: str = "") -> Layout:
    """Refuses a file that lacks a column for which nothing can stand."""
    folded = {name.casefold(): name for name in reversed(header)}

    def find(name: str) -> str | None:
        return name if name in header else folded.get(name.casefold())

    columns: dict[str, str] = {}
    derived: dict[str, str] = {}
    for name in READ:
        taken = next((source for source in (name, *STANDS_FOR.get(name, ())) if find(source)), None)
        if taken is not None:
            columns[name] = str(find(taken))
        if taken not in (name, None):
            derived[name] = columns[name]
    has = [name for name in COLUMNS if find(name)]
    version = stated or version_of(has)
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        hint = f"the file looks like FOCUS {version}; is it a Cost and Usage file with a header, separated by commas?"
        raise missing_columns(missing, header, file, hint)
    lacking = tuple(name for name in MISSED if name not in columns)
    extra = len(set(header) - set(columns.values()) - {find(name) for name in has})
    return Layout(version, columns, derived, lacking, extra, tuple(told(derived, lacking, stated, has)))


def told(derived: Mapping[str, str], lacking: Sequence[str], stated: str, has: Sequence[str]) -> list[Fault]:
    """What is said about the file as a whole."""
    notes = [
        Fault(-1, "derived-column", f"there is no column {name}: {source} is taken for it")
        for name, source in derived.items()
        if name not in SILENT
    ]
    notes += [Fault(-1, "column-not-given", f"there is no column {name}: it stays empty") for name in lacking]
    if stated and (why := contradiction(stated, has)):
        notes.append(Fault(-1, "version-differs", f"the file is said to be FOCUS {stated}, but {why}"))
    return notes


def nothing_ahead(part: Part, found: Layout) -> None:
    """Before BilledCost stands for EffectiveCost: what is paid ahead is paid once and used over its term, so one of the two would be wrong everywhere."""
    for name, what in PAID_AHEAD.items():
        cells = part.text(found.columns.get(name, ""))
        rows = rows_where(pc.equal(pc.utf8_lower(cells), "purchase") if name == "ChargeCategory" else cells.is_valid())
        if rows:
            raise InputError(
                "missing-columns",
                f"there is no column EffectiveCost, and BilledCost cannot stand for it: this line is {what}",
                where=part.where(rows[0]),
                hint="fetch the bill with EffectiveCost: what was paid ahead and what was used of it differ",
            )
