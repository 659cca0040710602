"""Tables on disk as Parquet or CSV, written and read in blocks: the same rows give the same bytes."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from apportion.render.focus.text import as_text, text_schema
from apportion.verbs.together import Together

FORMATS = ("parquet", "csv")
ROWS_PER_GROUP = 250_000


class Sheet(Protocol):
    def write(self, table: pa.Table) -> None: ...


class Parquet:
    """Small blocks are held until they fill a row group."""

    def __init__(self, writer: pq.ParquetWriter) -> None:
        self.writer = writer
        self.held: list[pa.Table] = []

    def write(self, table: pa.Table) -> None:
        self.held.append(table)
        if sum(map(len, self.held)) >= ROWS_PER_GROUP:
            self.flush()

    def flush(self) -> None:
        if self.held:
            self.writer.write_table(pa.concat_tables(self.held), row_group_size=ROWS_PER_GROUP)
        self.held = []


class Csv:
    def __init__(self, writer: pacsv.CSVWriter) -> None:
        self.writer = writer

    def write(self, table: pa.Table) -> None:
        self.writer.write_table(as_text(table))


@contextmanager
def sheet(files: Together, name: str, kind: str, schema: pa.Schema) -> Iterator[Sheet]:
    """One of `FORMATS`; named with its suffix."""
    with files.file(f"{name}.{kind}") as file:
        if kind == "csv":
            with pacsv.CSVWriter(file, text_schema(schema)) as text:
                yield Csv(text)
            return
        with pq.ParquetWriter(file, schema, compression="zstd", write_page_checksum=True) as writer:
            blocks = Parquet(writer)
            yield blocks
            blocks.flush()


def read_columns(path: Path, kind: str, columns: Sequence[str]) -> Iterator[pa.Table]:
    """What a written file says in some columns, in blocks; of CSV, as text."""
    if kind == "parquet":
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            for batch in file.iter_batches(ROWS_PER_GROUP, columns=list(columns)):
                yield pa.Table.from_batches([batch]).select(list(columns))
        return
    how = pacsv.ConvertOptions(
        include_columns=list(columns), column_types=dict.fromkeys(columns, pa.string()), strings_can_be_null=False
    )
    for batch in pacsv.open_csv(path, parse_options=pacsv.ParseOptions(newlines_in_values=True), convert_options=how):
        yield pa.Table.from_batches([batch])
