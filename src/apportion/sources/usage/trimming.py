"""Values of labels without the white space around them; a value that is blank is no label."""

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import LABELS
from apportion.sources.cells.text import per_distinct, text


def trimmed_text(cells: pa.Array) -> pa.Array:
    """A column as text; no-break spaces are white space too."""
    return per_distinct(text(cells), trimmed)


def trimmed(values: pa.Array) -> pa.Array:
    bare = pc.utf8_trim_whitespace(values)
    return pc.if_else(pc.equal(bare, ""), None, bare)


def trimmed_maps(maps: pa.Array) -> pa.Array:
    """Maps of labels, of which few need a change."""
    bare = pc.utf8_trim_whitespace(maps.items)
    if not len(bare) or not pc.any(pc.or_(pc.not_equal(bare, maps.items), pc.equal(bare, "")), min_count=0).as_py():
        return maps
    return pa.array([without_blanks(pairs) for pairs in maps.to_pylist()], LABELS)


def without_blanks(pairs: list[tuple[str, str]] | None) -> list[tuple[str, str]] | None:
    return None if pairs is None else [(name, value.strip()) for name, value in pairs if value.strip()]
