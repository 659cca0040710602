"""A table's cells as text, for CSV: every digit and no exponent, nothing said as nothing. Readers of FOCUS are programs, so text stays as it is."""

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc


def as_text(table: pa.Table) -> pa.Table:
    columns = [digits(column) if pa.types.is_decimal(column.type) else column for column in table.columns]
    return pa.table(columns, schema=text_schema(table.schema))


def text_schema(schema: pa.Schema) -> pa.Schema:
    return pa.schema([pa.field(name, pa.string()) for name in schema.names])


def digits(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Arrow writes small ones with an exponent; those few are written again."""
    text = pc.cast(column, pa.string())
    short = pc.fill_null(pc.match_substring(text, "E"), fill_value=False)
    if not pc.any(short).as_py():
        return text
    again = [format(Decimal(value), "f") for value in text.filter(short).to_pylist()]
    return pa.chunked_array(
        [pc.replace_with_mask(text.combine_chunks(), short.combine_chunks(), pa.array(again, pa.string()))]
    )
