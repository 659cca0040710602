"""Whole numbers beyond 64 bits, many at a time: numpy arrays of Python integers, read from Arrow's 38-digit decimals."""

import numpy as np
import pyarrow as pa

WORD_BITS = 64
WORD = 2**WORD_BITS
LARGEST_INT = 2**62  # what 64 bits hold, with room for a sign and one carry
Whole = np.ndarray  # of Python integers: exact however large


def from_arrow(column: pa.ChunkedArray | pa.Array, times: int = 1) -> Whole:
    """The whole numbers of a decimal column without nulls, in units of its last place, times a factor; equal ones are made once."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = array.dictionary_encode()
    distinct = coded.dictionary
    words = np.frombuffer(distinct.buffers()[1], dtype="<u8")[
        2 * distinct.offset : 2 * (distinct.offset + len(distinct))
    ]
    low, high = words[0::2].astype(object), words[1::2].view("<i8").astype(object)
    numbers: Whole = (high * WORD + low) * times
    found: Whole = numbers[coded.indices.to_numpy()]
    return found


def words_of(numbers: Whole, longest: int) -> list[np.ndarray]:
    """Numbers of at most so many bits in words of 64, from the lowest; one more word carries the sign on."""
    words = []
    while longest >= WORD_BITS:
        words.append((numbers & (WORD - 1)).astype(np.uint64))
        numbers, longest = numbers >> WORD_BITS, longest - WORD_BITS
    last = numbers.astype(np.int64)
    return [*words, last.view(np.uint64), (last >> (WORD_BITS - 1)).view(np.uint64)]


def zeros(*shape: int) -> Whole:
    out = np.empty(shape, dtype=object)
    out.fill(0)
    return out


def running(numbers: Whole) -> Whole:
    """Sums of what stands before each place along the last axis, with one more place at the end."""
    out = zeros(*numbers.shape[:-1], numbers.shape[-1] + 1)
    np.cumsum(numbers, axis=-1, out=out[..., 1:])
    return out


def starts_of(*keys: np.ndarray) -> np.ndarray:
    """Where rows that stand together by these keys begin."""
    changed = np.ones(len(keys[0]), dtype=bool)
    changed[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    return np.flatnonzero(changed)


def sum_by(keys: np.ndarray, numbers: Whole) -> tuple[np.ndarray, Whole]:
    """The distinct keys in order, and the sum of the numbers under each."""
    if not np.all(keys[1:] >= keys[:-1]):
        order = np.argsort(keys, kind="stable")
        keys, numbers = keys[order], numbers[order]
    first = starts_of(keys)
    if len(first) == len(keys):
        return keys, numbers
    return keys[first], np.add.reduceat(numbers, first)


def to_arrow(numbers: Whole, kind: pa.Decimal128Type) -> pa.Array:
    """The way back: whole numbers of a decimal's last place. What has too many digits is refused."""
    words = np.empty((len(numbers), 2), dtype="<u8")
    words[:, 0] = (numbers & (WORD - 1)).astype(np.uint64)
    words[:, 1] = (numbers >> WORD_BITS).astype(np.int64).view(np.uint64)
    made = pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(words.tobytes())])
    made.validate(full=True)
    return made
