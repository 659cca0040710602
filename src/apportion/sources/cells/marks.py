"""Rows that were not taken as they are, on their way to becoming Problems: all are counted, the first thousand of a kind are listed.

Where a delivery speaks for several months, each row is told to the month that it begins in, as far as its start can be read.
"""

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa

from apportion.errors import Problem
from apportion.model.month_parts import MonthParts

NO_ROW = -1
LISTED = 1000  # of each code and file; the rest is one Problem with their number


@dataclass
class Marks:
    """What was found in one file."""

    name: str
    where: Callable[[int], str]
    problems: list[tuple[int, Problem]] = field(default_factory=list)  # each with its row
    counts: Counter[str] = field(default_factory=Counter)
    unlisted: dict[str, "array[int]"] = field(default_factory=dict)  # rows, by code
    starts: dict[int, pa.Array] = field(default_factory=dict)  # of the rows of a block, by its first row

    def add(self, rows: Iterable[int], code: str, message: str | Callable[[int], str]) -> None:
        for row in rows:
            self.counts[code] += 1
            if self.counts[code] <= LISTED:
                told = Problem(self.where(row), code, message if isinstance(message, str) else message(row))
                self.problems.append((row, told))
            else:
                self.unlisted.setdefault(code, array("q")).append(row)

    def add_bad(self, bad: Mapping[int, str], message: Callable[[int], str], first: int = 0) -> None:
        """The bad rows of a parsed column, `first` being the row on which its block begins."""
        for row, code in bad.items():
            self.add([first + row], code, message(row))

    def note(self, code: str, message: str, where: str = "") -> None:
        """Something about the file as a whole."""
        self.problems.append((NO_ROW, Problem(where or self.name, code, message)))

    def listed(self, months: MonthParts) -> list[Problem]:
        told = [replace(one, at=self.month_of(row, months)) for row, one in self.problems]
        for code, rows in sorted(self.unlisted.items()):
            for mark, count in sorted(Counter(self.month_of(row, months) for row in rows).items()):
                text = f"and {count} more rows with the same fault"
                told.append(Problem(self.name, code, text, row=f"+{count}", at=mark))
        return told

    def month_of(self, row: int, months: MonthParts) -> str:
        """The mark of the month that a row begins in; "" of the only one, and where nobody can tell."""
        if len(months.parts) == 1 or row == NO_ROW:
            return ""
        blocks = [*self.starts]  # in their order
        first = blocks[max(0, bisect_right(blocks, row) - 1)] if blocks else row
        second = self.starts[first][row - first].as_py() if blocks else None
        return "" if second is None else months.mark_at(second)
