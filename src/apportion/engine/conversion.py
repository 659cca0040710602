"""A bill in another currency: its total is converted once, and its lines follow by largest remainder.

So the converted lines add up to the converted total digit for digit, and each is less than 10^-18 of a unit from its exact amount.
"""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.exchange import RATE_PLACES
from apportion.errors import InputError
from apportion.model.money import ATTO, PLACES
from apportion.model.rows import MONEY

LINE, RATE = pa.decimal256(38, PLACES), pa.decimal256(32, RATE_PLACES)  # exact amounts then have 71 of 76 digits
UNIT, NOTHING = pa.scalar(Decimal(f"1E-{PLACES}"), LINE), pa.scalar(Decimal(0), LINE)
WORDS = 4  # of 64 bits in a decimal256


@dataclass(frozen=True, slots=True)
class Conversion:
    """How a bill came into the policy's currency: what it was, the rate for one unit, and the days whose rates that is made of."""

    currency: str
    total: Decimal
    rate: Decimal
    rule: str
    table: str
    days: tuple[date, ...]


def convert_total(total: Decimal, rate: Decimal) -> Decimal:
    """Rounded once, half to even, to 18 places."""
    return Decimal(f"{round(Fraction(total) * Fraction(rate) * ATTO)}E-{PLACES}")


def convert_lines(amounts: pa.Array, ids: pa.Array, rate: Decimal) -> pa.Array:
    """What each line of one bill comes to. A negative total mirrors the positive one; ties go by the bytes of the id."""
    total = sum_of(amounts)
    if total < 0:
        return pc.negate(convert_lines(pc.negate(amounts), ids, rate))
    try:
        exact = pc.multiply(amounts.cast(LINE), pa.scalar(rate, RATE))
        floors = pc.round(exact, ndigits=PLACES, round_mode="down")
        missing = (Fraction(convert_total(total, rate)) - Fraction(sum_of(floors))) * ATTO
        lucky = largest(remainders(exact, floors), ids, int(missing))
        return pc.add(floors, pc.if_else(lucky, UNIT, NOTHING)).cast(MONEY)
    except pa.ArrowInvalid as error:
        raise InputError(
            "too-many-digits",
            f"an amount of the bill has over 20 digits before the point once it is converted at {rate}",
            hint="see whether the rate and the bill's currency are right",
        ) from error


def sum_of(amounts: pa.Array) -> Decimal:
    found: Decimal | None = pc.sum(amounts.cast(pa.decimal256(76, amounts.type.scale))).as_py()
    return found or Decimal(0)


def remainders(exact: pa.Array, floors: pa.Array) -> np.ndarray:
    """What flooring left, in units of the last place of the exact amounts: less than 10^12, so the lowest word holds it."""
    left = pc.subtract(exact, floors)
    words = np.frombuffer(left.buffers()[1], dtype="<i8")
    return words[WORDS * left.offset : WORDS * (left.offset + len(left)) : WORDS]


def largest(left: np.ndarray, ids: pa.Array, count: int) -> pa.Array:
    """The `count` rows with the largest remainder, and of equal ones those whose id comes first."""
    chosen = np.zeros(len(left), dtype=bool)
    if count:
        least = np.partition(left, len(left) - count)[len(left) - count]
        chosen = left > least
        tied = np.flatnonzero(left == least)
        order = pc.sort_indices(ids.take(pa.array(tied))).to_numpy()
        chosen[tied[order[: count - int(chosen.sum())]]] = True
    return pa.array(chosen)
