"""Parquet as typed columns. Its bytes are read once into memory and hashed there, so that what was hashed is what was decoded."""

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from apportion.errors import InputError
from apportion.sources.files.paths import InputFile, open_file
from apportion.sources.files.sheet import Choose, Sheet, unique_columns
from apportion.sources.files.stream import FREE_BYTES, LARGEST_RATIO, Stream, corrupt, too_large

FREE_ROWS = 2**24  # run-length encoding makes a billion rows of a few bytes: beyond this many, at most ROWS_PER_BYTE
ROWS_PER_BYTE = 10


def read_columnar(file: InputFile, choose: Choose) -> Sheet:
    """The columns that `choose` names; text comes dictionary-encoded, as it mostly lies in the file."""
    with Stream(file) as stream:
        data = stream.read_all()
        if not data:
            raise nothing(file)
        try:
            table, header = decode(file, data, choose)
        except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
            raise corrupt(file, f"it is no whole Parquet file ({first_line(error)})") from error
        return Sheet(
            file, header, table, stream.sha256, stream.content_sha256, lambda row: f"{file.name}: row {row + 1}"
        )


def columnar_header(file: InputFile) -> tuple[str, ...]:
    """The names of the columns, from the footer alone."""
    with Stream(file) as stream, open_file(file) as raw:
        data = pa.BufferReader(stream.read_all()) if stream.packed else raw
        if not stream.raw.peek(1) and not stream.packed:
            raise nothing(file)
        try:
            return tuple(pq.read_schema(data).names)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise corrupt(file, f"it is no whole Parquet file ({first_line(error)})") from error


def decode(file: InputFile, data: bytes, choose: Choose) -> tuple[pa.Table, tuple[str, ...]]:
    found = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True)
    schema = found.schema_arrow
    wanted = list(dict.fromkeys(choose(schema.names)))
    unique_columns(schema.names, wanted, file)
    check_size(file, found.metadata, len(data))
    texts = [
        name
        for name in wanted
        if pa.types.is_string(schema.field(name).type) or pa.types.is_large_string(schema.field(name).type)
    ]
    table = pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True, read_dictionary=texts).read(
        columns=wanted
    )
    table.validate(full=True)
    check_texts(file, table, len(data))
    return usual_types(table), tuple(schema.names)


def usual_types(table: pa.Table) -> pa.Table:
    """Text is text, however a writer stored it."""
    fields = []
    for field in table.schema:
        odd = (
            pa.types.is_string_view(field.type)
            or pa.types.is_binary(field.type)
            or pa.types.is_large_binary(field.type)
        )
        fields.append(field.with_type(pa.string()) if odd else field)
    return table.cast(pa.schema(fields))


def check_size(file: InputFile, metadata: pq.FileMetaData, size: int) -> None:
    """Against a file whose footer promises far more than its bytes can carry.

    Only the footer's totals are asked for: pyarrow ends the process when those of a single column are damaged.
    """
    unpacked = sum(metadata.row_group(number).total_byte_size for number in range(metadata.num_row_groups))
    if unpacked > max(FREE_BYTES, LARGEST_RATIO * size):
        raise too_large(file, f"more than {LARGEST_RATIO} bytes come out of each of its bytes")
    if metadata.num_rows > max(FREE_ROWS, ROWS_PER_BYTE * size):
        raise too_large(file, f"it promises {metadata.num_rows} rows in {size} bytes")


def check_texts(file: InputFile, table: pa.Table, size: int) -> None:
    """A long text that is repeated by reference costs nothing in the file and everything once it is written out."""
    for column in table.columns:
        if not pa.types.is_dictionary(column.type):
            continue
        length = sum(
            pc.sum(pc.binary_length(chunk.dictionary).take(chunk.indices)).as_py() or 0 for chunk in column.chunks
        )
        if length > max(2**30, LARGEST_RATIO * size):
            raise too_large(file, f"one of its columns unpacks to {length} bytes")


def nothing(file: InputFile) -> InputError:
    return InputError("empty-file", f"{file.name} is empty", where=file.name, hint="fetch the file again, or remove it")


def first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
