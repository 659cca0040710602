"""Money and quantities to decimal(38,18): every digit of a text is kept or the row is named, nothing is rounded.

A binary (double) column never held an exact decimal: its shortest text that reads back as the same number is taken, and what
that has beyond 18 places is rounded half to even.
"""

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal, localcontext

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.money import LARGEST, PLACES
from apportion.model.numbers import parse_decimal
from apportion.model.rows import MONEY
from apportion.sources.cells.parsed import Parsed
from apportion.sources.cells.text import is_text, lost, per_distinct, rows_where

PLAIN = r"^[+-]?(?:[0-9]{1,20}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})$"
STEP = Decimal(1).scaleb(-PLACES)
FEW_PLACES, FEW_DIGITS = 10, 15


def money(column: pa.Array) -> Parsed:
    """Codes of bad rows: `invalid-number`, `too-many-digits`."""
    if is_text(column):
        values = per_distinct(column, parse_text)
        return Parsed(values, {row: reason(column[row].as_py()) for row in lost(column, values)})
    if pa.types.is_floating(column.type):
        return from_binary(column)
    if pa.types.is_decimal(column.type) or pa.types.is_integer(column.type):
        return from_exact(column)
    if pa.types.is_null(column.type):
        return Parsed(pa.nulls(len(column), MONEY))
    return Parsed(pa.nulls(len(column), MONEY), dict.fromkeys(rows_where(column.is_valid()), "invalid-number"))


def parse_text(column: pa.Array) -> pa.Array:
    """Null where there is none or it does not fit."""
    return read_texts(column, PLAIN, MONEY, fitting)


def read_texts(texts: pa.Array, pattern: str, kind: pa.DataType, read: Callable[[str], Decimal | None]) -> pa.Array:
    """Those of a pattern as Arrow reads them, the others one by one."""
    plain = pc.match_substring_regex(texts, pattern)
    values = pc.cast(pc.if_else(plain, texts, None), kind)
    others = rows_where(pc.invert(plain))
    if not others:
        return values
    mask = pc.fill_null(pc.invert(plain), fill_value=False)
    return pc.replace_with_mask(values, mask, pa.array([read(texts[row].as_py()) for row in others], kind))


def fitting(cell: str) -> Decimal | None:
    try:
        number = parse_decimal(cell)
    except InputError:
        return None
    return number if abs(number) < LARGEST and places(number) <= PLACES else None


def places(number: Decimal) -> int:
    """Digits after the point without zeros at the end, however many there are: `normalize` would round to 28 digits."""
    _, digits, exponent = number.as_tuple()
    if not isinstance(exponent, int):
        return 0
    zeros = next((zeros for zeros, digit in enumerate(reversed(digits)) if digit), len(digits))
    return max(0, -exponent - zeros)


def reason(cell: str) -> str:
    try:
        parse_decimal(cell)
    except InputError:
        return "invalid-number"
    return "too-many-digits"


def from_binary(column: pa.Array) -> Parsed:
    values = with_few_places(column)
    left = pc.and_(column.is_valid(), values.is_null())
    if not pc.any(left, min_count=0).as_py():
        return Parsed(values)
    others, rows = written_out(column.filter(left)), rows_where(left)
    bad = {rows[at]: code for at, code in others.bad.items()}
    return Parsed(pc.replace_with_mask(values, left, others.values), bad, others.rounded)


def with_few_places(column: pa.Array) -> pa.Array:
    """Doubles that are a decimal of few places, which is most money; null for others.

    No two decimals of 15 digits have the same double: one that gives the double back is its shortest text.
    """
    if not pa.types.is_float64(column.type):
        return pa.nulls(len(column), MONEY)
    doubles = column.to_numpy(zero_copy_only=False)
    with np.errstate(all="ignore"):
        whole = np.rint(doubles * 10**FEW_PLACES)
        found = (np.abs(whole) < 10**FEW_DIGITS) & (whole / 10**FEW_PLACES == doubles)
    units = pc.cast(pa.array(np.where(found, whole, 0).astype(np.int64)), pa.decimal128(19, 0))
    values = pa.Array.from_buffers(pa.decimal128(19, FEW_PLACES), len(units), units.buffers(), units.null_count, 0)
    return pc.if_else(pa.array(found), pc.cast(values, MONEY), None)


def written_out(column: pa.Array) -> Parsed:
    written = pc.cast(column, pa.string())
    plain = pc.match_substring_regex(written, PLAIN)
    values = pc.cast(pc.if_else(plain, written, None), MONEY)
    others = rows_where(pc.invert(plain))
    if not others:
        return Parsed(values)
    known: dict[str, Decimal | None] = {}
    rounded = 0
    for row in others:
        cell = written[row].as_py()
        if cell not in known:
            known[cell] = nearest(cell)
        rounded += fitting(cell) is None
    mask = pc.fill_null(pc.invert(plain), fill_value=False)
    filled = pc.replace_with_mask(values, mask, pa.array([known[written[row].as_py()] for row in others], MONEY))
    bad = {row: reason(written[row].as_py()) for row in others if known[written[row].as_py()] is None}
    return Parsed(filled, bad, rounded - len(bad))


def nearest(cell: str) -> Decimal | None:
    """`cell` is Arrow's text of a double, so it needs no grammar."""
    number = Decimal(cell)
    if not number.is_finite() or abs(number) >= LARGEST:
        return None
    with localcontext() as context:
        context.prec = 400
        return number.quantize(STEP, ROUND_HALF_EVEN)


def from_exact(column: pa.Array) -> Parsed:
    try:
        return Parsed(pc.cast(column, MONEY))
    except pa.ArrowInvalid:
        values = [None if cell is None else fitting(str(cell)) for cell in column.to_pylist()]
        found = pa.array(values, MONEY)
        return Parsed(found, dict.fromkeys(lost(column, found), "too-many-digits"))


def total(column: pa.Array | pa.ChunkedArray) -> Decimal:
    """The sum, wide enough not to wrap."""
    found: Decimal | None = pc.sum(pc.cast(column, pa.decimal256(76, column.type.scale))).as_py()
    return found or Decimal(0)
