"""Times to UTC seconds: ISO 8601 text, seconds since 1970, or Arrow timestamps. Parts of a second are cut off.

A time without an offset is local to the given zone. On a clock that goes back it is the first of the two; in the hour that
is skipped it counts from before the jump. That is what `parse_instant` does, here for a whole column.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.rows import SECOND
from apportion.model.times import DAY_S, comes_twice, is_skipped, never_comes, parse_instant
from apportion.sources.cells.parsed import Parsed
from apportion.sources.cells.text import is_text, lost, per_distinct, rows_where

PER_SECOND = {"epoch": 1, "epoch_ms": 1_000, "epoch_us": 1_000_000, "epoch_ns": 1_000_000_000}
TICKS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
FORMS = ("iso", *PER_SECOND)
CELL_S = 900  # every zone's offsets change on quarters of an hour
LONGEST_GAP_S = DAY_S  # an island may move over the date line
LOCAL = (
    r"^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])(?:[T ](?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9])?)?"
)
ABSOLUTE = LOCAL + r"(?:Z|[+-](?:0[0-9]|1[0-9]|2[0-3]):?[0-5][0-9])$"
OWN_OFFSET = re.compile(r":[0-9.]+\s*(?:Z|[+-][0-9]{2}:?[0-9]{2})$", re.ASCII)
FIRST, LAST = -62_135_596_800, 253_402_300_799  # the years 1 to 9999
START = datetime(1970, 1, 1, tzinfo=UTC)
NEVER = frozenset({"unknown", "none", "n/a", "null"})  # what schedulers write for an end that has not come


def instants(column: pa.Array, zone: tzinfo, form: str = "iso") -> Parsed:
    """`form` is one of FORMS, or a format such as `%d.%m.%Y %H:%M`. The code of a bad row is `invalid-time`."""
    if is_text(column):
        values = per_distinct(column, lambda cells: from_text(cells, zone, form))
    elif pa.types.is_null(column.type):
        return Parsed(pa.nulls(len(column), SECOND))
    else:
        values = from_typed(column, zone, form)
    inside = pc.and_(pc.greater_equal(values, FIRST), pc.less_equal(values, LAST))
    values = values if pc.all(inside, min_count=0).as_py() else pc.if_else(inside, values, None)
    bad = [row for row in lost(column, values) if str(column[row].as_py()).casefold() not in NEVER]
    ambiguous = tuple(row for row, _ in local_rows(column, values, zone, form, comes_twice))
    after = local_rows(column, values, zone, form, is_after_change)
    skipped = tuple(row for row, cell in after if is_skipped_cell(cell, values[row].as_py(), zone, form))
    return Parsed(values, dict.fromkeys(bad, "invalid-time"), ambiguous=ambiguous, skipped=skipped)


def local_rows(
    column: pa.Array, values: pa.Array, zone: tzinfo, form: str, near: Callable[[int, tzinfo], bool]
) -> list[tuple[int, str]]:
    """Rows whose cell is a local time near a change of clocks, with that cell; a day alone is its beginning."""
    local = not pa.types.is_timestamp(column.type) or column.type.tz is None
    fixed = isinstance(zone, timezone) or getattr(zone, "key", "") == "UTC"
    if fixed or form in PER_SECOND or not local or "%z" in form:
        return []
    quarters = floor_divide(values, CELL_S)
    known = (quarter for quarter in quarters.unique().to_pylist() if quarter is not None)
    changed = [quarter for quarter in known if near(quarter * CELL_S, zone)]
    rows = rows_where(pc.is_in(quarters, pa.array(changed, SECOND))) if changed else []
    cells = ((row, str(column[row].as_py())) for row in rows)
    return [(row, cell) for row, cell in cells if ":" in cell and not OWN_OFFSET.search(cell)]


def is_after_change(second: int, zone: tzinfo) -> bool:
    """Whether clocks went forward shortly before; a time that is skipped is taken for one of that time."""
    now, before = (datetime.fromtimestamp(moment, tz=zone).utcoffset() for moment in (second, second - LONGEST_GAP_S))
    return (now or timedelta()) > (before or timedelta())


def is_skipped_cell(cell: str, second: int, zone: tzinfo, form: str) -> bool:
    if "%" not in form:
        return is_skipped(cell, zone)
    return never_comes(datetime.strptime(cell.strip(), form), second, zone)  # noqa: DTZ007 - as clocks show it


def from_typed(column: pa.Array, zone: tzinfo, form: str) -> pa.Array:
    kind = column.type
    if pa.types.is_date(kind):
        return to_utc(pc.multiply(pc.cast(pc.cast(column, pa.date32()), pa.int32()).cast(SECOND), 86_400), zone)
    if pa.types.is_timestamp(kind):
        seconds = floor_divide(pc.cast(column, pa.int64()), TICKS[kind.unit])
        return seconds if kind.tz else to_utc(seconds, zone)
    if form not in PER_SECOND:
        return pa.nulls(len(column), SECOND)
    if pa.types.is_integer(kind):
        return floor_divide(pc.cast(column, pa.int64()), PER_SECOND[form])
    if pa.types.is_floating(kind):
        whole = pc.floor(pc.divide(pc.cast(column, pa.float64()), float(PER_SECOND[form])))
        return pc.cast(pc.if_else(pc.less(pc.abs(whole), float(LAST)), whole, None), pa.int64())
    return (
        from_text(pc.cast(column, pa.string()), zone, form)
        if pa.types.is_decimal(kind)
        else pa.nulls(len(column), SECOND)
    )


def from_text(column: pa.Array, zone: tzinfo, form: str) -> pa.Array:
    if form in PER_SECOND:
        digits = pc.if_else(pc.match_substring_regex(column, r"^-?[0-9]{1,18}(?:\.[0-9]{1,18})?$"), column, None)
        numbers = pc.cast(pc.replace_substring_regex(digits, r"\..*$", ""), pa.int64())
        return floor_divide(numbers, PER_SECOND[form])
    if "%" in form:
        return pa.array([formatted(cell, zone, form) for cell in column.to_pylist()], SECOND)
    for kind in (pa.timestamp("s", "UTC"), pa.timestamp("s")):  # all of one form: the usual case, and the quick one
        try:
            seconds = pc.cast(pc.cast(column, kind), pa.int64())
        except pa.ArrowInvalid:
            continue
        return seconds if kind.tz else to_utc(seconds, zone)
    return from_mixed_text(column, zone)


def from_mixed_text(column: pa.Array, zone: tzinfo) -> pa.Array:
    if pc.any(pc.match_substring(column, "."), min_count=0).as_py():
        column = pc.replace_substring_regex(column, r"(:[0-9]{2})\.[0-9]{1,9}", r"\1")
    absolute = pc.match_substring_regex(column, ABSOLUTE)
    local = pc.match_substring_regex(column, LOCAL + "$")
    try:
        seconds = pc.cast(pc.cast(pc.if_else(absolute, column, None), pa.timestamp("s", "UTC")), pa.int64())
        naive = pc.cast(pc.cast(pc.if_else(local, column, None), pa.timestamp("s")), pa.int64())
    except pa.ArrowInvalid:  # a day such as 30 February is among them
        return pa.array([one(cell, zone) for cell in column.to_pylist()], SECOND)
    return pc.coalesce(seconds, to_utc(naive, zone))


def one(cell: str | None, zone: tzinfo) -> int | None:
    try:
        return None if cell is None else parse_instant(cell, zone)
    except InputError:
        return None


def formatted(cell: str | None, zone: tzinfo, form: str) -> int | None:
    try:
        moment = datetime.strptime(cell.strip(), form) if cell is not None else None  # noqa: DTZ007 - the zone follows
    except ValueError:
        return None
    if moment is None:
        return None
    return int(((moment if moment.tzinfo else moment.replace(tzinfo=zone)) - START) // timedelta(seconds=1))


def to_utc(local: pa.Array, zone: tzinfo) -> pa.Array:
    """Local wall-clock seconds to UTC, by the offset of each distinct quarter of an hour."""
    if getattr(zone, "key", "") == "UTC" or local.null_count == len(local):
        return local
    inside = pc.and_(pc.greater_equal(local, FIRST + 86_400), pc.less_equal(local, LAST - 86_400))
    local = pc.if_else(inside, local, None)
    quarters = floor_divide(local, CELL_S).dictionary_encode()
    offsets = [offset(quarter * CELL_S, zone) for quarter in quarters.dictionary.to_pylist()]
    return pc.subtract(local, pa.array(offsets, SECOND).take(quarters.indices))


def offset(local_s: int, zone: tzinfo) -> int:
    moment = (START + timedelta(seconds=local_s)).replace(tzinfo=zone)
    shift = moment.utcoffset()
    return int(shift.total_seconds()) if shift is not None else 0


def floor_divide(column: pa.Array, by: int) -> pa.Array:
    """Arrow divides toward zero; times before 1970 must be cut the same way as those after."""
    if by == 1:
        return column
    quotient = pc.divide(column, by)
    return pc.subtract(
        quotient, pc.cast(pc.and_(pc.less(column, 0), pc.not_equal(pc.multiply(quotient, by), column)), pa.int64())
    )
