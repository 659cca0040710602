"""The numbers of charges: whole units of a last place, many at a time, so that what is split adds up again."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.nanos import share_nanos
from apportion.engine.wide import Whole, from_arrow, to_arrow, zeros
from apportion.model.money import PLACES

COST_UNIT = 10 ** (PLACES - 12)  # attos in the last place of a cost
QUANTITY_ONE = 10**15  # last places of a quantity, and of a ratio, in one
RATIO_PLACES = 15


def rounded(numbers: Whole, unit: Whole | int) -> Whole:
    """Whole units, the nearest; of two that are as near, the even one."""
    whole = numbers // unit
    twice = 2 * (numbers - whole * unit)
    up = (twice > unit) | ((twice == unit) & (whole % 2 == 1))
    found: Whole = whole + up.astype(bool)
    return found


def summed(numbers: Whole, first: np.ndarray) -> Whole:
    """Of each group of rows; `first` is where they begin."""
    found: Whole = np.add.reduceat(numbers, first) if len(first) else zeros(0)
    return found


def prices(costs: Whole, first: np.ndarray, seconds: np.ndarray) -> Whole:
    """Of a second of each group, in attos: what all its rows come to whatever their sign, and never 0, so that quantities can be told."""
    found: Whole = np.maximum(rounded(summed(abs(costs), first), seconds.astype(object)), 1)
    return found


def quantities(costs: Whole, price_of_row: Whole) -> Whole:
    """Seconds, in their last place; price times quantity is the cost but for half a last place."""
    return rounded(costs * QUANTITY_ONE, price_of_row)


def ratios(amounts: Whole, first: np.ndarray, group: np.ndarray) -> pa.Array:
    """The part that each row has in its group, as text; they add up to 1. Null where a group has amounts of both signs: no ratio tells those."""
    if not len(first):
        return pa.array([], pa.string())
    lowest, highest = np.minimum.reduceat(amounts, first), np.maximum.reduceat(amounts, first)
    mixed = ((lowest < 0) & (highest > 0)).astype(bool)
    ones = np.full(len(first), QUANTITY_ONE, dtype=object)
    parts = share_nanos(ones, abs(amounts), first)
    text = pa.array([fixed(part) for part in parts.tolist()], pa.string())
    return pc.if_else(pa.array(mixed[group]), pa.scalar(None, pa.string()), text)


def fixed(part: int) -> str:
    """A ratio's digits, without an exponent."""
    whole, rest = divmod(part, QUANTITY_ONE)
    return f"{whole}.{rest:0{RATIO_PLACES}d}".rstrip("0").rstrip(".")


def attos(column: pa.ChunkedArray) -> Whole:
    return from_arrow(column) if len(column) else zeros(0)


def decimals(numbers: Whole, kind: pa.Decimal128Type) -> pa.Array:
    return to_arrow(numbers, kind) if len(numbers) else pa.array([], kind)


def costs_of(amounts: Whole) -> Whole:
    """With 12 places, in attos."""
    found: Whole = rounded(amounts, COST_UNIT) * COST_UNIT
    return found
