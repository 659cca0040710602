"""Cells as people read them: money in whole minor units that still add up, shares in percent, no control characters."""

import unicodedata
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from apportion.render.sheet import Table, exact
from apportion.reports.report import Cell, Column
from apportion.reports.words import add_up, digits, hours, percent, price_digits, rounded

RIGHT = ("money", "share", "count", "quantity", "price")


def visible(table: Table) -> list[int]:
    """Columns worth showing: a quiet one is left out where it is empty or 0 throughout."""
    return [
        i
        for i, column in enumerate(table.columns)
        if not column.quiet or any(row[i] not in (None, "", 0) for row in table.rows)
    ]


def readable(table: Table) -> tuple[list[list[str]], list[str]]:
    """Rows and totals of the visible columns as text. Each money column is rounded as a whole, so that it adds up to its total."""
    shown = visible(table)
    columns = [_column(table.columns[i], [row[i] for row in table.rows], table.currency) for i in shown]
    rows = [list(cells) for cells in zip(*columns, strict=True)] if columns else []
    totals = [_total(table.columns[i], table.totals[i], table.currency) for i in shown] if table.totals else []
    return rows, totals


def title_of(column: Column, currency: str) -> str:
    return (
        f"{column.title} {currency}"
        if column.kind == "money" and column.name == "amount" and currency
        else column.title
    )


def is_rounded(table: Table) -> bool:
    """Whether some shown figure lacks digits."""
    return any(
        rounded(cell, table.currency) != cell
        for row in table.rows
        for column, cell in zip(table.columns, row, strict=True)
        if column.kind == "money" and isinstance(cell, Decimal)
    )


def _column(column: Column, cells: Sequence[Cell], currency: str) -> list[str]:
    if column.kind == "price":
        return [price_digits(cell, currency) if isinstance(cell, Decimal) else "" for cell in cells]
    if column.kind != "money":
        return [_plain(column, cell) for cell in cells]
    figures = iter(add_up([cell for cell in cells if isinstance(cell, Decimal) and cell], currency))
    return ["" if not isinstance(cell, Decimal) else digits(next(figures)) if cell else "-" for cell in cells]


def _total(column: Column, cell: Cell, currency: str) -> str:
    if column.kind == "price":
        return _column(column, [cell], currency)[0]
    return (
        digits(rounded(cell, currency))
        if column.kind == "money" and isinstance(cell, Decimal)
        else _plain(column, cell)
    )


def _plain(column: Column, cell: Cell) -> str:
    if cell is None:
        return ""
    if column.kind == "share" and isinstance(cell, Decimal):
        return percent(cell)
    if column.kind == "quantity" and isinstance(cell, Decimal):
        return hours(Fraction(cell))
    if column.kind == "count" and isinstance(cell, int):
        return f"{cell:,}"
    return legible(exact(cell))


def legible(text: str) -> str:
    """Labels come from outside: what could move a cursor or hide in a line is shown as its code."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char == " " or unicodedata.category(char)[0] not in "CZ" else f"\\u{ord(char):04x}" for char in text
    )
