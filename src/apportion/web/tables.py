"""Tables that pages make of sums."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from apportion.render.sheet import Table
from apportion.reports.report import Cell, Column, Report
from apportion.reports.sums import total


def spread(sums: Mapping[tuple[str, str], Decimal], rows: str, columns: Sequence[str], currency: str) -> Table:
    """A row for each first key, a column for each second; sums at the end of both."""
    keys = sorted({first for first, _ in sums})
    cells = [
        (
            key,
            *(sums.get((key, name)) for name in columns),
            total(sums.get((key, name), Decimal(0)) for name in columns),
        )
        for key in keys
    ]
    heads = (
        Column(rows, rows),
        *(Column(name, name, "money", quiet=True) for name in columns),
        Column("amount", "amount", "money"),
    )
    totals: tuple[Cell, ...] = (
        "",
        *(total(sums.get((key, name), Decimal(0)) for key in keys) for name in columns),
        total(sums.values()),
    )
    return Table(heads, tuple(cells), totals, currency)


def fronted(table: Table, *names: str) -> Table:
    """The same with some columns first: what people look for should not have to be scrolled to."""
    places = [n for name in names for n, column in enumerate(table.columns) if column.name == name]
    order = [*places, *(n for n in range(len(table.columns)) if n not in places)]
    return replace(
        table,
        columns=tuple(table.columns[n] for n in order),
        rows=tuple(tuple(row[n] for n in order) for row in table.rows),
        totals=tuple(table.totals[n] for n in order) if table.totals else (),
    )


def records(made: Report, place: int = 0) -> list[dict[str, Cell]]:
    """The rows of one section by the names of their columns."""
    names = [column.name for column in made.columns]
    return [dict(zip(names, row, strict=True)) for row in made.sections[place].rows] if made.sections else []
