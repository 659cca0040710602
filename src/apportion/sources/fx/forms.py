"""The three forms of a table of rates, each as columns: one unit of `base` was so much of `currency` on `day`.

plain: a row for each pair and day (`day,from,to,rate`).
wide: a column for each currency, a row for each day (`Date,USD,JPY,...`), all against one base. The European Central Bank's has the newest
day first, `N/A` where there is no rate, an empty last column, and in its daily file blanks after commas and days such as `13 November 2026`.
series: SDMX-CSV, a row for each observation (`CURRENCY`, `CURRENCY_DENOM`, `TIME_PERIOD`, `OBS_VALUE`), daily ones only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.currencies import MINOR_DIGITS, WITHDRAWN
from apportion.model.rows import MONEY
from apportion.sources.cells.money import money
from apportion.sources.cells.text import rows_where
from apportion.sources.files.paths import InputFile
from apportion.sources.files.read import read_sheet
from apportion.sources.files.sheet import Sheet, missing_columns
from apportion.sources.fx.days import days_of

KNOWN = frozenset({*MINOR_DIGITS, *WITHDRAWN})
PLAIN = ("day", "from", "to", "rate")
SERIES = ("TIME_PERIOD", "CURRENCY_DENOM", "CURRENCY", "OBS_VALUE")  # in the order of PLAIN
FREQUENCY = "FREQ"
WIDE = "Date"
NO_RATE = ("", "N/A", "NaN", "-")
ROWS = pa.schema([
    ("currency", pa.string()), ("base", pa.string()), ("day", pa.date32()), ("rate", MONEY), ("row", pa.int64()),
])  # fmt: skip


@dataclass(frozen=True, slots=True)
class Stated:
    """What one file states, with the row on which it stands."""

    sheet: Sheet
    rates: pa.Table
    wide: bool


def read_table(file: InputFile, base: str) -> Stated:
    sheet = read_sheet(file, partial(wanted, file))
    if sheet.bad_rows:
        bad = sheet.bad_rows[0]
        raise InputError("corrupt-file", bad.message, where=bad.where, hint="mend the line, or fetch the file again")
    wide = is_wide(sheet.header)
    rates = read_wide(sheet, base) if wide else read_rows(sheet)
    return Stated(sheet, rates, wide)


def is_wide(header: Sequence[str]) -> bool:
    return header[0] == WIDE


def wanted(file: InputFile, header: Sequence[str]) -> list[str]:
    if is_wide(header):
        return [name for name in header if name]
    for form in (PLAIN, SERIES):
        if set(form) <= set(header):
            return [name for name in (*form, FREQUENCY) if name in header]
    hint = f"a table of rates has the columns {', '.join(PLAIN)}, or is one of the European Central Bank's"
    raise missing_columns([name for name in PLAIN if name not in header], header, file, hint)


def read_wide(sheet: Sheet, base: str) -> pa.Table:
    names = [name for name in sheet.header if name and name != WIDE]
    for name in names:
        if name not in KNOWN or name == base:
            what = "is the base itself" if name == base else "is no ISO 4217 currency"
            raise InputError("unknown-currency", f"the column {name[:40]!r} {what}", where=f"{sheet.file.name}:1")
    days = days_of(sheet, cells(sheet, WIDE))
    rows = pa.array(range(sheet.table.num_rows), pa.int64())
    parts = [
        pa.table(
            [pa.repeat(name, len(rows)), pa.repeat(base, len(rows)), days, rates_of(sheet, name), rows], schema=ROWS
        )
        for name in names
    ]
    whole = pa.concat_tables([ROWS.empty_table(), *parts])
    return whole.filter(whole["rate"].is_valid())


def read_rows(sheet: Sheet) -> pa.Table:
    form = PLAIN if set(PLAIN) <= set(sheet.header) else SERIES
    if form == SERIES and FREQUENCY in sheet.header:
        refuse_where(sheet, pc.not_equal(cells(sheet, FREQUENCY), "D"), "unknown-form", "this is no daily rate")
    day, base, currency = cells(sheet, form[0]), currencies_of(sheet, form[1]), currencies_of(sheet, form[2])
    refuse_where(sheet, pc.equal(base, currency), "invalid-rate", "the rate is from a currency to itself")
    rates = rates_of(sheet, form[3])
    if form == PLAIN:
        refuse_where(sheet, rates.is_null(), "invalid-rate", "the rate is missing")
    rows = pa.array(range(sheet.table.num_rows), pa.int64())
    whole = pa.table([currency, base, days_of(sheet, day), rates, rows], schema=ROWS)
    return whole.filter(whole["rate"].is_valid())


def cells(sheet: Sheet, name: str) -> pa.Array:
    """Without blanks around; empty where there is nothing."""
    return pc.fill_null(pc.utf8_trim_whitespace(sheet.table[name].combine_chunks()), "")


def currencies_of(sheet: Sheet, name: str) -> pa.Array:
    column = cells(sheet, name)
    strange = pc.invert(pc.is_in(column, pa.array(sorted(KNOWN))))
    refuse_where(sheet, strange, "unknown-currency", lambda row: f"{shown(sheet, name, row)} is no ISO 4217 currency")
    return column


def rates_of(sheet: Sheet, name: str) -> pa.Array:
    """Exact and above 0; null where the table says that there is none."""
    column = cells(sheet, name)
    stated = pc.if_else(pc.is_in(column, pa.array(NO_RATE)), None, column)
    parsed = money(stated)
    for row, code in sorted(parsed.bad.items())[:1]:
        why = (
            "has more than 18 decimal places or 20 digits before them" if code == "too-many-digits" else "is no number"
        )
        raise InputError(code, f"{shown(sheet, name, row)} {why}", where=sheet.where(row), hint="write it as 1.0833")
    refuse_where(
        sheet, pc.less_equal(parsed.values, 0), "invalid-rate", lambda row: f"{shown(sheet, name, row)} is not above 0"
    )
    return parsed.values


def shown(sheet: Sheet, name: str, row: int) -> str:
    return f"{name} {str(sheet.table[name][row].as_py() or '').strip()[:40]!r}"


def refuse_where(sheet: Sheet, mask: pa.Array, code: str, message: str | Callable[[int], str]) -> None:
    """The first row for which the mask is true."""
    for row in rows_where(mask)[:1]:
        said = message if isinstance(message, str) else message(row)
        raise InputError(code, said, where=sheet.where(row), hint="mend the line and ingest again")
