"""What a source hands to the books: rows of one window, what was wrong with some, and the digests of the files they came from."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, tzinfo

import pyarrow as pa

from apportion.errors import Problem
from apportion.model.times import Interval


@dataclass(frozen=True, slots=True)
class FileDigest:
    """One input file as it was read; `control` is the sum of its money or amounts as a decimal string."""

    name: str
    sha256: str
    rows: int
    control: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Which bill a cost source speaks for. Two sources over one scope would count a bill twice."""

    issuer: str
    accounts: tuple[str, ...]
    services: tuple[str, ...]
    billing: tuple[Interval, ...]
    metric: str = "EffectiveCost"
    role: str = "bill"  # or `reference`: read by `report reconcile`, never posted


def electricity_of(site: str) -> str:
    """The issuer of a scope that speaks for a site's electricity, whoever sends the bill: it is priced once."""
    return f"electricity of {site}"


@dataclass(frozen=True, slots=True)
class Rows:
    """More rows than one wants in memory at once: read in blocks, as often as needed, while the source's reader waits."""

    num_rows: int
    blocks: Callable[[], Iterator[pa.Table]]

    def __len__(self) -> int:
        return self.num_rows

    def table(self) -> pa.Table:
        return pa.concat_tables(self.blocks())


@dataclass(frozen=True, slots=True)
class Withheld:
    """A row that its source does not believe, as JSON: kept in the books' quarantine and not in the table."""

    table: str
    key: str
    content: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """`window` bounds usage, capacity, reservations and workloads by time, and cost lines by their billing period's start.

    A later delivery of the same source replaces what the earlier one said about the window. Tables that a delivery does not name stay as they were.
    A large table may be `Rows`. A delivery that `adds` replaces nothing: its window only says what its rows cover. One that `relabels` says earlier rows
    anew under another name: what was wrong with them still stands.
    `since_s` says that nobody stated the window: it is the whole months of the rows, and before that second they are only work that ran on.
    Where its usage rows are `facts`, each counts as it stands, equal ones too: the source itself says which rows are the same.
    `zone` cuts the months of whoever wrote the rows.
    """

    source: str
    window: Interval
    tables: Mapping[str, pa.Table]
    problems: tuple[Problem, ...] = ()
    files: tuple[FileDigest, ...] = ()
    scopes: tuple[Scope, ...] = field(default=())
    adds: bool = False
    facts: bool = False
    withheld: tuple[Withheld, ...] = ()
    relabels: bool = False
    zone: tzinfo = UTC
    since_s: int | None = None

    def is_keyed(self, table: str) -> bool:
        """Whether rows of one key are one row; those that are said anew were chosen before."""
        return not ((self.facts or self.relabels) and table == "usage")
