"""What goes into one file, and what is recorded of it, added up while it is written."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from functools import partial
from itertools import chain

import pyarrow as pa

from apportion.books.blocks import Piece
from apportion.books.digest import MODULUS, content_sum
from apportion.books.tables import control_total, span
from apportion.model.money import total_of

ROWS_PER_FILE = 4_000_000


class Seen:
    def __init__(self, name: str) -> None:
        self.name = name
        self.rows = 0
        self.span = (0, 0)
        self.controls: list[str] = []
        self.sums: list[Callable[[], int]] = []

    def add(self, rows: pa.Table, known: Callable[[], int] | None) -> None:
        first, last = span(self.name, rows)
        if self.rows and rows.num_rows:
            first, last = min(self.span[0], first), max(self.span[1], last)
        self.span = (first, last) if rows.num_rows else self.span
        self.rows += rows.num_rows
        self.controls.append(control_total(self.name, rows))
        if self.name != "charges":
            self.sums.append(known or partial(int, content_sum(rows)))

    @property
    def control(self) -> str:
        return self.controls[0] if len(self.controls) == 1 else format(total_of(map(Decimal, self.controls)), "f")

    @property
    def content(self) -> str:
        return "" if self.name == "charges" else f"{sum(tell() for tell in self.sums) % MODULUS:032x}"


def by_file(pieces: Iterator[Piece]) -> Iterator[Iterator[Piece]]:
    """Each file's pieces must be taken before the next file's; a file ends where a block ends."""
    for piece in pieces:
        yield one_file(chain([piece], pieces))


def one_file(pieces: Iterator[Piece]) -> Iterator[Piece]:
    rows = 0
    for piece in pieces:
        yield piece
        rows += piece[0].num_rows
        if rows >= ROWS_PER_FILE:
            return
