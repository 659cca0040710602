"""Places inside cells that hold JSON (or Arrow structs, lists and maps): the values there as columns of text, and an array as rows of its own."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from apportion.sources.cells.text import as_json, is_text
from apportion.sources.files.json_lines import DECODER, refuse_deep

Steps = tuple[str | int, ...]
AT_ONCE = 2**15  # rows decoded at a time: decoded objects are many times as large as their text
NO_JSON = "holds no JSON"


def dig(column: pa.Array, paths: Sequence[Steps]) -> tuple[list[pa.Array], dict[int, str]]:
    """A column of text for each path, null where there is nothing; and the rows whose cell is no JSON at all."""
    found: list[list[pa.Array]] = [[] for _ in paths]
    bad: dict[int, str] = {}
    for _, values in decoded(column, bad):
        for made, steps in zip(found, paths, strict=True):
            made.append(as_column([walk(value, steps) for value in values]))
    return [pa.concat_arrays(parts) if parts else pa.array([], pa.string()) for parts in found], bad


def decoded(column: pa.Array, bad: dict[int, str]) -> Iterator[tuple[int, list[Any]]]:
    """Blocks of cells as Python objects, each with the number of its first row."""
    for first in range(0, len(column), AT_ONCE):
        part = column.slice(first, AT_ONCE)
        if not is_text(part):
            yield first, part.to_pylist()
            continue
        texts = part.to_pylist()
        known = {written: decode(written) for written in set(texts) if written is not None}
        for row, written in enumerate(texts):
            if written is not None and known[written] is None:
                bad[first + row] = NO_JSON
        yield first, [None if written is None else known[written] for written in texts]


def decode(written: str) -> Any:
    """None where it is no JSON; numbers keep their digits."""
    try:
        found = DECODER.decode(written)
        if "\\ud" in written.lower():  # half of a surrogate pair is no character
            json.dumps(found, ensure_ascii=False).encode()
        if isinstance(found, dict | list):
            refuse_deep(found, written)
    except (ValueError, RecursionError):
        return None
    return found


def walk(value: Any, steps: Steps) -> Any:
    for step in steps:
        value = inside(value, step)
        if value is None:
            return None
    return value


def inside(value: Any, step: str | int) -> Any:
    if isinstance(value, list) and value and isinstance(value[0], tuple) and isinstance(step, str):
        value = dict(value)  # an Arrow map arrives as pairs
    if isinstance(value, dict) and isinstance(step, str):
        return value.get(step)
    if isinstance(value, list) and isinstance(step, int) and -len(value) <= step < len(value):
        return value[step]
    return None


def as_column(values: list[Any]) -> pa.Array:
    return pa.array([as_text(value) for value in values], pa.string())


def as_text(value: Any) -> str | None:
    if isinstance(value, dict | list):
        return as_json(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return None if value is None else str(value)


def elements(column: pa.Array, steps: Steps) -> tuple[np.ndarray, pa.Array, list[int]]:
    """The items of the array that lies at a path: the row of each, each as text, and the rows that have none."""
    bad: dict[int, str] = {}
    rows: list[int] = []
    items: list[pa.Array] = []
    without: list[int] = []
    for first, values in decoded(column, bad):
        found = [walk(value, steps) for value in values]
        for row, array in enumerate(found):
            if not isinstance(array, list) or not array:
                without.append(first + row)
            else:
                rows += [first + row] * len(array)
        items.append(as_column([item for array in found if isinstance(array, list) for item in array]))
    return np.array(rows, np.int64), pa.concat_arrays(items) if items else pa.array([], pa.string()), without
