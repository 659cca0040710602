"""Amounts of GPUs to base units: numbers, and parts of a board as schedulers write them."""

from fractions import Fraction

import pyarrow as pa

from apportion.errors import InputError
from apportion.model.gpus import Board, gpus_of
from apportion.model.meters import GPU
from apportion.model.rows import UNITS
from apportion.sources.cells.amounts import LARGEST, amounts
from apportion.sources.cells.parsed import Parsed
from apportion.sources.cells.text import rows_where, text


def gpus(column: pa.Array, scale: Fraction, board: Board, *, measured: bool = False) -> Parsed:
    """`scale` base units are one of the column's numbers. Codes of bad rows are those of `amounts`, and `unknown-share`."""
    if scale.denominator == 1:
        plain = amounts(column, int(scale), measured=measured)
    else:
        rows = rows_where(column.is_valid())
        plain = Parsed(pa.nulls(len(column), UNITS), dict.fromkeys(rows, "invalid-number"))
    if not plain.bad:
        return plain
    words = text(column).take(pa.array(list(plain.bad), pa.int64()))
    read = {word: part(word, board, scale) for word in words.unique().to_pylist() if word is not None}
    values, bad = plain.values.to_pylist(), {}
    for (row, code), word in zip(plain.bad.items(), words.to_pylist(), strict=True):
        found = read.get(word, code)
        if isinstance(found, str):
            bad[row] = found
        else:
            values[row] = found
    return Parsed(pa.array(values, UNITS), bad)


def part(word: str, board: Board, scale: Fraction) -> int | str:
    """Base units, or the code of what is wrong."""
    try:
        amount = round(gpus_of(word, board, scale / GPU) * GPU)
    except InputError as wrong:
        return wrong.code
    if amount < 0:
        return "negative-amount"
    return amount if amount <= LARGEST else "too-many-digits"
