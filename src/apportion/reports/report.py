"""What a report is: a sentence, columns, and one section per currency (currencies are never added)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Literal

import pyarrow as pa

Cell = str | int | Decimal | date | None
Kind = Literal["text", "money", "share", "count", "day"]


@dataclass(frozen=True, slots=True)
class Column:
    """`name` is the key in JSON and the heading in CSV; `title` is for reading. A `quiet` column leaves the table where it is empty throughout."""

    name: str
    title: str
    kind: Kind = "text"
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """The rows of one currency; their amounts add up to `bill`, digit for digit."""

    currency: str
    bill: Decimal
    rows: tuple[tuple[Cell, ...], ...]
    totals: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """`head` is the ledger's head hash when the record was read, so that a tail cut off later shows."""

    name: str
    title: str
    period: str
    columns: tuple[Column, ...]
    sections: tuple[Section, ...]
    head: str
    policies: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    more: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Record:
    """What a report reads: the posted table of some periods (schema POSTINGS), and where the ledger stood."""

    period: str
    posted: pa.Table
    head: str
    policies: tuple[str, ...] = ()
