"""Labels, met in bulk: the few distinct combinations of the labels that the policy asks about, instead of every row.

Rules are matched once per combination; rows carry the combination's number.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import FOCUS_TEXT
from apportion.policy.match import labels_in

SPARSE = 4
OWN_COLUMNS = ("component", "source", "line_type", "status")  # of cost lines, beside FOCUS's


@dataclass(frozen=True, slots=True)
class Combinations:
    """`of_row[i]` is the number of row i's combination; `labels[n]` are the labels of combination n, without the missing ones."""

    of_row: np.ndarray
    labels: tuple[Mapping[str, str], ...]


def named_in(templates: Iterable[str]) -> set[str]:
    """The labels that templates ask for."""
    return {label for template in templates for label in labels_in(template)}


def keys_of(column: pa.ChunkedArray) -> list[str]:
    """Every label key that occurs, sorted."""
    found: set[str] = set()
    for chunk in column.chunks:
        found.update(pc.unique(chunk.keys).to_pylist())
    return sorted(found)


def labelled(column: pa.ChunkedArray) -> pa.Array:
    """Which rows carry any label at all."""
    counts = [np.diff(chunk.offsets.to_numpy()) > 0 for chunk in column.chunks]
    return pa.array(np.concatenate(counts) if counts else [], pa.bool_())


def label_column(column: pa.ChunkedArray, known: Sequence[str], key: str) -> pa.ChunkedArray | None:
    """The label `key`, else the first that ends in `.key`, of every row; None where no row has it."""
    names = ([key] if key in known else []) + [name for name in known if name.endswith("." + key)]
    if not names:
        return None
    found = [pa.chunked_array([looked_up(chunk, name) for chunk in column.chunks], pa.string()) for name in names]
    return found[0] if len(found) == 1 else pc.coalesce(*found)


def looked_up(labels: pa.MapArray, name: str) -> pa.Array:
    """As Arrow's `map_lookup` of the first, in a quarter of its time: all keys are compared at once, not row by row."""
    if labels.null_count:
        return pc.map_lookup(labels, name, "first")
    offsets = labels.offsets.to_numpy()
    hits = np.flatnonzero(pc.equal(labels.keys, name).to_numpy(zero_copy_only=False))
    hits = hits[
        (offsets[0] <= hits) & (hits < offsets[-1])
    ]  # the keys are those of a whole of which this may be a slice
    place = np.full(len(labels), -1)
    place[(np.searchsorted(offsets, hits, "right") - 1)[::-1]] = hits[::-1]  # of several, the first stays
    return labels.items.take(pa.array(place, mask=place < 0))


def line_columns(lines: pa.Table, keys: set[str]) -> dict[str, pa.ChunkedArray | None]:
    """The columns behind selector keys: FOCUS columns by name, tags as `tag.KEY`, or the ending of either."""
    tags = keys_of(lines["Tags"])
    plain = (*FOCUS_TEXT, *OWN_COLUMNS)
    out: dict[str, pa.ChunkedArray | None] = {}
    for key in sorted(keys):
        if key in plain:
            out[key] = lines[key]
        elif key.startswith("tag."):
            out[key] = label_column(lines["Tags"], tags, key[4:])
        else:
            out[key] = label_column(lines["Tags"], tags, key)
    return out


def renumbered(codes: np.ndarray) -> np.ndarray:
    """The same classes, numbered 0, 1, 2, ... without gaps: by a table of what occurs, or by sorting where that would be large."""
    size = int(codes.max(initial=-1)) + 1
    if size > SPARSE * len(codes) + SPARSE:
        _, codes = np.unique(codes, return_inverse=True)
        return codes
    occurs = np.zeros(size, dtype=bool)
    occurs[codes] = True
    dense: np.ndarray = (np.cumsum(occurs) - 1)[codes]
    return dense


def first_of_each(codes: np.ndarray) -> np.ndarray:
    first = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)  # of several, the last that is written stays: the first row
    return first


def combine(rows: int, columns: Mapping[str, pa.ChunkedArray | pa.Array | None]) -> Combinations:
    """The distinct combinations of some text columns, in an order that does not depend on the rows' order."""
    codes = np.zeros(rows, dtype=np.int64)
    present = {key: column for key, column in columns.items() if column is not None}
    for column in present.values():
        values = pc.dictionary_encode(column, null_encoding="encode")
        array = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
        indices = array.indices.to_numpy(zero_copy_only=False)
        codes = renumbered(codes * len(array.dictionary) + indices)
    first, of_row = first_of_each(codes), codes
    picked = {key: column.take(pa.array(first)).to_pylist() for key, column in present.items()}
    labels = [{key: values[n] for key, values in picked.items() if values[n] is not None} for n in range(len(first))]
    order = sorted(range(len(labels)), key=lambda n: sorted(labels[n].items()))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return Combinations(rank[of_row] if rows else of_row, tuple(labels[n] for n in order))
