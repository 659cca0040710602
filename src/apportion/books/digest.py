"""The digest of a table's rows, whatever their order, files and deliveries.

Each row is written out unambiguously (lengths before texts, map entries sorted) and hashed with MD5; the digest is the sum of the
hashes modulo 2^128 together with the number of rows. A sum is what makes it independent of order and lets a table's digest be kept
from those of its files. It answers "is this the same content?", for which MD5 is fast enough to do 1 M rows in a second. It is no
proof against a forger: that is what the SHA-256 of every file and the ledger's chain are for.
"""

import hashlib
from collections.abc import Iterable, Iterator
from decimal import Decimal
from functools import cache

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import ADDED

MODULUS = 2**128
WRITTEN = b"written"  # marks a column that is text already
HALVES = (  # summed apart: DuckDB's shifts and masks are quick, its 128-bit divisions are not
    "SELECT sum((h >> 64)::UBIGINT)::VARCHAR AS high, sum((h & 18446744073709551615::UHUGEINT)::UBIGINT)::VARCHAR AS low "
    "FROM (SELECT md5_number({text})::UHUGEINT AS h FROM rows)"
)
CONFIG: dict[str, str | bool] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "enable_external_access": False,
}


@cache
def calculator() -> duckdb.DuckDBPyConnection:
    """One in-memory DuckDB per process; callers take a cursor each."""
    return duckdb.connect(":memory:", config={**CONFIG})


def query(sql: str, rows: pa.Table) -> pa.Table:
    """`sql` over `rows`."""
    cursor = calculator().cursor()
    cursor.register("rows", rows)
    try:
        return cursor.execute(sql).to_arrow_table()
    finally:
        cursor.unregister("rows")
        cursor.close()


def content_sum(rows: pa.Table) -> int:
    if not rows.num_rows:
        return 0
    rows = with_map_texts(rows)
    said = f"concat({', '.join(texts_of(rows))})"
    sums = query(HALVES.format(text=said), rows).to_pylist()[0]
    return (int(sums["high"]) * 2**64 + int(sums["low"])) % MODULUS


def texts_of(rows: pa.Table) -> Iterator[str]:
    """As `row_text` has it, with what all rows say alike worked out once: most columns of a bill are empty, say one word, or repeat another's amounts."""
    amounts: list[pa.Field] = []
    for field in rows.schema:
        column = rows[field.name]
        if field.metadata and WRITTEN in field.metadata:
            yield f'"{field.name}"'
            continue
        if (word := common_word(field, column)) is not None:
            yield "'" + word.replace("'", "''") + "'"
            continue
        same = field
        if pa.types.is_decimal(field.type) and field.name not in ADDED:
            same = next((other for other in amounts if rows[other.name].equals(column)), field)
            amounts += [field] if same is field else []
        yield (
            added_text(field) if field.name in ADDED else field_text(same)
        )  # the calculator works out equal texts once


def common_word(field: pa.Field, column: pa.ChunkedArray) -> str | None:
    """The text of a column that says the same throughout; None where it does not."""
    named = f"+{field.name}=" if field.name in ADDED else ""
    if column.null_count == len(column):
        return "" if named else "-"
    if column.null_count or pa.types.is_map(field.type) or not pc.all(pc.equal(column, column[0])).as_py():
        return None
    value = column[0].as_py()
    if isinstance(value, str):
        return f"{named}{len(value.encode())}:{value}"
    return (
        f"{named}{value:f};" if isinstance(value, Decimal) else f"{named}{value};" if isinstance(value, int) else None
    )


def with_map_texts(rows: pa.Table) -> pa.Table:
    """Maps as the text that `field_text` makes of them, where they are few: each is written once."""
    for place, field in enumerate(rows.schema):
        if pa.types.is_map(field.type) and not rows[field.name].null_count:
            texts = map_texts(rows[field.name].combine_chunks())
            if texts is not None:
                rows = rows.set_column(place, pa.field(field.name, pa.string(), metadata={WRITTEN: b""}), texts)
    return rows


def map_texts(maps: pa.MapArray | pa.ChunkedArray) -> pa.Array | None:
    """None where most are different: then the calculator is quicker."""
    maps = pa.concat_arrays([maps]) if isinstance(maps, pa.MapArray) else maps.combine_chunks()
    entries = pc.binary_join_element_wise(
        pc.cast(pc.binary_length(maps.keys), pa.string()), ":", maps.keys,
        pc.coalesce(pc.cast(pc.binary_length(maps.items), pa.string()), "-"), pc.if_else(maps.items.is_valid(), ":", ""),
        pc.fill_null(maps.items, ""), "",
    )  # fmt: skip
    whole = pc.binary_join(pa.ListArray.from_arrays(maps.offsets, entries), "\x1e").dictionary_encode()
    if len(whole.dictionary) * 2 > len(whole):
        return None
    first = pc.index_in(pa.array(range(len(whole.dictionary)), whole.indices.type), value_set=whole.indices)
    written = []
    for row in first.to_pylist():
        begin, end = maps.offsets[row].as_py(), maps.offsets[row + 1].as_py()
        written.append(
            f"{end - begin}{{{''.join(sorted(entries.slice(begin, end - begin).to_pylist(), key=str.encode))}}}"
        )
    return pa.array(written, pa.string()).take(whole.indices)


def row_text(schema: pa.Schema) -> str:
    """The SQL expression of a row's canonical text."""
    texts = [added_text(field) if field.name in ADDED else field_text(field) for field in schema]
    return f"concat({', '.join(texts)})"  # one call: a chain of || copies the text again for each field


def added_text(field: pa.Field) -> str:
    """By its name, and only where it says something: a row that was written before the column existed has the digest that it had."""
    return f"CASE WHEN \"{field.name}\" IS NULL THEN '' ELSE concat('+{field.name}=', {field_text(field)}) END"


def field_text(field: pa.Field) -> str:
    column, kind, nullable = f'"{field.name}"', field.type, field.nullable
    if pa.types.is_map(kind):
        entry = (
            f"concat({prefixed('e.key')}, CASE WHEN e.value IS NULL THEN '-' ELSE concat({prefixed('e.value')}) END)"
        )
        entries = f"list_sort(list_transform(map_entries({column}), lambda e: {entry}))"
        text = f"cardinality({column}), '{{', list_aggregate({entries}, 'string_agg', ''), '}}'"
    else:
        text = prefixed(column) if pa.types.is_string(kind) else f"{column}, ';'"
    return f"CASE WHEN {column} IS NULL THEN '-' ELSE concat({text}) END" if nullable else text


def prefixed(column: str) -> str:
    return f"strlen({column}), ':', {column}"


def table_digest(name: str, rows: int, sums: Iterable[int]) -> str:
    return hashlib.sha256(f"{name}:{rows}:{sum(sums) % MODULUS:032x}".encode()).hexdigest()
