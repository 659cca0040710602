"""Ids of cost lines: from what a line says, not from where it stands, so that order, file names and formats do not matter.

Vendors' own line ids are unique in one file at best and change between deliveries. Two equal lines are two lines: they differ by
their occurrence number, and being equal it does not matter which is which.
"""

from collections.abc import Iterator, Sequence
from hashlib import sha256
from operator import add

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.kinds import kinds
from apportion.model.rows import ADDED, FOCUS_NUMBERS, FOCUS_TEXT
from apportion.sources.bills.fitting import RESTS

SECONDS = ("billing_start_s", "billing_end_s", "charge_start_s", "charge_end_s")
NUMBERS = (*SECONDS, *(name for name in FOCUS_NUMBERS if name not in ADDED))
WORDS = ("component", *(name for name in FOCUS_TEXT if name not in ADDED), "Tags")
FIELD, PAIR, WORD = "\x1f", "\x1e", "\x1d"
END = FIELD.encode()
BYTES = 16  # of a SHA-256, written as 32 digits
CHANGING = ("status",)  # a line that becomes final is the same line
LATE = (*(name for name in ADDED if name not in CHANGING), *RESTS.values())
HEX = np.array([f"{byte:02x}" for byte in range(256)], "S2")


def hashes_of(lines: pa.Table, source: str) -> np.ndarray:
    """BYTES for each line."""
    whole = b"".join([sha256(row).digest() for row in said_by(lines, source)])
    return np.ascontiguousarray(np.frombuffer(whole, np.uint8).reshape(len(lines), -1)[:, :BYTES])


def beside_equals(hashes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places of lines that may be equal, equal ones beside each other as they came; and of all but the first whether it equals the one before."""
    halves = np.ascontiguousarray(hashes).view(np.uint64)
    sorted_halves = np.sort(halves[:, 0])
    twice = sorted_halves[1:][sorted_halves[1:] == sorted_halves[:-1]]
    if not len(twice):
        return np.zeros(0, np.int64), np.zeros(0, bool)
    places = np.flatnonzero(np.isin(halves[:, 0], twice))
    order = places[np.lexsort((halves[places, 1], halves[places, 0]))]
    return order, (halves[order[1:]] == halves[order[:-1]]).all(axis=1)


def repeated(hashes: np.ndarray, equals: tuple[np.ndarray, np.ndarray], source: str) -> dict[int, bytes]:
    """Places of lines that say what an earlier one says, and their own hashes."""
    order, same = equals
    found: dict[int, bytes] = {}
    number = 1
    for at in np.flatnonzero(same).tolist():
        number = number + 1 if order[at] in found else 2
        first = bytes(hashes[order[at + 1]]).hex()
        found[int(order[at + 1])] = sha256(f"{source}\0{first} {number}".encode()).digest()[:BYTES]
    return found


def id_column(hashes: np.ndarray) -> pa.Array:
    """Hashes as text."""
    digits = HEX[np.ascontiguousarray(hashes)].reshape(len(hashes), BYTES)
    offsets = np.arange(len(hashes) + 1, dtype=np.int32) * (2 * BYTES)
    return pa.StringArray.from_buffers(len(hashes), pa.py_buffer(offsets), pa.py_buffer(digits.tobytes()))


def said_by(lines: pa.Table, source: str) -> Iterator[bytes]:
    """Each line as one text, the same whatever file it came from; `lines` is at most a million rows, so that a text column is one array.

    Its numbers, its words (written once for all lines that have the same), and what the columns added later say.
    """
    added = [name for name in LATE if name in lines.column_names and lines[name].null_count < len(lines)]
    late = added if any(not pa.types.is_string(lines.schema.field(name).type) for name in added) else []
    names = [*WORDS, *(name for name in added if name not in late)]
    found = kinds((lines[name] for name in names), len(lines))
    words = worded(lines.select(names).take(found.first)).to_pylist()
    texts = map(add, numbered(lines, source).to_pylist(), map(words.__getitem__, found.of.tolist()))
    if not late:
        return texts
    ends = joined([said(lines[name], name) for name in late]).to_pylist()
    return (text[: -len(END)] + end + END for text, end in zip(texts, ends, strict=True))


def numbered(lines: pa.Table, source: str) -> pa.Array:
    """Times and amounts. Columns that are empty, or say the same throughout, are part of what stands between the others."""
    parts: list[pa.Array | pa.Scalar] = []
    between = f"{source}\0"
    amounts: list[tuple[pa.ChunkedArray, pa.ChunkedArray]] = []
    for name in NUMBERS:
        column = lines[name]
        if column.null_count == len(column):
            between += FIELD
        elif not column.null_count and pc.all(pc.equal(column, column[0])).as_py():
            between += str(pc.cast(column.slice(0, 1), pa.string())[0].as_py()) + FIELD
        else:
            texts = next((texts for other, texts in amounts if other.equals(column)), None)
            if texts is None:
                texts = pc.cast(column, pa.string())
                amounts.append((column, texts))
            parts += [pa.scalar(between), texts]
            between = FIELD
    return joined([*parts, pa.repeat(pa.scalar(between), len(lines))])


def worded(lines: pa.Table) -> pa.Array:
    parts = [lines[name] for name in WORDS if name != "Tags"]
    tags = lines["Tags"].combine_chunks()
    pairs = pc.binary_join_element_wise(tags.keys, tags.items, WORD)
    parts.append(pc.binary_join(pa.ListArray.from_arrays(tags.offsets, pairs), PAIR))
    texts = pc.binary_join_element_wise(*parts, FIELD, null_handling="replace", null_replacement="")
    late = [said(lines[name], name) for name in lines.column_names[len(WORDS) :]]
    return joined([texts, *late, pa.scalar(FIELD)])


def said(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """By name and only where it says something: lines that never had the column keep their ids."""
    return pc.binary_join_element_wise(f"{WORD}{name}{WORD}", pc.cast(column, pa.string()), "")


def joined(parts: Sequence[pa.Array | pa.ChunkedArray | pa.Scalar]) -> pa.Array:
    texts = pc.binary_join_element_wise(*parts, "", null_handling="replace", null_replacement="")
    return pc.cast(texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts, pa.binary())
