"""The parts of rows that lie in a span of time."""

from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.month_parts import MonthParts
from apportion.model.times import Interval


def by_month(rows: pa.Table, months: MonthParts) -> Iterator[tuple[str, pa.Table]]:
    """With the mark of each month, what of the rows lies in it; a row of two months is in both."""
    for mark, part in months.marked():
        inside = rows.filter(pc.invert(beside(rows, part)))
        if len(inside):
            yield mark, within(inside, part)


def beside(table: pa.Table, window: Interval) -> pa.ChunkedArray:
    """A row without length is in the window where its moment is."""
    before = pc.and_(pc.less_equal(table["end_s"], window.start_s), pc.less(table["start_s"], window.start_s))
    return pc.or_(before, pc.greater_equal(table["start_s"], window.end_s))


def within(rows: pa.Table, window: Interval) -> pa.Table:
    """The parts of rows that lie in the window."""
    start = pc.max_element_wise(rows["start_s"], window.start_s)
    end = pc.min_element_wise(rows["end_s"], window.end_s)
    clipped = rows.set_column(rows.column_names.index("start_s"), "start_s", start)
    return clipped.set_column(clipped.column_names.index("end_s"), "end_s", end)
