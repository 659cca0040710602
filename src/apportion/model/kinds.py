"""Rows that say the same in some columns are of one kind.

Most rows of a bill repeat the words of others and differ in times and amounts: what is made of the words is made once a kind.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Codes = npt.NDArray[np.int64]
WIDEST = 2**62
SAMPLE = 8192


class Kinds(NamedTuple):
    """`of` each row, the number of its kind; `first`, for each kind, a row that is of it."""

    of: Codes
    first: Codes


def kinds(columns: Iterable[pa.Array | pa.ChunkedArray], rows: int) -> Kinds:
    """Text, numbers and maps of text; null is a word like any other."""
    codes, width = np.zeros(rows, np.int64), 1
    for column in columns:
        found, count = numbered(column)
        codes, width = together(codes, width, found, count)
    codes, width = compact(codes) if rows else (codes, 0)
    first = np.zeros(width, np.int64)
    first[codes[::-1]] = np.arange(rows - 1, -1, -1)
    return Kinds(codes, first)


def are_few(columns: Iterable[pa.Array | pa.ChunkedArray], rows: int) -> bool:
    """Whether it pays to look at kinds: told from the first rows."""
    sample = min(rows, SAMPLE)
    return len(kinds((column.slice(0, sample) for column in columns), sample).first) * 2 <= sample


def together(codes: Codes, width: int, found: Codes, count: int) -> tuple[Codes, int]:
    """One number for two, of which there are `width` and `count`."""
    if count == 1:
        return codes, width
    if width * count > WIDEST:
        codes, width = compact(codes)
    return codes * count + found, width * count


def compact(codes: Codes) -> tuple[Codes, int]:
    return numbered(pa.array(codes))


def numbered(column: pa.Array | pa.ChunkedArray) -> tuple[Codes, int]:
    """A number from 0 for what each row says, and how many numbers there are."""
    if column.null_count == len(column):
        return np.zeros(len(column), np.int64), 1
    if not pa.types.is_map(column.type) and not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode(
            null_encoding="encode"
        )  # before chunks become one: texts may be too long for that
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_map(column.type):
        return numbered_maps(column)
    codes, count = column.indices, len(column.dictionary)
    if codes.null_count:
        codes, count = pc.fill_null(codes, count), count + 1
    return np.asarray(codes).astype(np.int64), count


def numbered_maps(maps: pa.MapArray) -> tuple[Codes, int]:
    """Entry by entry, in the order in which they stand: the first of every map, the second, ..."""
    whole = pa.concat_arrays([maps])  # a slice's offsets would not begin at 0
    entries = kinds([whole.keys, whole.items], len(whole.keys)).of + 1
    offsets = np.asarray(whole.offsets)
    lengths = np.diff(offsets)
    codes, width = np.where(np.asarray(whole.is_valid()), 0, 1).astype(np.int64), 2
    padded, count = np.append(entries, 0), int(entries.max(initial=0)) + 1
    for place in range(int(lengths.max(initial=0))):
        found = padded[np.where(lengths > place, offsets[:-1] + place, -1)]
        codes, width = together(codes, width, found, count)
    return compact(codes)


def summed(rows: pa.Table, keys: Sequence[str], names: Sequence[str]) -> pa.Table:
    """A row for each kind, with the sums of some columns under their own names."""
    found = rows.group_by(list(keys)).aggregate([(name, "sum") for name in names])
    return found.rename_columns([name.removesuffix("_sum") for name in found.column_names])
