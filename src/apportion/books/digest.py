"""The digest of a table's rows, whatever their order, files and deliveries.

Each row is written out unambiguously (lengths before texts, map entries sorted) and hashed with MD5; the digest is the sum of the
hashes modulo 2^128 together with the number of rows. A sum is what makes it independent of order and lets a table's digest be kept
from those of its files. It answers "is this the same content?", for which MD5 is fast enough to do 1 M rows in a second. It is no
proof against a forger: that is what the SHA-256 of every file and the ledger's chain are for.
"""

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from decimal import Decimal
from functools import cache
from itertools import groupby

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.kinds import are_few, kinds
from apportion.model.rows import ADDED_LATER

MODULUS = 2**128
WRITTEN = b"written"  # marks a column that is text already
MANY = 6  # columns of words
HALVES = (  # summed apart: DuckDB's shifts and masks are quick, its 128-bit divisions are not
    "SELECT sum((h >> 64)::UBIGINT)::VARCHAR AS high, sum((h & 18446744073709551615::UHUGEINT)::UBIGINT)::VARCHAR AS low "
    "FROM (SELECT md5_number({text})::UHUGEINT AS h FROM rows)"
)
TEXTS = "SELECT {text} AS text FROM rows"
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
    with suppress(
        duckdb.InvalidInputException
    ):  # a notebook that cannot draw one has none, and DuckDB refuses to hear of it
        cursor.execute("set enable_progress_bar = false")  # where it has one, it prints it among what we print
    cursor.register("rows", rows)
    try:
        return cursor.execute(sql).to_arrow_table()
    finally:
        cursor.unregister("rows")
        cursor.close()


def content_sum(rows: pa.Table) -> int:
    if not rows.num_rows:
        return 0
    rows = with_amounts(with_words(rows))
    said = f"concat({', '.join(texts_of(rows))})"
    sums = query(HALVES.format(text=said), rows).to_pylist()[0]
    return (int(sums["high"]) * 2**64 + int(sums["low"])) % MODULUS


def texts_of(rows: pa.Table) -> Iterator[str]:
    """As `row_text` has it, with what all rows say alike worked out once: most columns of a bill are empty, say one word, or are written already."""
    for field in rows.schema:
        column = rows[field.name]
        if field.metadata and WRITTEN in field.metadata:
            yield f'"{field.name}"'
        elif (word := common_word(field, column)) is not None:
            yield "'" + word.replace("'", "''") + "'"
        else:
            yield added_text(field) if field.name in ADDED_LATER else field_text(field)


def with_amounts(rows: pa.Table) -> pa.Table:
    """Amounts as the text that `field_text` makes of them: Arrow is quicker at it. Columns of equal amounts, as many a bill has, share it."""
    known: list[tuple[pa.ChunkedArray, pa.ChunkedArray]] = []
    for place, field in enumerate(rows.schema):
        column = rows[field.name]
        if not pa.types.is_decimal(field.type) or common_word(field, column) is not None:
            continue
        texts = next((texts for other, texts in known if other.equals(column)), None)
        if texts is None:
            texts = pa.chunked_array([all_places(chunk) for chunk in column.chunks], pa.string())
            known.append((column, texts))
        if field.name in ADDED_LATER:
            texts = pc.binary_join_element_wise(f"+{field.name}=", texts, "")
        texts = pc.fill_null(texts, "" if field.name in ADDED_LATER else "-")
        rows = rows.set_column(place, pa.field(field.name, pa.string(), metadata={WRITTEN: b""}), texts)
    return rows


def all_places(amounts: pa.Array) -> pa.Array:
    """With `;` after each. Arrow writes what is small with an exponent; that is undone."""
    texts, scale = pc.cast(amounts, pa.string()), amounts.type.scale
    small = pc.fill_null(pc.match_substring(texts, "E"), fill_value=False)
    if not pc.any(small, min_count=0).as_py():
        return pc.binary_join_element_wise(texts, ";", "")
    few = amounts.filter(small)
    digits = pc.cast(pa.Array.from_buffers(pa.decimal128(38, 0), len(few), few.buffers(), 0, few.offset), pa.string())
    sign = pc.if_else(pc.starts_with(digits, "-"), "-", "")
    found = pc.binary_join_element_wise(sign, "0.", pc.utf8_lpad(pc.utf8_ltrim(digits, "-"), scale, "0"), "")
    return pc.binary_join_element_wise(pc.replace_with_mask(texts, small, found), ";", "")


def common_word(field: pa.Field, column: pa.ChunkedArray) -> str | None:
    """The text of a column that says the same throughout; None where it does not."""
    named = f"+{field.name}=" if field.name in ADDED_LATER else ""
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


def with_words(rows: pa.Table) -> pa.Table:
    """Neighbouring columns of words as one text, where the rows are of few kinds: each kind is written once."""
    whole: dict[str, tuple[pa.Field, pa.ChunkedArray | pa.Array]] = {}
    for worded, fields in groupby(rows.schema, is_worded):
        names = [field.name for field in fields]
        if worded and pays(rows.select(names)):
            text = pa.field(names[0], pa.dictionary(pa.int32(), pa.string()), metadata={WRITTEN: b""})
            whole[names[0]] = text, words_of(rows.select(names))
        else:
            whole |= {name: (rows.schema.field(name), rows[name]) for name in names}
    return pa.table([column for _, column in whole.values()], schema=pa.schema([field for field, _ in whole.values()]))


def is_worded(field: pa.Field) -> bool:
    return bool(pa.types.is_string(field.type) or pa.types.is_map(field.type))


def pays(words: pa.Table) -> bool:
    """Maps are slow to write, and so are many columns."""
    said = [column for column in words.columns if column.null_count < len(column)]
    costly = len(said) >= MANY or any(pa.types.is_map(column.type) for column in said)
    return costly and are_few(said, words.num_rows)


def words_of(rows: pa.Table) -> pa.DictionaryArray:
    found = kinds(rows.columns, rows.num_rows)
    texts = query(TEXTS.format(text=row_text(rows.schema)), rows.take(found.first))["text"]
    return pa.DictionaryArray.from_arrays(pa.array(found.of.astype(np.int32)), texts.combine_chunks())


def row_text(schema: pa.Schema) -> str:
    """The SQL expression of a row's canonical text."""
    texts = [added_text(field) if field.name in ADDED_LATER else field_text(field) for field in schema]
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
