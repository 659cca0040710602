"""Exact sums over the posted table.

Python's decimals round at 28 digits unless told otherwise and a posting may have 38, so every sum goes through whole grains.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.minor import dated
from apportion.model.money import to_decimal, to_grains
from apportion.model.rows import IDLE, REASONS, RESIDUAL, UNALLOCATED
from apportion.reports.report import Cell, Column, Section

KINDS = {IDLE: "idle", UNALLOCATED: "unallocated", RESIDUAL: "residual"}
NAMES = {kind: owner for owner, kind in KINDS.items()}  # as people read a side: the system's owner by its name
SIDES = ("owners", "idle", "unallocated", "residual")  # the right-hand side of the equation, in its order
DAYS = "Days are rounded each by itself: they need not add up to the cent."
SHARE_PLACES = Decimal("0.000001")
ZERO = Decimal(0)


def total(amounts: Iterable[Decimal]) -> Decimal:
    return to_decimal(sum(map(to_grains, amounts)))


def less(amount: Decimal, taken: Decimal) -> Decimal:
    """`amount - taken`. Python's own minus rounds, with one side as with two."""
    return to_decimal(to_grains(amount) - to_grains(taken))


def share_of(part: Decimal, whole: Decimal) -> Decimal | None:
    """Six places are enough to read; nothing is computed from a share."""
    if not whole:
        return None
    with localcontext() as context:
        context.prec = 80
        return (part / whole).quantize(SHARE_PLACES, ROUND_HALF_EVEN)


def side_of(team: str) -> str:
    return KINDS.get(team, "owners")


def grouped(posted: pa.Table, keys: Sequence[str]) -> dict[tuple[str, ...], Decimal]:
    """Amount per key, sorted by key; days become ISO text. Days are told exactly: what rounds a month is of none of them."""
    table = posted.select([*keys, "amount"])
    if "day" in keys:
        table = dated(table)
        table = table.set_column(table.schema.get_field_index("day"), "day", pc.cast(table["day"], pa.string()))
    summed = table.group_by(list(keys)).aggregate([("amount", "sum")])
    columns = [summed[key].to_pylist() for key in keys]
    return dict(sorted(zip(zip(*columns, strict=True), summed["amount_sum"].to_pylist(), strict=True)))


def summed(posted: pa.Table) -> Decimal:
    """What all rows come to, of one currency. Added up by Arrow, which is exact: a month has more rows than Python adds quickly."""
    return total(grouped(posted, ("currency",)).values())


def by_currency(posted: pa.Table) -> Iterator[tuple[str, pa.Table]]:
    for currency in sorted(pc.unique(posted["currency"]).to_pylist()):
        yield currency, posted.filter(pc.equal(posted["currency"], currency))


def section(currency: str, bill: Decimal, columns: Sequence[Column], rows: Sequence[Mapping[str, Cell]]) -> Section:
    """Rows as tuples in column order, with the total of every money column below."""
    lines = tuple(tuple(row.get(column.name) for column in columns) for row in rows)
    return Section(
        currency,
        bill,
        lines,
        tuple(_foot(column, [line[i] for line in lines], bill) for i, column in enumerate(columns)),
    )


def whole_below(made: Section, columns: Sequence[Column], posted: pa.Table) -> Section:
    """Rows that are days are rounded each by itself; below them stands what the month comes to."""
    names = [column.name for column in columns]
    sums: dict[str, list[Decimal]] = {"amount": [summed(posted)]}
    for (team, reason), amount in grouped(posted, ("team", "reason")).items():
        sums.setdefault(side_of(team) if set(SIDES) <= set(names) else reason, []).append(amount)
    whole = [
        name in (*sums, *SIDES, *REASONS) and column.kind == "money"
        for name, column in zip(names, columns, strict=True)
    ]
    cells = zip(names, whole, made.totals, strict=True)
    return replace(
        made, totals=tuple(total(sums.get(name, [])) if is_whole else cell for name, is_whole, cell in cells)
    )


def _foot(column: Column, cells: Sequence[Cell], bill: Decimal) -> Cell:
    if column.kind == "money":
        return total(cell for cell in cells if isinstance(cell, Decimal))
    if column.kind == "share":
        return Decimal(1) if bill else None
    return None
