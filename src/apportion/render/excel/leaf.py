"""A sheet that is read: a sentence, tables whose totals are formulas over them, notes."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from math import ceil
from typing import Any

from apportion.render.excel.looks import Looks, binary, fitting, put
from apportion.render.figures import RIGHT, title_of, visible
from apportion.render.sheet import Sheet, Table
from apportion.reports.report import Cell, Column

WIDEST, NARROWEST, FIGURE = 70, 11, 16
ACROSS = 110  # characters of a line that runs over several columns
LINE_HEIGHT = 16
ROW_PIXELS = 20  # of a row that is as high as Excel makes it


def write_leaf(sheet: Any, looks: Looks, content: Sheet, *, drawn: bool = False) -> None:
    """`drawn`: with bars for the first table of owners."""
    sheet.hide_gridlines(2)
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    sheet.set_footer("&L&A&RPage &P of &N")
    tables = [shown(table) for table in content.tables if table.rows]
    widths = widths_of(tables)
    for column, width in enumerate(widths):
        sheet.set_column(column, column, width)
    row = write_line(sheet, (0, widths), content.title, looks.title())
    for table in tables:
        head = row + 1 + bool(table.heading)
        row = write_table(sheet, looks, row + 1, table)
        if len(tables) == 1:
            sheet.freeze_panes(head + 1, 1)
        if drawn and table.columns[0].name == "owner":
            row = max(row, draw(sheet, looks, (head, len(table.columns)), table))
            drawn = False
    for note in content.notes:
        row = write_line(sheet, (row + 1, widths), note, looks.note())


def shown(table: Table) -> Table:
    """Without quiet columns that say nothing."""
    kept = visible(table)
    return Table(
        tuple(table.columns[i] for i in kept),
        tuple(tuple(row[i] for i in kept) for row in table.rows),
        tuple(table.totals[i] for i in kept) if table.totals else (),
        table.currency,
        table.heading,
    )


def widths_of(tables: Sequence[Table]) -> list[int]:
    """Of each column, for the widest thing that any table has in it; words wrap beyond some width."""
    found: dict[int, int] = {}
    for table in tables:
        for n, column in enumerate(table.columns):
            cells = FIGURE if column.kind in RIGHT else max(len(str(row[n] or "")) + 2 for row in table.rows)
            found[n] = max(found.get(n, NARROWEST), min(WIDEST, max(cells, len(column.title) // 2 + 2)))
    return [found[n] for n in sorted(found)] or [ACROSS]


def write_line(sheet: Any, place: tuple[int, Sequence[int]], words: str, look: Any) -> int:
    """A sentence over several columns, as high as it needs; the row after it."""
    row, widths = place
    last, width = 0, widths[0]
    while width < ACROSS and last + 1 < len(widths):
        last += 1
        width += widths[last]
    size = 1.3 if look is not None and look.font_size > 11 else 1.0
    sheet.set_row(row, LINE_HEIGHT * size * ceil(len(words) * size / width))
    if last:
        sheet.merge_range(row, 0, row, last, "", look)
    sheet.write_string(row, 0, fitting(words), look)
    return row + 1


def write_table(sheet: Any, looks: Looks, row: int, table: Table) -> int:
    """The row after it."""
    if table.heading:
        sheet.write_string(row, 0, fitting(table.heading), looks.heading())
        row += 1
    for n, column in enumerate(table.columns):
        sheet.write_string(row, n, fitting(title_of(column, table.currency)), looks.head(right=column.kind in RIGHT))
    first = row + 1
    for row, cells in enumerate(table.rows, first):
        for n, cell in enumerate(cells):
            put(sheet, (row, n), cell, look_of(looks, table.columns[n], cell, table.currency))
    if table.totals:
        row += 1
        for n, cell in enumerate(table.totals):
            write_total(sheet, looks, (first, row, n), (table.columns[n], cell, table.currency))
    return row + 1


def write_total(sheet: Any, looks: Looks, place: tuple[int, int, int], total: tuple[Column, Cell, str]) -> None:
    """A formula over the column where it is a sum, with what it comes to, for those who do not calculate."""
    from xlsxwriter.utility import xl_range  # noqa: PLC0415  # an extra

    first, row, n = place
    column, cell, currency = total
    if column.kind == "money" and isinstance(cell, Decimal):
        look = looks.number("money", currency, total=True)
        sheet.write_formula(row, n, f"=SUM({xl_range(first, n, row - 1, n)})", look, binary(cell))
    else:
        put(sheet, (row, n), cell, look_of(looks, column, cell, currency, total=True))


def look_of(looks: Looks, column: Column, cell: Cell, currency: str, *, total: bool = False) -> Any:
    if isinstance(cell, str):
        return looks.text(cell, total=total)
    return looks.number("date" if isinstance(cell, date) else column.kind, currency, total=total)


def draw(sheet: Any, looks: Looks, place: tuple[int, int], table: Table) -> int:
    """Bars of the amounts, the largest on top, beside the table that they are of; the row below them."""
    head, beside = place
    amount = next(n for n, column in enumerate(table.columns) if column.name == "amount")
    last = head + len(table.rows)
    chart = looks.book.add_chart({"type": "bar"})
    chart.add_series(
        {
            "categories": [sheet.get_name(), head + 1, 0, last, 0],
            "values": [sheet.get_name(), head + 1, amount, last, amount],
            "fill": {"color": "#2C7A7B"},
            "gap": 40,
        }
    )
    chart.set_title({"name": f"Owed, {table.currency}", "name_font": {"size": 11}})
    chart.set_legend({"none": True})
    chart.set_y_axis({"reverse": True})
    chart.set_x_axis({"num_format": "#,##0", "major_gridlines": {"visible": True, "line": {"color": "#E4E7EB"}}})
    height = 60 + 24 * len(table.rows)
    chart.set_size({"width": 560, "height": height})
    sheet.insert_chart(head, beside + 1, chart, {"description": f"Bars of what each owner owes in {table.currency}"})
    return head + ceil(height / ROW_PIXELS) + 1
