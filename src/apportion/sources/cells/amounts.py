"""Amounts of a meter to whole base units. A log's figure finer than a base unit (a byte, 1/504,000 of a GPU) is rounded to the nearest one."""

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.numbers import parse_fraction
from apportion.model.rows import UNITS
from apportion.sources.cells.parsed import Parsed
from apportion.sources.cells.text import is_text, lost, per_distinct, rows_where, text

LARGEST = 2**62
WHOLE = r"^[0-9]{1,15}$"
EXACT_BINARY = 2.0**53
BILLION = 10**9
ZERO = r"^\s*[+-]?[0.]*(?:[^0-9.].*)?$"  # an amount whose digits, before any exponent, fraction or unit, are all 0


def amounts(column: pa.Array, scale: int, *, measured: bool = False) -> Parsed:
    """`scale` base units are one of the column's units. Codes of bad rows: `invalid-number`, `negative-amount`, `too-many-digits`.

    What was `measured` never was exact: binary numbers serve, and are quicker than decimal ones.
    """
    if pa.types.is_null(column.type):
        return Parsed(pa.nulls(len(column), UNITS))
    if is_text(column):
        values = per_distinct(column, lambda cells: from_text(cells, scale, measured=measured))
    elif pa.types.is_integer(column.type):
        values = from_whole(pc.cast(column, pa.int64(), safe=not pa.types.is_uint64(column.type)), scale)
    elif pa.types.is_floating(column.type):
        values = from_binary(pc.cast(column, pa.float64()), scale)
    elif pa.types.is_decimal(column.type):
        values = from_text(pc.cast(column, pa.string()), scale)
    else:
        values = pa.nulls(len(column), UNITS)
    return Parsed(values, {row: reason(column[row].as_py()) for row in lost(column, values)})


def from_whole(column: pa.Array, scale: int) -> pa.Array:
    fits = pc.and_(pc.greater_equal(column, 0), pc.less_equal(column, LARGEST // scale))
    return pc.multiply(pc.if_else(fits, column, None), scale)


def from_binary(column: pa.Array, scale: int) -> pa.Array:
    scaled = pc.round(pc.multiply(column, float(scale)), ndigits=0, round_mode="half_to_even")
    fits = pc.and_(pc.greater_equal(column, 0.0), pc.less(scaled, EXACT_BINARY))
    return pc.cast(pc.if_else(fits, scaled, None), UNITS)


def from_text(column: pa.Array, scale: int, *, measured: bool = False) -> pa.Array:
    whole = pc.match_substring_regex(column, WHOLE)
    values = from_whole(pc.cast(pc.if_else(whole, column, None), pa.int64()), scale)
    others = rows_where(pc.invert(whole))
    if not others:
        return values
    point = pc.match_substring_regex(column, r"^(?:[0-9]{1,12}\.[0-9]{0,40}|\.[0-9]{1,40})$")
    if pc.any(point, min_count=0).as_py():
        cells = pc.if_else(point, column, None)
        values = pc.coalesce(
            values, from_binary(pc.cast(cells, pa.float64()), scale) if measured else from_decimal(cells, scale)
        )
    rest = pc.and_(column.is_valid(), pc.invert(pc.or_(whole, point)))
    found = [nearest(column[row].as_py(), scale) for row in rows_where(rest)]
    return (
        pc.replace_with_mask(values, pc.fill_null(rest, fill_value=False), pa.array(found, UNITS)) if found else values
    )


def from_decimal(cells: pa.Array, scale: int) -> pa.Array:
    places = min(12, 37 - len(str(scale)) - 13)  # a product of decimals must have at most 38 digits
    cut = pc.replace_substring_regex(cells, rf"(\.[0-9]{{{places}}})[0-9]+$", r"\1")  # far below any base unit
    exact = pc.multiply(
        pc.cast(cut, pa.decimal128(12 + places, places)), pa.scalar(Decimal(scale), pa.decimal128(len(str(scale)), 0))
    )
    scaled = pc.round(exact, ndigits=0, round_mode="half_to_even")
    fits = pc.less_equal(scaled, pa.scalar(Decimal(LARGEST), pa.decimal128(19, 0)))
    return pc.cast(pc.if_else(fits, scaled, None), UNITS)


def nearest(cell: str, scale: int) -> int | None:
    try:
        amount = round(parse_fraction(cell) * scale)
    except InputError:
        return None
    return amount if parse_fraction(cell) >= 0 and amount <= LARGEST else None


def reason(cell: object) -> str:
    try:
        amount = parse_fraction(str(cell))
    except InputError:
        return "invalid-number"
    return "negative-amount" if amount < 0 else "too-many-digits"


def finer_than_base(cells: pa.Array, values: pa.Array) -> pa.Array:
    """Which rows state something that is not 0, and were rounded to no base unit at all."""
    nothing = pc.fill_null(pc.equal(values, 0), fill_value=False)
    if not pc.any(nothing, min_count=0).as_py():
        return nothing
    if not is_text(cells) and not pa.types.is_decimal(cells.type):
        return pc.and_(nothing, pc.fill_null(pc.not_equal(cells, 0), fill_value=False))
    zero = per_distinct(text(cells), lambda words: pc.match_substring_regex(words, ZERO))
    return pc.and_(nothing, pc.invert(pc.fill_null(zero, fill_value=True)))


def portion(whole: pa.Array, part: pa.Array, of: int) -> Parsed:
    """`part` of `of` parts of a whole, such as 37.5 percent of the allocated base units: a measurement, so binary numbers serve."""
    billionths = amounts(part, BILLION // of, measured=True)
    product = pc.multiply(
        pc.cast(whole, pa.float64()), pc.divide(pc.cast(billionths.values, pa.float64()), float(BILLION))
    )
    rounded = pc.round(product, ndigits=0, round_mode="half_to_even")
    return Parsed(pc.cast(pc.if_else(pc.less(rounded, float(LARGEST)), rounded, None), UNITS), billionths.bad)
