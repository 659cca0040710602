"""A large file read in blocks, once: what `read_sheet` gives at once is given here bit by bit, and the digests at the end.

CSV, Parquet and JSON lines flow. A JSON document is decoded as a whole and is small; so is Parquet inside gzip.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from apportion.errors import InputError
from apportion.sources.files.columnar import check_size, check_texts, first_line, usual_types
from apportion.sources.files.delimited import Cut, Lines, Watched, csv_options, read_header, rows_follow
from apportion.sources.files.paths import InputFile
from apportion.sources.files.read import read_sheet
from apportion.sources.files.sheet import BadRow, Choose, Sheet, unique_columns
from apportion.sources.files.stream import CHUNK, Stream, corrupt

BLOCK_ROWS = (
    2**16
)  # at which a block of a wide bill takes some fifty megabytes: larger ones cost more time to find memory for than they save


@dataclass
class Flow:
    """Before the blocks are read out nothing is known of the end: `finish` makes a Sheet without rows of what was seen."""

    file: InputFile
    header: tuple[str, ...]
    blocks: Iterator[pa.Table]
    ended: list[Sheet] = field(default_factory=list)

    def where(self, row: int) -> str:
        """The place of a row, also before the end."""
        if self.ended:
            return self.ended[0].where(row)
        if self.file.format == "csv":
            return Lines(self.file, ",", None).where(row)
        return f"{self.file.name}: row {row + 1}"

    @property
    def end(self) -> Sheet:
        return self.ended[0]


@contextmanager
def flowing(file: InputFile, choose: Choose) -> Iterator[Flow]:
    """Everything that `read_sheet` refuses is refused, some of it only when the last block has been read."""
    if file.format == "csv":
        with Stream(file) as stream:
            yield delimited_flow(stream, choose)
    elif file.format == "parquet" and not is_packed(file):
        with Stream(file) as stream:
            yield columnar_flow(stream, choose)
    else:
        sheet = read_sheet(file, choose)
        yield Flow(file, sheet.header, cut(sheet.table), [sheet])


def is_packed(file: InputFile) -> bool:
    with Stream(file) as stream:
        return bool(stream.packed)


def cut(table: pa.Table) -> Iterator[pa.Table]:
    for first in range(0, table.num_rows, BLOCK_ROWS):
        yield table.slice(first, BLOCK_ROWS).combine_chunks()


def delimited_flow(stream: Stream, choose: Choose) -> Flow:
    watched = Watched(stream)
    header, header_lines = read_header(watched, ",")
    wanted = list(dict.fromkeys(choose(header)))
    unique_columns(header, wanted, stream.file)
    flow = Flow(stream.file, tuple(header), iter(()))
    flow.blocks = delimited_blocks(watched, flow, wanted, header_lines)
    return flow


def delimited_blocks(watched: Watched, flow: Flow, wanted: Sequence[str], header_lines: int) -> Iterator[pa.Table]:
    file, bad, rows = flow.file, list[str](), 0
    if watched.stream.size <= CHUNK and not rows_follow(watched.pending, header_lines):
        watched.check(watched.stream.read())  # so that the end of the file was seen
    else:
        options = csv_options(list(flow.header), header_lines, Cut(list(wanted), ",", quoted=True), bad)
        try:
            for batch in pa.csv.open_csv(pa.PythonFile(watched, "r"), **options):
                rows += batch.num_rows
                yield pa.Table.from_batches([batch])
        except pa.ArrowInvalid as error:
            raise InputError("corrupt-file", f"{file.name} cannot be read: {error}", where=file.name) from error
    if watched.quotes % 2:
        raise InputError(
            "corrupt-file",
            f"{file.name} has a quote that is never closed",
            where=file.name,
            hint="the file is cut off or damaged: fetch it again",
        )
    regular = watched.newlines + (watched.last not in (b"\n", b"")) == header_lines + rows and not bad
    lines = Lines(file, ",", header_lines if regular else None)
    bad_rows = tuple(lines.bad_rows(len(flow.header))) if bad else ()
    ended = watched.stream.packed or watched.last in (b"\n", b"\r")  # gzip has a checksum of its own
    flow.ended.append(finish(flow, watched.stream, lines.where, bad_rows, ended=ended))


def finish(
    flow: Flow, stream: Stream, where: object, bad_rows: tuple[BadRow, ...] = (), *, ended: bool = True
) -> Sheet:
    digests = stream.sha256, stream.content_sha256
    return Sheet(flow.file, flow.header, pa.table({}), *digests, where, bad_rows, ended)  # type: ignore[arg-type]


def columnar_flow(stream: Stream, choose: Choose) -> Flow:
    """Hashed first and decoded then, from one and the same open file."""
    file = stream.file
    while stream.read(CHUNK):
        pass
    if not stream.size:
        raise InputError(
            "empty-file", f"{file.name} is empty", where=file.name, hint="fetch the file again, or remove it"
        )
    raw = stream.hashed.raw
    before = os.fstat(raw.fileno())
    raw.seek(0)
    try:
        found = pq.ParquetFile(raw, page_checksum_verification=True)
        schema = found.schema_arrow
        names = list(schema.names)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise corrupt(file, f"it is no whole Parquet file ({first_line(error)})") from error
    wanted = list(dict.fromkeys(choose(names)))
    unique_columns(names, wanted, file)
    check_size(file, found.metadata, stream.size)
    flow = Flow(file, tuple(names), iter(()))
    flow.blocks = columnar_blocks(stream, flow, (wanted, schema), before.st_mtime_ns)
    return flow


def columnar_blocks(
    stream: Stream, flow: Flow, chosen: tuple[Sequence[str], pa.Schema], modified_ns: int
) -> Iterator[pa.Table]:
    wanted, schema = chosen
    raw, file = stream.hashed.raw, stream.file
    texts = [
        name for name in wanted if pa.types.is_string(kind := schema.field(name).type) or pa.types.is_large_string(kind)
    ]
    rows = 0
    try:
        reader = pq.ParquetFile(raw, page_checksum_verification=True, read_dictionary=texts)
        for batch in reader.iter_batches(BLOCK_ROWS, columns=list(wanted)):
            block = pa.Table.from_batches([batch])
            block.validate(full=True)
            check_texts(file, block, stream.size)
            rows += block.num_rows
            yield usual_types(block)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise corrupt(file, f"it is no whole Parquet file ({first_line(error)})") from error
    if rows != reader.metadata.num_rows or os.fstat(raw.fileno()).st_mtime_ns != modified_ns:
        raise corrupt(file, "it was changed while it was read, or has fewer rows than it says")
    flow.ended.append(finish(flow, stream, lambda row: f"{file.name}: row {row + 1}"))
