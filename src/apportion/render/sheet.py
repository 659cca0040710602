"""What can be shown: sentences and tables for reading, and one value for programs.

A sheet is the same whatever the format: `table` and `md` show all of it, `csv` its first kind of table, `json` its `value` alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import date
from decimal import Decimal
from functools import singledispatch
from pathlib import PurePath

from apportion.model.currencies import is_money
from apportion.model.money import plain
from apportion.reports.findings import COLUMNS, HEADING, finding_rows
from apportion.reports.report import Cell, Column, Report

ENDLESS = 10_000


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    totals: tuple[Cell, ...] = ()
    currency: str = ""
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Sheet:
    title: str
    tables: tuple[Table, ...] = ()
    value: object = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Screen:
    """Where text will be read. Off a terminal nothing is cut and nothing is coloured."""

    width: int = ENDLESS
    colour: bool = False
    rows: int | None = None  # at most so many of a table
    exact: str = "-o json and -o csv have"  # where every digit is


@singledispatch
def sheet_of(value: object) -> Sheet:
    """What there is to show of a verb's answer. Each kind has its own, registered where the kind is; of others, what they hold."""
    return held(value)


def held(value: object) -> Sheet:
    """The fields of a value as one row, those that fit in a cell."""
    if not is_dataclass(value):
        return Sheet("", value=value)
    every = {one.name: getattr(value, one.name) for one in fields(value)}
    cells = {name: cell for name, cell in every.items() if isinstance(cell, str | int | Decimal | date | PurePath)}
    columns = tuple(Column(name, name.replace("_", " ")) for name in cells)
    row = tuple(str(cell) if isinstance(cell, bool | PurePath) else cell for cell in cells.values())
    return Sheet(f"{type(value).__name__}.", (Table(columns, (row,)),), value)


@sheet_of.register
def report_sheet(report: Report) -> Sheet:
    """The contract of `-o json`: with money of one currency its `currency`, `bill` and `rows` are also at the top level. What stands beside it
    is there by its name, currency by currency.
    """
    sections = _sections(report, "bill")
    money = [part for part in sections if is_money(str(part["currency"]))] or sections
    value = {
        "report": report.name,
        "title": report.title,
        "period": report.period,
        "head": report.head,
        "policy": ", ".join(report.policies),
        "currencies": sections,
        **report.more,
        **(money[0] if len(money) == 1 else {}),
        **{other.name: _sections(other, "waste") for other in report.beside},
    }
    notes = (
        *report.notes,
        *(note for other in report.beside for note in other.notes),
        *([f"ledger head {report.head}"] if report.head else []),
    )
    others = (table for other in report.beside for table in _tables(other, other.title))
    found = (Table(COLUMNS, finding_rows(report.findings), heading=HEADING),) if report.findings else ()
    return Sheet(report.title, (*_tables(report), *others, *found), value, notes)


def _sections(report: Report, whole: str) -> list[dict[str, object]]:
    return [
        {
            "currency": section.currency,
            whole: section.bill,
            "rows": [_row(report.columns, cells) for cells in section.rows],
        }
        for section in report.sections
    ]


def _tables(report: Report, heading: str = "") -> list[Table]:
    return [
        Table(report.columns, section.rows, section.totals, section.currency, "" if n else heading)
        for n, section in enumerate(report.sections)
    ]


def _row(columns: Sequence[Column], cells: Sequence[Cell]) -> dict[str, object]:
    return {column.name: cell for column, cell in zip(columns, cells, strict=True)}


def exact(cell: Cell) -> str:
    """A cell with every digit, for formats that programs read."""
    if cell is None:
        return ""
    return plain(cell) if isinstance(cell, Decimal) else str(cell)
