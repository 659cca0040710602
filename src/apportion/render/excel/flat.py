"""The flat sheet: a real table of Excel with typed columns and filters, ready for a pivot table."""

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa

from apportion.model.money import plain
from apportion.render.excel.looks import Looks, binary, fitting

MOST_ROWS = 1_048_575  # of a sheet, less its head
NAME = "Postings"
WIDTHS = {"Bill": 30, "Project": 22, "Team": 18, "Amount": 18, "Exact amount": 26}
WIDTH = 14
Put = Callable[[int, int, Any], None]


def write_flat(sheet: Any, looks: Looks, rows: pa.Table) -> None:
    """`rows` are those of `reports.flat`. The exact amount stands beside the number, as text: Excel keeps 15 digits."""
    columns = columns_of(rows)
    writers = {"month": put_day(sheet, looks.number("month")), "date": put_day(sheet, looks.number("date"))}
    words, money = put_text(sheet, looks), put_money(sheet, looks, rows["currency"].to_pylist())
    for n, (title, (kind, values)) in enumerate(columns.items()):
        sheet.set_column(n, n, WIDTHS.get(title, WIDTH))
        put = money if kind == "money" else writers.get(kind, words)
        for row, value in enumerate(values, 1):
            put(row, n, value)
    heads = [{"header": title} for title in columns]
    options = {"name": NAME, "columns": heads, "style": "Table Style Light 1"}
    sheet.add_table(0, 0, max(len(rows), 1), len(columns) - 1, options)
    sheet.freeze_panes(1, 0)
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.fit_to_pages(1, 0)
    sheet.repeat_rows(0)


def columns_of(rows: pa.Table) -> dict[str, tuple[str, list[Any]]]:
    """Titles with the kind and the values of each."""
    months = [date.fromisoformat(f"{period}-01") for period in rows["period"].to_pylist()]
    amounts = rows["amount"].to_pylist()
    names = [name for name in rows.column_names if name not in ("period", "day", "amount")]
    return {
        "Month": ("month", months),
        "Day": ("date", rows["day"].to_pylist()),
        **{name.replace("_", " ").capitalize(): ("text", rows[name].to_pylist()) for name in names},
        "Amount": ("money", amounts),
        "Exact amount": ("text", [plain(amount) for amount in amounts]),
    }


def put_day(sheet: Any, look: Any) -> Put:
    """A row that rounds the month has no day."""
    return lambda row, column, day: (
        sheet.write_datetime(row, column, day, look) if day else sheet.write_blank(row, column, None)
    )


def put_text(sheet: Any, looks: Looks) -> Put:
    """The same words come again and again: each is made fit once."""
    known: dict[str, tuple[str, Any]] = {}

    def put(row: int, column: int, words: str) -> None:
        if words not in known:
            known[words] = fitting(words), looks.plain(words)
        sheet.write_string(row, column, *known[words])

    return put


def put_money(sheet: Any, looks: Looks, currencies: list[str]) -> Put:
    def put(row: int, column: int, amount: Decimal) -> None:
        sheet.write_number(row, column, binary(amount), looks.number("money", currencies[row - 1]))

    return put
