"""A FOCUS file: its columns by name, in any order and case, and its lines."""

from collections.abc import Callable, Mapping, Sequence

from apportion.model.rows import COSTS
from apportion.sources.bills.form import CATEGORY, COST, CURRENCY, TIME, TIMES, Form, FormOf, Lines
from apportion.sources.bills.part import Part
from apportion.sources.bills.vendors import refuse_others
from apportion.sources.files.paths import InputFile
from apportion.sources.focus.rules import Layout, layout, nothing_ahead
from apportion.sources.focus.splits import parts_named
from apportion.sources.focus.values import checked

KIND = "focus"


def forms(version: Callable[[str], str]) -> FormOf:
    """`version` says which version a file is said to be, "" where nobody does."""

    def form_of(header: Sequence[str], file: InputFile) -> Form:
        refuse_others(header, file, KIND)
        found = layout(header, file, version(file.name))
        columns = tuple(dict.fromkeys(found.columns.values()))
        return Form(
            f"FOCUS {found.version}", columns, lambda part: lines(part, found), found.notes, typed(found.columns)
        )

    return form_of


def typed(columns: Mapping[str, str]) -> dict[str, str]:
    """What the file's columns hold, those of money first."""
    kinds = {
        **dict.fromkeys(COSTS, COST),
        **dict.fromkeys(TIMES, TIME),
        "BillingCurrency": CURRENCY,
        "ChargeCategory": CATEGORY,
    }
    return {columns[name]: kind for name, kind in kinds.items() if name in columns}


def lines(part: Part, found: Layout) -> Lines:
    """One line for each row."""
    if "EffectiveCost" in found.derived:
        nothing_ahead(part, found)
    cells = {name: part.cells(column) for name, column in found.columns.items()}
    return Lines(parts_named(part, checked(part, cells)), names=other_names(found.columns))


def other_names(columns: Mapping[str, str]) -> dict[str, str]:
    return {name: column for name, column in columns.items() if name.casefold() != column.casefold()}
