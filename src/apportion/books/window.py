"""What of a row lies in a window, and what lies outside it.

A level (GPUs held) keeps its amount when it is cut. A flow (joules, bytes moved) is shared: the part up to a cut gets the floor
of its share, the part after it the rest, so that cutting in two and cutting twice both keep the total.
"""

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.tables import FLOWS, KEEPING, day_starts
from apportion.model.times import Interval

WHOLE = ("billing", "day")  # rows that are never cut: they lie where they start
EARLIEST, LATEST = -(2**62), 2**62


def inside(name: str, table: pa.Table, window: Interval) -> pa.Table:
    return part(name, table, window.start_s, window.end_s)


def outside(name: str, table: pa.Table, window: Interval) -> pa.Table:
    """A row that straddles the window on both sides becomes two."""
    before = part(name, table, EARLIEST, window.start_s)
    after = part(name, table, window.end_s, LATEST)
    return pa.concat_tables([before, after])


def overlaps(name: str, table: pa.Table, start_s: int, end_s: int) -> pa.ChunkedArray:
    """Which rows have something in `[start_s, end_s)`; a row without length lies where it starts."""
    if KEEPING[name].cut in WHOLE:
        first = table["billing_start_s"] if KEEPING[name].cut == "billing" else day_starts(table["day"])
        return pc.and_(pc.greater_equal(first, start_s), pc.less(first, end_s))
    first, last = table["start_s"], table["end_s"]
    reaches = pc.or_(pc.greater(last, start_s), pc.and_(pc.equal(first, last), pc.greater_equal(first, start_s)))
    return pc.and_(reaches, pc.less(first, end_s if start_s < end_s else EARLIEST))  # an empty window holds nothing


def part(name: str, table: pa.Table, start_s: int, end_s: int) -> pa.Table:
    mask = overlaps(name, table, start_s, end_s)
    if not pc.all(mask).as_py():
        table = table.filter(mask)
    if KEEPING[name].cut in WHOLE:
        return table
    straddles = pc.or_(pc.less(table["start_s"], start_s), pc.greater(table["end_s"], end_s))
    if not pc.any(straddles).as_py():
        return table
    for column in KEEPING[name].amounts:
        table = replace(table, column, shared(table, column, start_s, end_s))
    table = replace(table, "start_s", pc.max_element_wise(table["start_s"], start_s))
    return replace(table, "end_s", pc.min_element_wise(table["end_s"], end_s))


def life_keys(workloads: pa.Table) -> pa.ChunkedArray:
    """A workload is its id and its set of labels; one without a set is another than one with."""
    return pc.binary_join_element_wise(workloads["workload"], pc.fill_null(workloads["label_set"], ""), "\0")


def with_lives(rows: pa.Table, before: pa.Table, window: Interval) -> pa.Table:
    """Workloads with what was known of their lives outside the window: who delivers a day may know only a day of them.

    How one ended is for the later day to say, in whatever order the days come.
    """
    place = pc.index_in(life_keys(rows), value_set=life_keys(before).combine_chunks())
    start, end = (before[name].take(place) for name in ("start_s", "end_s"))
    nothing = pa.scalar(None, pa.int64())
    earlier = pc.if_else(pc.less(start, window.start_s), start, nothing)
    later = pc.if_else(pc.greater(end, window.end_s), end, nothing)
    outlived = pc.fill_null(pc.greater(later, rows["end_s"]), False)
    ending = pc.if_else(outlived, before["outcome"].take(place), rows["outcome"])
    rows = replace(rows, "start_s", pc.min_element_wise(rows["start_s"], earlier))
    rows = replace(rows, "outcome", ending)
    return replace(rows, "end_s", pc.max_element_wise(rows["end_s"], later))


def shared(table: pa.Table, column: str, start_s: int, end_s: int) -> pa.Array:
    """The amounts of the cut rows; only flows that straddle change. Whole numbers of any size, so outside Arrow."""
    cut = pc.or_(pc.less(table["start_s"], start_s), pc.greater(table["end_s"], end_s))
    flows = pc.and_(pc.is_in(table["meter"], pa.array(FLOWS)), cut)
    rows = table.select(["start_s", "end_s", column]).filter(flows).to_pydict()
    amounts = [
        None
        if amount is None
        else amount * (min(last, end_s) - first) // (last - first)
        - amount * (max(first, start_s) - first) // (last - first)
        for first, last, amount in zip(rows["start_s"], rows["end_s"], rows[column], strict=True)
    ]
    return pc.replace_with_mask(
        table[column].combine_chunks(), flows.combine_chunks(), pa.array(amounts, table[column].type)
    )


def replace(table: pa.Table, column: str, values: pa.Array) -> pa.Table:
    place = table.schema.get_field_index(column)
    return table.set_column(place, table.schema.field(place), values)
