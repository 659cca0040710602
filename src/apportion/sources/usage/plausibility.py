"""Times of a log that are hard to believe: most rows have no length, or lie far from today. They count as they are, and are told."""

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import Problem

EARLIEST_S = 946_684_800  # 2000-01-01: seconds that are read as milliseconds end up in January 1970
AHEAD_S = 366 * 86_400


@dataclass
class TimeTally:
    """Counts the rows of one file; `now_s` is when it is read."""

    now_s: int
    rows: int = 0
    empty: int = 0
    early: int = 0
    late: int = 0

    def add(self, start: pa.Array, end: pa.Array, keep: pa.Array) -> None:
        """Rows without an end still run, and have a length."""
        self.rows += count(keep)
        self.empty += count(pc.and_(keep, pc.equal(start, end)))
        self.early += count(pc.and_(keep, pc.less(start, EARLIEST_S)))
        self.late += count(pc.and_(keep, pc.greater(start, self.now_s + AHEAD_S)))

    def problems(self, name: str) -> list[Problem]:
        """One for each fault that most of the rows have."""
        ends = "end when they start: is the end or the duration in another unit or column?"
        past = "start before the year 2000: are the times in another unit (`time`)?"
        future = "start more than a year ahead: are the times in another unit or form (`time`)?"
        return [
            *self.most_rows(name, "mostly-zero-length", self.empty, ends),
            *self.most_rows(name, "mostly-far-past", self.early, past),
            *self.most_rows(name, "mostly-far-future", self.late, future),
        ]

    def most_rows(self, name: str, code: str, number: int, why: str) -> list[Problem]:
        if 2 * number <= self.rows:
            return []
        return [Problem(name, code, f"{number} of {self.rows} rows {why}", row=f"+{number}")]


def count(mask: pa.Array) -> int:
    return int(pc.sum(pc.fill_null(mask, fill_value=False)).as_py() or 0)
