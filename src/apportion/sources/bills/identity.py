"""Ids of cost lines: from what a line says, not from where it stands, so that order, file names and formats do not matter.

Vendors' own line ids are unique in one file at best and change between deliveries. Two equal lines are two lines: they differ by
their occurrence number, and being equal it does not matter which is which.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import ADDED, FOCUS_NUMBERS, FOCUS_TEXT

SECONDS = ("billing_start_s", "billing_end_s", "charge_start_s", "charge_end_s")
FIELD, PAIR, WORD = "\x1f", "\x1e", "\x1d"
DIGITS = 32


def line_ids(parts: Iterable[pa.Table], source: str) -> pa.Array:
    """Ids of the lines of all parts, in their order."""
    start = hashlib.sha256(source.encode() + b"\0")
    hashes = [after(start, row) for part in parts for row in content(part).cast(pa.binary()).to_pylist()]
    if len(set(hashes)) == len(hashes):
        return pa.array(hashes, pa.string())
    seen: Counter[str] = Counter()
    ids = []
    for found in hashes:
        seen[found] += 1
        ids.append(found if seen[found] == 1 else after(start, f"{found} {seen[found]}".encode()))
    return pa.array(ids, pa.string())


def after(start: "hashlib._Hash", data: bytes) -> str:
    whole = start.copy()
    whole.update(data)
    return whole.hexdigest()[:DIGITS]


def content(lines: pa.Table) -> pa.Array:
    """Each line as one text, the same whatever file it came from; `lines` is at most a million rows, so that a text column is one array."""
    columns = [lines[name] for name in (*SECONDS, *FOCUS_NUMBERS, "component", *FOCUS_TEXT) if name not in ADDED]
    tags = lines["Tags"].combine_chunks()
    pairs = pc.binary_join_element_wise(tags.keys, tags.items, WORD)
    columns.append(pc.binary_join(pa.ListArray.from_arrays(tags.offsets, pairs), PAIR))
    parts = []
    between = ""
    for column in columns:
        if column.null_count < len(column):  # most columns of most bills are empty: only their separator is written
            parts += [pa.scalar(between), pc.cast(column, pa.string())]
            between = ""
        between += FIELD
    parts += [said(lines[name], name) for name in ADDED if lines[name].null_count < len(lines)]
    joined = pc.binary_join_element_wise(*parts, pa.scalar(between), "", null_handling="replace", null_replacement="")
    return joined.combine_chunks() if isinstance(joined, pa.ChunkedArray) else joined


def said(column: pa.ChunkedArray, name: str) -> pa.ChunkedArray:
    """By name and only where it says something: lines that never had the column keep their ids."""
    return pc.binary_join_element_wise(f"{WORD}{name}{WORD}", pc.cast(column, pa.string()), "")
