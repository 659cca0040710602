"""What a report is: a sentence, columns, and one section per currency (currencies are never added)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Literal

import pyarrow as pa

from apportion.model.findings import JudgedFinding
from apportion.model.result import Result
from apportion.model.rows import MONEY

Cell = str | int | Decimal | date | None
Kind = Literal["text", "money", "share", "count", "quantity", "price"]
ARROW = {
    "money": MONEY,
    "share": pa.decimal128(38, 6),
    "count": pa.int64(),
    "quantity": pa.decimal128(38, 6),
    "price": MONEY,
}


@dataclass(frozen=True, slots=True)
class Column:
    """`name` is the key in JSON and the heading in CSV; `title` is for reading. A `quiet` column leaves the table where it is empty throughout.

    A `long` column holds sentences: a terminal prints them below the table, row by row.
    """

    name: str
    title: str
    kind: Kind = "text"
    quiet: bool = False
    long: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """The rows of one currency; their amounts add up to `bill`, digit for digit."""

    currency: str
    bill: Decimal
    rows: tuple[tuple[Cell, ...], ...]
    totals: tuple[Cell, ...]


@dataclass(frozen=True, slots=True, repr=False)
class Report(Result):
    """`head` is the ledger's head hash when the record was read, so that a tail cut off later shows. `beside`: what is read with it."""

    name: str
    title: str
    period: str
    columns: tuple[Column, ...]
    sections: tuple[Section, ...]
    head: str
    policies: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    more: Mapping[str, object] = field(default_factory=dict)
    beside: tuple["Report", ...] = ()
    findings: tuple[JudgedFinding, ...] = ()  # of the months, where the report is about how much of them is told

    def to_arrow(self) -> pa.Table:
        """All rows as one table, their currency in front."""
        rows = [(section.currency, *row) for section in self.sections for row in section.rows]
        names = ("currency", *(column.name for column in self.columns))
        kinds = (pa.string(), *(ARROW.get(column.kind, pa.string()) for column in self.columns))
        return pa.table({name: pa.array([row[n] for row in rows], kinds[n]) for n, name in enumerate(names)})


@dataclass(frozen=True, slots=True)
class Record:
    """What a report reads: the postings of some periods in whole minor units (schema RECORDED), where the ledger stood, and the charges behind them.

    Of what is not posted, such as the running month, `posted` is as exact as it was estimated.
    """

    period: str
    posted: pa.Table
    head: str
    policies: tuple[str, ...] = ()
    charges: pa.Table | None = None
