"""Whole amounts that two parties agree about: what each line gives and what each posting takes, both to the last unit.

A cell is the product of its margins over their total. Rounded as a running product it adds up exactly along both sides and is less than two
units from exact, and lines can be taken a block at a time. Where the total says too little (signs cancel), everything goes through the first
row and the first column.
"""

from dataclasses import dataclass

import numpy as np

from apportion.engine.wide import Whole, running, zeros

MOST = 1000  # a product over a total smaller than this part of its margins would blow up


@dataclass(slots=True)
class Filling:
    """Rows by and by, over columns that are known; `given` is what the rows before came to."""

    columns: Whole
    total: int
    gross: int  # of the rows, whatever their sign
    given: int = 0
    begun: bool = False

    def rows(self, amounts: Whole) -> Whole:
        """A cell for each row and column; rows and, in the end, columns add up."""
        most = max(self.gross, int(abs(self.columns).sum()) if len(self.columns) else 0)
        if self.total and most <= MOST * abs(self.total):
            margins = running(amounts) + self.given
            cells = np.diff(np.diff(np.outer(margins, running(self.columns)) // self.total, axis=0), axis=1)
        else:
            cells = self.through_first(amounts)
        self.given += int(amounts.sum()) if len(amounts) else 0
        self.begun = self.begun or bool(len(amounts))
        return cells

    def through_first(self, amounts: Whole) -> Whole:
        cells = zeros(len(amounts), len(self.columns))
        cells[:, 0] = amounts
        if not self.begun and len(amounts):
            cells[0, 1:] += self.columns[1:]
            cells[0, 0] -= self.columns[1:].sum() if len(self.columns) > 1 else 0
        return cells


def filled(rows: Whole, columns: Whole) -> Whole:
    """All cells at once."""
    total = int(rows.sum()) if len(rows) else 0
    return Filling(columns, total, int(abs(rows).sum()) if len(rows) else 0).rows(rows)


def between(given: dict[str, int], taken: dict[str, int]) -> dict[tuple[str, str], int]:
    """From each pool of lines to each pool of postings: as much as can be stays in its pool, the rest is shared."""
    kept = {name: nearer(given[name], taken[name]) for name in given if name in taken}
    rows, columns = sorted(given), sorted(taken)
    rest = filled(
        np.array([given[name] - kept.get(name, 0) for name in rows], dtype=object),
        np.array([taken[name] - kept.get(name, 0) for name in columns], dtype=object),
    )
    found = {(a, b): int(rest[n, m]) for n, a in enumerate(rows) for m, b in enumerate(columns)}
    return {(a, b): amount + (kept.get(a, 0) if a == b else 0) for (a, b), amount in found.items()}


def nearer(one: int, other: int) -> int:
    """The one nearer to 0; 0 where signs differ."""
    return 0 if (one < 0) != (other < 0) else min(one, other, key=abs)
