"""Rows of a log against the window that it speaks for: which lie outside, and which begin or end far from it."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import Problem
from apportion.model.month_parts import MonthParts
from apportion.model.times import DAY_S, Interval, instant_text
from apportion.sources.usage.facts import counted
from apportion.sources.usage.spans import beside

LONG_S = 5 * 365 * DAY_S  # no job runs so long; a clock that was not set or a slip in the year is likelier


def outside_window(tables: Sequence[pa.Table], window: Interval, where: str) -> Iterator[Problem]:
    """One for the rows that lie wholly outside; another one where no row lies inside."""
    rows = sum(len(table) for table in tables)
    outside = sum(len(table.filter(beside(table, window))) for table in tables)
    if not outside:
        return
    span = f"{instant_text(window.start_s)} to {instant_text(window.end_s)}"
    if outside < rows:
        message = f"{outside:,} of {rows:,} rows lie outside the window, {span}, and count in other months"
        yield Problem(where, "outside-window", message, row=f"+{outside}")
        return
    held = [table for table in tables if len(table)]
    first, last = min(pc.min(one["start_s"]).as_py() for one in held), max(pc.max(one["end_s"]).as_py() for one in held)
    message = (
        f"none of {rows:,} rows lies in the window, {span}: they run from {instant_text(first)} to {instant_text(last)}"
    )
    yield Problem(where, "none-in-window", message, row=f"+{rows}")


def far_off(rows: pa.Table, months: MonthParts, where: str) -> Iterator[Problem]:
    """Usage that began years before the window and reaches into it, or ends years after it, with its hours inside."""
    window = months.window
    inside = rows.filter(pc.and_(pc.greater(rows["end_s"], window.start_s), pc.less(rows["start_s"], window.end_s)))
    early = inside.filter(pc.less(inside["start_s"], window.start_s - LONG_S))
    late = inside.filter(pc.greater(inside["end_s"], window.end_s + LONG_S))
    begins = "the work begins more than five years before the window and counts from the window's beginning"
    ends = "the work ends more than five years after the window and counts to the window's end"
    yield from counted(early, where, "far-past", f"{begins}{such_as(early, 'start_s')}", months)
    yield from counted(late, where, "far-future", f"{ends}{such_as(late, 'end_s')}", months)


def such_as(rows: pa.Table, moment: str) -> str:
    """The first of some rows by a time of theirs."""
    if not len(rows):
        return ""
    first = rows.sort_by([(moment, "ascending"), ("workload", "ascending")]).slice(0, 1).to_pylist()[0]
    return f", such as {first['workload']!r} at {instant_text(first[moment])}"
