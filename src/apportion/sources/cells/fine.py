"""Amounts with more places than the books keep. Some vendors write 28 of them, and a binary number's shortest text may have more than 18.

They are held at 36 places as long as they are added; a bill cuts them down at its end, so that its sum stays right (`bills/fitting`).
"""

from decimal import ROUND_HALF_EVEN, Decimal, localcontext

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.money import LARGEST
from apportion.model.numbers import parse_decimal
from apportion.model.rows import MONEY
from apportion.sources.cells.money import money, read_texts, reason
from apportion.sources.cells.parsed import Parsed
from apportion.sources.cells.text import is_text, lost, per_distinct

FINE_PLACES = 36
FINE = pa.decimal256(58, FINE_PLACES)
WIDER = {MONEY: pa.decimal256(38, 18), FINE: FINE}  # Arrow refuses a sum of 38 digits that could have 39
PLAIN = r"^[+-]?(?:[0-9]{1,20}(?:\.[0-9]{0,36})?|\.[0-9]{1,36})$"
STEP = Decimal(1).scaleb(-FINE_PLACES)


def exact(column: pa.Array) -> Parsed:
    """Money, or FINE where some amount has more than 18 places. Codes of bad rows: `invalid-number`, `too-many-digits`."""
    if column.type == FINE:
        return Parsed(column)
    found = money(column)
    return fine(column) if found.bad or found.rounded else found


def fine(column: pa.Array) -> Parsed:
    if pa.types.is_decimal(column.type):
        try:
            return Parsed(pc.cast(column, FINE))
        except pa.ArrowInvalid:
            return money(column)
    if not is_text(column) and not pa.types.is_floating(column.type):
        return money(column)
    texts = column if is_text(column) else pc.cast(column, pa.string())
    values = per_distinct(texts, read)
    return Parsed(values, {row: reason(texts[row].as_py()) for row in lost(texts, values)})


def read(texts: pa.Array) -> pa.Array:
    """Null where there is none or it does not fit."""
    return read_texts(texts, PLAIN, FINE, at_places)


def at_places(text: str) -> Decimal | None:
    try:
        number = parse_decimal(text)
    except InputError:
        return None
    if abs(number) >= LARGEST:
        return None
    with localcontext() as context:
        context.prec = 400
        return number.quantize(STEP, ROUND_HALF_EVEN)


def plus(one: pa.Array, other: pa.Array) -> pa.Array:
    kind = common(one, other)
    return pc.cast(pc.add(pc.cast(one, WIDER[kind]), pc.cast(other, WIDER[kind])), kind)


def minus(one: pa.Array, other: pa.Array) -> pa.Array:
    kind = common(one, other)
    return pc.cast(pc.subtract(pc.cast(one, WIDER[kind]), pc.cast(other, WIDER[kind])), kind)


def at_18(amounts: pa.Array) -> pa.Array:
    """Each by itself: for what is shared and given back in the same amounts."""
    rounded = pc.round(amounts, ndigits=18, round_mode="half_to_even") if amounts.type == FINE else amounts
    return pc.cast(rounded, MONEY)


def common(*amounts: pa.Array) -> pa.DataType:
    return FINE if any(column.type == FINE for column in amounts) else MONEY
