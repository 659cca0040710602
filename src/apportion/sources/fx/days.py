"""Days of a table of rates: `2026-11-13`, or `13 November 2026` as the European Central Bank's daily file has it."""

import re
from datetime import date

import pyarrow as pa

from apportion.errors import InputError
from apportion.sources.files.sheet import Sheet

ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)", re.ASCII)
WRITTEN = re.compile(r"(\d{1,2}) ([A-Za-z]+) (\d{4})", re.ASCII)
MONTHS = (  # in English whatever the machine speaks
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december",
)  # fmt: skip
FIRST, LAST = 1900, 2199


def days_of(sheet: Sheet, column: pa.Array) -> pa.Array:
    """The first that is none refuses the table."""
    coded = column.dictionary_encode()
    found = [day_of(text) for text in coded.dictionary.to_pylist()]
    days = pa.array(found, pa.date32()).take(coded.indices)
    if days.null_count:
        row = days.is_null().to_pylist().index(True)
        raise InputError(
            "invalid-time",
            f"{column[row].as_py()[:40]!r} is no day",
            where=sheet.where(row),
            hint="write it as 2026-11-13",
        )
    return days


def day_of(text: str) -> date | None:
    if iso := ISO.fullmatch(text):
        year, month, day = map(int, iso.groups())
    elif (written := WRITTEN.fullmatch(text)) and written[2].lower() in MONTHS:
        year, month, day = int(written[3]), MONTHS.index(written[2].lower()) + 1, int(written[1])
    else:
        return None
    try:
        return date(year, month, day) if FIRST <= year <= LAST else None
    except ValueError:
        return None
