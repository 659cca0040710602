"""Azure's dates. A line is about one day; a billing period names its last day, which is still inside it.

Files say 2026-10-05, 20261005, 10/5/2026 or 10/05/2026, some with a time. Azure writes the month first. A file in which that cannot be
(a first number above 12) was changed by another program, and is refused unless the stanza says `date_form = "day_first"`.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.rows import SECOND
from apportion.sources.bills.part import Part
from apportion.sources.bills.placing import month
from apportion.sources.cells.instants import floor_divide
from apportion.sources.cells.text import is_text, lost, per_distinct, shown

FORMS = ("month_first", "day_first")
DAY_S = 86_400
TIME = r"(?:[T ]\d{1,2}:\d{2}.*)?"
YEAR_FIRST = re.compile(rf"(\d{{4}})(-?)(\d{{2}})\2(\d{{2}}){TIME}")
YEAR_LAST = re.compile(rf"(\d{{1,2}})/(\d{{1,2}})/(\d{{4}}){TIME}")


def days(part: Part, column: str, form: str) -> pa.Array:
    """The UTC second at which each day begins; null where there is no day that can be read."""
    cells = part.cells(column)
    if not is_text(cells):
        return pc.multiply(floor_divide(part.instants(column), DAY_S), DAY_S)
    values = per_distinct(cells, lambda found: pa.array([day(cell, form) for cell in found.to_pylist()], SECOND))
    other = FORMS[form == FORMS[0]]
    for row in lost(cells, values):
        if day(cells[row].as_py(), other) is not None:
            raise InputError(
                "other-date-form",
                f"{shown(column, cells, row)} is no day with {'the month' if form == FORMS[0] else 'the day'} first",
                where=part.where(row),
                hint=f'if all dates of the file are written so, set date_form = "{other}" in the stanza',
            )
    return values


def day(cell: str | None, form: str) -> int | None:
    if cell is None:
        return None
    if found := YEAR_FIRST.fullmatch(cell.strip()):
        year, _, month_number, day_number = found.groups()
    elif found := YEAR_LAST.fullmatch(cell.strip()):
        month_number, day_number, year = found.groups()
        if form == "day_first":
            month_number, day_number = day_number, month_number
    else:
        return None
    try:
        return int(datetime(int(year), int(month_number), int(day_number), tzinfo=UTC).timestamp())
    except ValueError:
        return None


def next_day(days: pa.Array) -> pa.Array:
    return pc.add(days, DAY_S)


def period_ends(starts: pa.Array, ends: pa.Array) -> pa.Array:
    """Where each billing period ends: the day after its last one. One that ends on the day of the month on which it began
    (10/1 to 11/1) names the first day after it already.
    """
    already = pc.and_(pc.equal(month_days(starts), month_days(ends)), pc.greater(ends, starts))
    return pc.if_else(pc.fill_null(already, fill_value=False), ends, next_day(ends))


def month_days(days: pa.Array) -> pa.Array:
    return pc.day(pc.cast(days, pa.timestamp("s")))


def months(days: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The calendar month of each day."""
    return per_day(days, lambda day: month(day).start_s), per_day(days, lambda day: month(day).end_s)


def per_day(days: pa.Array, find: Callable[[int], int]) -> pa.Array:
    encoded = days.dictionary_encode()
    return pa.array([find(day) for day in encoded.dictionary.to_pylist()], SECOND).take(encoded.indices)
