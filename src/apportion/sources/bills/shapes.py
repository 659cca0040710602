"""Bills in CSV whose cells stand under the wrong names are refused before their money is counted."""

import re
from collections.abc import Callable, Sequence

from apportion.model.currencies import BILLABLE
from apportion.sources.bills.form import CATEGORY, COST, CURRENCY, TIME, Form, FormOf
from apportion.sources.cells.shapes import FIRST_ROWS, expect, refuse_misfit
from apportion.sources.files.delimited import first_rows
from apportion.sources.files.paths import InputFile

DATED = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}.*|[0-9]{1,2}[/.][0-9]{1,2}[/.][0-9]{2}.*|[0-9]{8}", re.ASCII)
AMOUNT = re.compile(r"[^A-Za-z0-9]*[0-9][^A-Za-z]*(?:[eE][+-]?[0-9]+)?", re.ASCII)
CODE = re.compile(r"[A-Za-z]{3}", re.ASCII)


def is_amount(cell: str) -> bool:
    """Also one that is badly written (`$10,000.00`), which is refused with its line when it is read."""
    return AMOUNT.fullmatch(cell) is not None and not DATED.fullmatch(cell)


def is_word(cell: str) -> bool:
    """Also one that nobody knows, which is listed with its line."""
    return not is_amount(cell) and not DATED.fullmatch(cell)


KINDS: dict[str, tuple[str, Callable[[str], bool]]] = {
    COST: ("amounts of money", is_amount),
    TIME: ("times", lambda cell: DATED.fullmatch(cell) is not None),
    CURRENCY: ("currencies", lambda cell: CODE.fullmatch(cell) is not None or cell in BILLABLE),
    CATEGORY: ("charge categories", is_word),
}


def form_for(header: Sequence[str], file: InputFile, form_of: FormOf) -> Form:
    """The form of a file whose first rows hold what its columns are called."""
    form = form_of(header, file)
    if file.format == "csv" and form.typed:
        expected = [one for column, kind in form.typed.items() for one in expect((column,), *KINDS[kind])]
        refuse_misfit(file.name, header, first_rows(file, FIRST_ROWS), expected)
    return form
