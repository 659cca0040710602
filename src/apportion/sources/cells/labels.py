"""Labels: maps of text to text, from columns, from JSON text and from Arrow maps."""

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.kinds import kinds
from apportion.model.rows import LABELS, set_of_labels
from apportion.sources.cells.parsed import Parsed
from apportion.sources.cells.text import as_json, is_text, rows_where

LONGEST = 2**18
DECODER = json.JSONDecoder(parse_constant=str)


def labels_from_columns(rows: int, columns: Mapping[str, pa.Array], others: pa.Array | None = None) -> pa.Array:
    """One map a row: a label for each column that has a value there, and of `others` those that no column gives."""
    if not columns:
        return others if others is not None else no_labels(rows)
    names = sorted(columns)
    values = [columns[name] for name in names]
    if others is None and not any(value.null_count for value in values):
        return interleaved(rows, names, values)
    valid = [np.asarray(value.is_valid()) for value in values]
    row_of = np.concatenate([np.flatnonzero(mask) for mask in valid])
    name_of = np.repeat(np.arange(len(names)), [int(mask.sum()) for mask in valid])
    keys = pa.array(names, pa.string()).take(pa.array(name_of))
    items = pa.concat_arrays([value.drop_null() for value in values])
    if others is not None:
        parents, kept = remaining(others, names, valid)
        row_of = np.concatenate([row_of, parents])
        keys = pa.concat_arrays([keys, others.keys.filter(kept)])
        items = pa.concat_arrays([items, others.items.filter(kept)])
    order = np.argsort(row_of, kind="stable")
    offsets = np.zeros(rows + 1, np.int32)
    np.cumsum(np.bincount(row_of, minlength=rows), out=offsets[1:])
    taken = pa.array(order)
    return pa.MapArray.from_arrays(pa.array(offsets), keys.take(taken), items.take(taken))


def interleaved(rows: int, names: list[str], values: list[pa.Array]) -> pa.Array:
    """Every label on every row: no sorting needed."""
    count = len(names)
    items = pa.concat_arrays(values).take(pa.array(np.arange(count * rows).reshape(count, rows).T.ravel()))
    keys = pa.array(names, pa.string()).take(pa.array(np.tile(np.arange(count, dtype=np.int32), rows)))
    return pa.MapArray.from_arrays(pa.array(np.arange(0, count * rows + 1, count, dtype=np.int32)), keys, items)


def remaining(maps: pa.Array, names: list[str], valid: list[Any]) -> tuple[Any, pa.Array]:
    """Row numbers and mask of those map entries whose key no column gives for their row."""
    lengths = np.diff(np.asarray(maps.offsets))
    parents = np.repeat(np.arange(len(maps)), lengths)
    kept = np.ones(len(parents), bool)
    for name, mask in zip(names, valid, strict=True):
        kept &= ~(np.asarray(pc.equal(maps.keys, name)) & mask[parents])
    return parents[kept], pa.array(kept)


def label_sets(rows: int, columns: Mapping[str, pa.Array], maps: pa.Array | None) -> pa.Array:
    """The name of each row's set of labels, null where it has none; each distinct set is looked at once."""
    given = [*columns.values(), *([] if maps is None else [maps])]
    few = kinds(given, rows)
    first = pa.array(few.first)
    distinct = {name: column.take(first) for name, column in columns.items()}
    labels = labels_from_columns(len(first), distinct, None if maps is None else maps.take(first))
    names = [set_of_labels(pairs) if pairs else None for pairs in labels.to_pylist()]
    return pa.array(names, pa.string()).take(pa.array(few.of))


def no_labels(rows: int) -> pa.Array:
    return pa.MapArray.from_arrays(
        pa.array(np.zeros(rows + 1, np.int32)), pa.array([], pa.string()), pa.array([], pa.string())
    )


def labels_from_cells(column: pa.Array) -> Parsed:
    """Maps from a column that holds JSON objects as text, or Arrow maps or structs. The code of a bad row is `invalid-labels`; its map is empty."""
    if pa.types.is_null(column.type):
        return Parsed(no_labels(len(column)))
    if not is_text(column):
        return Parsed(from_nested(column))
    encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    distinct = [parse(cell) for cell in encoded.dictionary.to_pylist()]
    bad = {number for number, found in enumerate(distinct) if found is None}
    maps = pa.array([found or [] for found in distinct] + [[]], LABELS)
    taken = maps.take(pc.fill_null(encoded.indices, len(distinct)))
    rows = rows_where(pc.is_in(encoded.indices, pa.array(sorted(bad), encoded.indices.type))) if bad else []
    return Parsed(taken, dict.fromkeys(rows, "invalid-labels"))


def from_nested(column: pa.Array) -> pa.Array:
    """Arrow maps, mostly few distinct ones: each is looked at once. Other nested types row by row."""
    if not pa.types.is_map(column.type) or not all(
        pa.types.is_string(part.type) for part in (column.keys, column.items)
    ):
        return pa.array([entries(plain(cell)) for cell in column.to_pylist()], LABELS)
    few = kinds([column], len(column))
    distinct = [entries(plain(cell)) for cell in column.take(pa.array(few.first)).to_pylist()]
    return pa.array(distinct, LABELS).take(pa.array(few.of))


def plain(cell: Any) -> Any:
    """An Arrow map arrives as pairs, a struct as a dict with nulls for the keys it lacks."""
    if isinstance(cell, list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in cell):
        return dict(cell)
    if isinstance(cell, list):  # repeated key/value records, as some warehouses export labels
        return {pair["key"]: pair.get("value") for pair in cell if isinstance(pair, dict) and pair.get("key")}
    return {key: value for key, value in cell.items() if value is not None} if isinstance(cell, dict) else None


def parse(cell: str) -> list[tuple[str, str]] | None:
    """Pairs of one JSON object, None where it is not one."""
    if len(cell) > LONGEST:
        return None
    try:
        found = DECODER.decode(cell)
        pairs = entries(found) if isinstance(found, dict) else None
        "".join(part for pair in pairs or [] for part in pair).encode()  # half of a surrogate pair is no character
    except (ValueError, RecursionError):
        return None
    return pairs


def entries(found: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Values as text: nested ones as compact JSON, null, true and false as their words."""
    pairs = [
        (str(key), value if isinstance(value, str) else as_text(value)) for key, value in sorted((found or {}).items())
    ]
    return [(composed(key), composed(value)) for key, value in pairs if key]


def composed(word: str) -> str:
    """As `clean` does for a whole column, for one word: a column of two is too small to be quick."""
    return word if word.isascii() else unicodedata.normalize("NFC", word)


def as_text(value: object) -> str:
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return as_json(value) or json.dumps(value)
