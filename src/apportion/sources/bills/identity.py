"""Ids of cost lines: from what a line says, not from where it stands, so that order, file names and formats do not matter.

Vendors' own line ids are unique in one file at best and change between deliveries. Two equal lines are two lines: they differ by
their occurrence number, and being equal it does not matter which is which.
"""

from hashlib import sha256

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import ADDED, FOCUS_NUMBERS, FOCUS_TEXT

SECONDS = ("billing_start_s", "billing_end_s", "charge_start_s", "charge_end_s")
FIELD, PAIR, WORD = "\x1f", "\x1e", "\x1d"
BYTES = 16  # of a SHA-256, written as 32 digits
CHANGING = ("status",)  # a line that becomes final is the same line
HEX = np.array([f"{byte:02x}" for byte in range(256)], "S2")


def hashes_of(lines: pa.Table, source: str) -> np.ndarray:
    """BYTES for each line."""
    rows = content(lines, source).cast(pa.binary()).to_pylist()
    whole = b"".join([sha256(row).digest() for row in rows])
    return np.ascontiguousarray(np.frombuffer(whole, np.uint8).reshape(len(rows), -1)[:, :BYTES])


def repeated(hashes: np.ndarray, source: str) -> dict[int, bytes]:
    """Places of lines that say what an earlier one says, and their own hashes."""
    halves = np.ascontiguousarray(hashes).view(np.uint64)
    order = np.lexsort((halves[:, 1], halves[:, 0]))
    same = (halves[order[1:]] == halves[order[:-1]]).all(axis=1)
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


def content(lines: pa.Table, source: str) -> pa.Array:
    """Each line as one text, the same whatever file it came from; `lines` is at most a million rows, so that a text column is one array.

    Columns that are empty, or say the same throughout, are part of what stands between the others: most columns of most bills are such.
    """
    parts: list[pa.Array | pa.Scalar] = []
    between = f"{source}\0"
    for name in (*SECONDS, *FOCUS_NUMBERS, "component", *FOCUS_TEXT):
        if name in ADDED:
            continue
        alike, texts = written(lines[name])
        between += alike
        if texts is not None:
            parts += [pa.scalar(between), texts]
            between = ""
        between += FIELD
    tags = lines["Tags"].combine_chunks()
    pairs = pc.binary_join_element_wise(tags.keys, tags.items, WORD)
    parts += [pa.scalar(between), pc.binary_join(pa.ListArray.from_arrays(tags.offsets, pairs), PAIR)]
    between = FIELD
    parts += [said(lines[name], name) for name in ADDED if name not in CHANGING and lines[name].null_count < len(lines)]
    joined = pc.binary_join_element_wise(*parts, pa.scalar(between), "", null_handling="replace", null_replacement="")
    return joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined


def written(column: pa.ChunkedArray) -> tuple[str, pa.ChunkedArray | None]:
    """What all rows say, or what each says."""
    if column.null_count == len(column):
        return "", None
    if not column.null_count and pc.all(pc.equal(column, column[0])).as_py():
        return str(pc.cast(column.slice(0, 1), pa.string())[0].as_py()), None
    return "", pc.cast(column, pa.string())


def said(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """By name and only where it says something: lines that never had the column keep their ids."""
    return pc.binary_join_element_wise(f"{WORD}{name}{WORD}", pc.cast(column, pa.string()), "")
