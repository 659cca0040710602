"""Tables that pages make of sums."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from apportion.model.rows import SYSTEM_OWNERS
from apportion.render.chart import OTHERS
from apportion.render.sheet import Table
from apportion.reports.report import Cell, Column, Report
from apportion.reports.sums import total

Sums = Mapping[tuple[str, str], Decimal]  # by day and team
LARGEST = 12  # that a chart tells apart


def folded(sums: Sums, most: int = LARGEST) -> Sums:
    """With the teams that came to most; the others as one, so that a chart can be read and its page stays light. The system's own owners stay."""
    came_to = {team: Decimal(0) for _, team in sums if team not in SYSTEM_OWNERS}
    for (_, team), amount in sums.items():
        if team in came_to:
            came_to[team] += abs(amount)
    kept = set(sorted(came_to, key=lambda team: (-came_to[team], team))[:most])
    rest = came_to.keys() - kept
    if len(rest) < 2:  # one is called by its name
        return sums
    found: dict[tuple[str, str], list[Decimal]] = {}
    for (day, team), amount in sums.items():
        found.setdefault((day, f"{len(rest)} {OTHERS}" if team in rest else team), []).append(amount)
    return {key: total(amounts) for key, amounts in found.items()}


def in_order(present: Collection[str], every: Sequence[str]) -> list[str]:
    """As they stand in `every`; the others before the system's own owners."""
    known = [name for name in every if name in present]
    others = sorted(set(present) - set(known))
    last = [name for name in known if name in SYSTEM_OWNERS]
    return [*known[: len(known) - len(last)], *others, *last]


def spread(
    sums: Sums, rows: str, columns: Sequence[str], currency: str, rounding: Mapping[str, Decimal] | None = None
) -> Table:
    """A row for each first key, a column for each second; sums at the end of both. `rounding` is what the sum of a column has beside its rows."""
    rest = rounding or {}
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
        *(
            total([*(sums.get((key, name), Decimal(0)) for key in keys), rest.get(name, Decimal(0))])
            for name in columns
        ),
        total([*sums.values(), *rest.values()]),
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
