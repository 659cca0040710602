"""Tags of a line: its resource tags and its cost categories.

    user:team, user_team          team, unless the line has a tag `team` besides or the rest would read as one of AWS's own names
    aws:createdBy, aws_created_by as they stand
    cost category Team            cost_category.Team

A tag without a value is none: in the older report every tag has a column, empty where a resource lacks it. Rows are looked at by what is
distinct: each of the maps, or columns, becomes numbers, the numbers of a row one number, and only those are told apart in Python.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.kinds import kinds
from apportion.sources.aws.block import Block
from apportion.sources.cells.text import is_text

USER = ("user:", "user_")
OWN = ("aws:", "aws_", "cost_category.")
CATEGORY = "cost_category."
Labels = dict[str, str]


@dataclass(frozen=True, slots=True)
class Distinct:
    """`values` are the distinct ones, `codes` which of them each row has; None is one that cannot be read."""

    codes: npt.NDArray[np.int64]
    values: list[Labels | None]


def tags(block: Block) -> pa.DictionaryArray:
    """JSON text, each once only; what cannot be read is left to be marked."""
    whole = Distinct(np.zeros(block.count, np.int64), [{}])
    for one in parts(block):
        whole = together(whole, one)
    texts = ["[]" if found is None else json.dumps(found, sort_keys=True, ensure_ascii=False) for found in whole.values]
    return pa.DictionaryArray.from_arrays(pa.array(whole.codes, pa.int32()), pa.array(texts, pa.string()))


def parts(block: Block) -> Iterator[Distinct]:
    if block.has("resource_tags"):
        yield distinct(block.cells("resource_tags"), named)
    if block.header.tags:
        yield named_columns(block, block.header.tags, named)
    if block.has("cost_category"):
        yield distinct(block.cells("cost_category"), categorised)
    if block.header.categories:
        yield named_columns(block, block.header.categories, categorised)


def named(found: Labels) -> Labels:
    """Resource tags without AWS's prefix for those that people gave, where that makes no two tags one."""
    short = {key: stripped(key) for key in found}
    times: dict[str, int] = {}
    for name in short.values():
        times[name] = times.get(name, 0) + 1
    return {key if times[name] > 1 else name: found[key] for key, name in short.items()}


def stripped(key: str) -> str:
    rest = next((key.removeprefix(prefix) for prefix in USER if key.startswith(prefix)), key)
    return key if not rest or rest.startswith(OWN) else rest


def categorised(found: Labels) -> Labels:
    return {CATEGORY + key: value for key, value in found.items()}


def distinct(cells: pa.Array, rename: Callable[[Labels], Labels]) -> Distinct:
    """Of a column that holds Arrow maps, or JSON objects as text."""
    if not is_text(cells):
        few = kinds([cells], len(cells))
        maps = cells.take(pa.array(few.first)).to_pylist()
        return Distinct(few.of, [rename(said(dict(cell or ()))) for cell in maps])
    encoded = cells if pa.types.is_dictionary(cells.type) else cells.dictionary_encode()
    read = [parsed(cell) for cell in encoded.dictionary.to_pylist()]
    codes = np.asarray(pc.fill_null(encoded.indices, len(read))).astype(np.int64)
    return Distinct(codes, [None if found is None else rename(found) for found in [*read, {}]])


def parsed(cell: str | None) -> Labels | None:
    try:
        found = json.loads(cell or "{}")
    except (ValueError, RecursionError):
        return None
    return said(found) if isinstance(found, dict) else None


def said(found: Mapping[str, object]) -> Labels:
    return {str(key): str(value) for key, value in found.items() if value not in (None, "")}


def named_columns(block: Block, columns: Mapping[str, str], rename: Callable[[Labels], Labels]) -> Distinct:
    """Columns that hold one tag each."""
    whole = Distinct(np.zeros(block.count, np.int64), [{}])
    for key, column in sorted(columns.items()):
        encoded = block.part.text(column).dictionary_encode()
        values: list[Labels | None] = [{key: value} for value in encoded.dictionary.to_pylist()]
        codes = np.asarray(pc.fill_null(encoded.indices, len(values))).astype(np.int64)
        whole = together(whole, Distinct(codes, [*values, {}]))
    return Distinct(whole.codes, [None if found is None else rename(found) for found in whole.values])


def together(one: Distinct, other: Distinct) -> Distinct:
    """What two say of the same rows."""
    width = len(other.values)
    encoded = pa.array(one.codes * width + other.codes).dictionary_encode()
    values: list[Labels | None] = []
    for pair in encoded.dictionary.to_pylist():
        left, right = one.values[pair // width], other.values[pair % width]
        values.append(None if left is None or right is None else left | right)
    return Distinct(np.asarray(encoded.indices).astype(np.int64), values)
