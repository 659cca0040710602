"""Fields of an export by their dotted names, however its file holds them: structs and lists (Parquet), JSON text (JSON lines) or columns
with a dot in their name (flat CSV). Numbers in text keep their digits.
"""

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.sources.bills.part import UTC, Part
from apportion.sources.cells.instants import instants
from apportion.sources.cells.text import is_text, rows_where, text
from apportion.sources.files.json_lines import DECODER, ENCODER

LONGEST = 2**20
WRAPPED = ("element", "item")  # what BigQuery's Parquet calls the one field of a list's elements


@dataclass(frozen=True, slots=True)
class Fields:
    part: Part

    def cells(self, path: str) -> pa.Array:
        if self.part.has(path):
            return self.part.cells(path)
        top, *inner = path.split(".")
        found = self.part.cells(top)
        for name in inner:
            found = member(found, name)
        return found

    def text(self, path: str) -> pa.Array:
        return text(self.cells(path))

    def seconds(self, path: str) -> pa.Array:
        """BigQuery writes `2026-10-01 00:00:00 UTC` into JSON and CSV."""
        cells = self.cells(path)
        if is_text(cells):
            cells = pc.replace_substring_regex(text(cells), r" ?UTC$", "Z")
        return instants(cells, UTC).values

    def records(self, path: str, names: Sequence[str]) -> "Records":
        return records(self.cells(path), names)

    def pairs(self, path: str) -> "Records":
        """Labels: those with a key."""
        found = self.records(path, ("namespace", "key", "value"))
        return found.where(text(found.fields["key"]).is_valid())


@dataclass(frozen=True, slots=True)
class Records:
    """All records of a repeated field one below the other; `rows` says whose each is, `bad` whose could not be read."""

    rows: np.ndarray
    fields: dict[str, pa.Array]
    bad: tuple[int, ...] = ()

    def where(self, mask: pa.Array) -> "Records":
        kept = np.asarray(pc.fill_null(mask, fill_value=False))
        fields = {name: cells.filter(pa.array(kept)) for name, cells in self.fields.items()}
        return Records(self.rows[kept], fields, self.bad)


def member(cells: pa.Array, name: str) -> pa.Array:
    """One field of a struct; nulls where there is none."""
    if pa.types.is_struct(cells.type) and cells.type.get_field_index(name) >= 0:
        return pc.struct_field(cells, name)
    if not is_text(cells):
        return pa.nulls(len(cells))
    encoded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    found = [decoded(cell) for cell in encoded.dictionary.to_pylist()]
    values = [written(each.get(name)) if isinstance(each, dict) else None for each in found]
    return pa.array(values, pa.string()).take(encoded.indices)


def records(cells: pa.Array, names: Sequence[str]) -> Records:
    bad: tuple[int, ...] = ()
    if is_text(cells):
        cells, bad = listed(cells, names)
    cells = unwrapped(cells)
    if pa.types.is_map(cells.type):
        pair = pa.struct([("key", cells.type.key_type), ("value", cells.type.item_type)])
        cells = cells.cast(pa.list_(pair))
    if not (pa.types.is_list(cells.type) or pa.types.is_large_list(cells.type)):
        return Records(np.zeros(0, np.int64), {name: pa.nulls(0, pa.string()) for name in names}, bad)
    flat = unwrapped(pc.list_flatten(cells))
    rows = np.asarray(pc.list_parent_indices(cells)).astype(np.int64)
    return Records(rows, {name: member(flat, name) for name in names}, bad)


def unwrapped(cells: pa.Array) -> pa.Array:
    """Without the groups that a Parquet file puts around a list and its elements."""
    kind = cells.type
    if pa.types.is_struct(kind) and kind.num_fields == 1 and kind.field(0).name in ("list", *WRAPPED):
        return pc.struct_field(cells, kind.field(0).name)
    return cells


def listed(cells: pa.Array, names: Sequence[str]) -> tuple[pa.Array, tuple[int, ...]]:
    encoded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    found = [entries(cell) for cell in encoded.dictionary.to_pylist()]
    wrong = [number for number, each in enumerate(found) if each is None]
    made = [[{name: written(one.get(name)) for name in names} for one in each or ()] for each in found]
    lists = pa.array(made, pa.list_(pa.struct([(name, pa.string()) for name in names])))
    bad = rows_where(pc.is_in(encoded.indices, pa.array(wrong, encoded.indices.type))) if wrong else []
    return lists.take(encoded.indices), tuple(bad)


def entries(cell: str | None) -> list[dict[str, Any]] | None:
    """The records of a text; of an object, its members as key and value."""
    found = decoded(cell)
    if isinstance(found, dict):
        return [{"key": key, "value": value} for key, value in found.items()]
    return found if isinstance(found, list) and all(isinstance(one, dict) for one in found) else None


def decoded(cell: str | None) -> Any:
    """JSON, or what Python prints of a list, as some exporters write it."""
    if cell is None or len(cell) > LONGEST:
        return None
    try:
        return DECODER.decode(cell)
    except (ValueError, RecursionError):
        pass
    try:
        return literal(ast.parse(cell, mode="eval").body, cell)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def literal(node: ast.expr, whole: str) -> Any:
    if isinstance(node, ast.List):
        return [literal(one, whole) for one in node.elts]
    if isinstance(node, ast.Dict) and all(isinstance(key, ast.Constant) for key in node.keys):
        keys = [str(key.value) for key in node.keys if isinstance(key, ast.Constant)]
        return dict(zip(keys, (literal(value, whole) for value in node.values), strict=True))
    if isinstance(node, ast.Constant) and (node.value is None or isinstance(node.value, str | bool)):
        return node.value
    number = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
    if isinstance(number, ast.Constant) and isinstance(number.value, int | float):
        return ast.get_source_segment(whole, node)
    raise ValueError("neither list, object, text nor number")


def written(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return ("true" if value else "false") if isinstance(value, bool) else ENCODER.encode(value)
