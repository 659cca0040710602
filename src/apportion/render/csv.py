"""CSV (RFC 4180) with every digit. Text that a spreadsheet would run as a formula gets a leading apostrophe; numbers are left alone."""

import csv
import io
from collections.abc import Iterable, Sequence

from apportion.render.sheet import Screen, Sheet, exact
from apportion.reports.report import Cell

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def render(sheet: Sheet, screen: Screen) -> str:
    """The rows of the first table and of those with the same columns, with their currency in front."""
    del screen
    if not sheet.tables:
        return ""
    columns = sheet.tables[0].columns
    alike = [table for table in sheet.tables if table.columns == columns]
    currency = any(table.currency for table in alike)
    heads = [*(["currency"] if currency else []), *(column.name for column in columns)]
    rows = ((*([table.currency] if currency else []), *row) for table in alike for row in table.rows)
    return written([heads]) + written(rows)


def written(rows: Iterable[Sequence[Cell]]) -> str:
    """For those who write more than a sheet holds, some rows at a time."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(map(cell_text, row) for row in rows)
    return out.getvalue()


def cell_text(cell: Cell) -> str:
    text = exact(cell).replace("\0", "")
    return "'" + text if isinstance(cell, str) and text.startswith(FORMULA) else text
