"""Whole numbers beyond 64 bits, many at a time: numpy arrays of Python integers, read from Arrow's 38-digit decimals."""

import numpy as np
import pyarrow as pa

WORD_BITS = 64
WORD = 2**WORD_BITS
Whole = np.ndarray  # of Python integers: exact however large


def from_arrow(column: pa.ChunkedArray | pa.Array) -> Whole:
    """The whole numbers of a decimal column without nulls, in units of its last place."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    words = np.frombuffer(array.buffers()[1], dtype="<u8")[2 * array.offset : 2 * (array.offset + len(array))]
    low, high = words[0::2], words[1::2].view("<i8")
    if np.array_equal(low.view("<i8") >> (WORD_BITS - 1), high):  # the upper word only carries the sign
        return low.view("<i8").astype(object)
    wide: Whole = high.astype(object) * WORD + low.astype(object)
    return wide


def zeros(*shape: int) -> Whole:
    out = np.empty(shape, dtype=object)
    out.fill(0)
    return out


def running(numbers: Whole) -> Whole:
    """Sums of what stands before each place along the last axis, with one more place at the end."""
    out = zeros(*numbers.shape[:-1], numbers.shape[-1] + 1)
    np.cumsum(numbers, axis=-1, out=out[..., 1:])
    return out


def sum_by(keys: np.ndarray, numbers: Whole) -> tuple[np.ndarray, Whole]:
    """The distinct keys in order, and the sum of the numbers under each."""
    if not np.all(keys[1:] >= keys[:-1]):
        order = np.argsort(keys, kind="stable")
        keys, numbers = keys[order], numbers[order]
    first = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))[: len(keys)]
    if len(first) == len(keys):
        return keys, numbers
    return keys[first], np.add.reduceat(numbers, first)
