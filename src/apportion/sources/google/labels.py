"""Labels of a row, from where they lie in the export, as one map.

    labels           KEY                 of the resource; those of GKE cost allocation among them
    system_labels    system.KEY          what Google says of the resource, such as its machine type
    project.labels   project.KEY
    tags             resource.NAMESPACE/KEY   resource manager tags; without the namespace where there is none

A key that stands twice on a row keeps its first value; others follow as KEY#2, KEY#3.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.sources.cells.text import text
from apportion.sources.google.fields import Fields, Records

PREFIXES = {"labels": "", "system_labels": "system.", "project.labels": "project.", "tags": "resource."}


def labels_of(fields: Fields, own: Records) -> tuple[pa.Array, list[int]]:
    """A map for each row, sorted by key, and the rows whose labels could not be read; `own` are those of `labels`."""
    rows, keys, values, bad = [], [], [], set[int]()
    for path, prefix in PREFIXES.items():
        found = own if path == "labels" else fields.pairs(path)
        bad.update(found.bad)
        if not len(found.rows):
            continue
        space = text(found.fields["namespace"])
        before = pc.fill_null(pc.binary_join_element_wise(prefix, space, "/", ""), prefix)
        rows.append(found.rows)
        keys.append(pc.binary_join_element_wise(before, text(found.fields["key"]), ""))
        values.append(pc.fill_null(text(found.fields["value"]), ""))
    return merged(fields.part.count, rows, keys, values), sorted(bad)


def merged(count: int, rows: Sequence[np.ndarray], keys: Sequence[pa.Array], values: Sequence[pa.Array]) -> pa.Array:
    if not rows:
        empty = pa.array([], pa.string())
        return pa.MapArray.from_arrays(pa.array(np.zeros(count + 1, np.int32)), empty, empty)
    row_of = np.concatenate(rows)
    encoded = pa.concat_arrays(keys).dictionary_encode()
    names = encoded.dictionary.to_pylist()
    rank = np.argsort(np.argsort(np.array(names, object)))
    key_of = np.asarray(encoded.indices)
    order = np.lexsort((rank[key_of], row_of))
    row_of, key_of = row_of[order], key_of[order]
    offsets = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(row_of, minlength=count), out=offsets[1:])
    told = pa.array(numbered(row_of, key_of, names)) if twice(row_of, key_of).any() else encoded.dictionary.take(key_of)
    return pa.MapArray.from_arrays(pa.array(offsets), told, pa.concat_arrays(values).take(pa.array(order)))


def twice(row_of: np.ndarray, key_of: np.ndarray) -> np.ndarray:
    """Which entries have the row and key of the one before."""
    same = np.zeros(len(row_of), bool)
    same[1:] = (row_of[1:] == row_of[:-1]) & (key_of[1:] == key_of[:-1])
    return same


def numbered(row_of: np.ndarray, key_of: np.ndarray, names: Sequence[str]) -> list[str]:
    told, number = [], 1
    for same, key in zip(twice(row_of, key_of).tolist(), key_of.tolist(), strict=True):
        number = number + 1 if same else 1
        told.append(f"{names[key]}#{number}" if number > 1 else names[key])
    return told


def value_of(own: Records, key: str, count: int) -> pa.Array:
    """The value of one label on each row, "" where it has none, null where the row lacks the label."""
    found = own.where(pc.equal(own.fields["key"], key))
    place = np.full(count, -1)
    place[found.rows[::-1]] = np.arange(len(found.rows))[::-1]  # the first, where it stands twice
    values = pc.fill_null(pc.cast(found.fields["value"], pa.string()), "")
    return values.take(pa.array(place, mask=place < 0))
