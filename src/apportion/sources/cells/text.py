"""Any column as text: empty is null, and letters are in Unicode's composed form, so that two spellings of one name are one name."""

import json
from collections.abc import Callable, Collection

import pyarrow as pa
import pyarrow.compute as pc

SAMPLE = 10_000


def text(column: pa.Array) -> pa.Array:
    """A string array. Numbers are written in their shortest exact form, lists and maps as compact JSON."""
    if pa.types.is_dictionary(column.type) or pa.types.is_string(column.type):
        return per_distinct(column, clean)
    if pa.types.is_null(column.type):
        return pa.nulls(len(column), pa.string())
    if pa.types.is_nested(column.type):
        return clean(pa.array([as_json(value) for value in column.to_pylist()], pa.string()))
    if pa.types.is_date(column.type) or pa.types.is_timestamp(column.type):
        return clean(
            pc.strftime(
                column, format="%Y-%m-%dT%H:%M:%S%z" if getattr(column.type, "tz", None) else "%Y-%m-%dT%H:%M:%S"
            )
        )
    return clean(pc.cast(column, pa.string()))


def per_distinct(column: pa.Array, parse: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """`parse` over the distinct values only, where the column repeats them."""
    if not pa.types.is_dictionary(column.type):
        sample = column.slice(0, SAMPLE)
        if len(sample.unique()) * 2 > len(sample):
            return parse(column)
        column = column.dictionary_encode()
    values = column.dictionary
    return parse(pc.cast(values, pa.string()) if pa.types.is_large_string(values.type) else values).take(column.indices)


def clean(column: pa.Array) -> pa.Array:
    if not pc.all(pc.string_is_ascii(column), min_count=0).as_py():
        column = pc.utf8_normalize(column, form="NFC")
    return pc.if_else(pc.equal(column, ""), None, column)


def as_json(value: object) -> str | None:
    if value is None or value in ({}, []):
        return None
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)


def rows_where(mask: pa.Array) -> list[int]:
    """The numbers of the rows for which a mask is true (null is not)."""
    found: list[int] = pc.indices_nonzero(mask).to_pylist()
    return found


def lost(cells: pa.Array, values: pa.Array) -> list[int]:
    """The rows that had a cell and got no value."""
    return [] if cells.null_count == values.null_count else rows_where(pc.and_(cells.is_valid(), values.is_null()))


def mask_of(rows: Collection[int], count: int) -> pa.Array:
    """The other way round."""
    if not rows:
        return pa.repeat(pa.scalar(False), count)
    chosen = set(rows)
    return pa.array([row in chosen for row in range(count)])


def is_text(column: pa.Array) -> bool:
    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def shown(name: str, cells: pa.Array, row: int) -> str:
    """A cell in a message: its column and the beginning of what it says."""
    value = cells[row].as_py()
    return f"{name} (empty)" if value is None else f"{name} {str(value)[:40]!r}"
