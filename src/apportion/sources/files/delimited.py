"""CSV as columns of text. pyarrow cuts the rows; what it passes over (cut-off quotes, other encodings, NUL bytes) is refused here."""

import codecs
import csv
import io
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.csv

from apportion.errors import InputError
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import BadRow, Choose, Sheet, unique_columns
from apportion.sources.files.stream import CHUNK, Stream

BLOCK = 2**24
NULLS = ["", "NULL", "null"]
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


class Watched:
    """What pyarrow reads from: counts lines and quotes and stops at bytes that are no text."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream
        self.newlines = 0
        self.quotes = 0
        self.last = b""
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.pending = self.check(stream.read(CHUNK))
        self.closed = False

    def check(self, data: bytes) -> bytes:
        if (at := data.find(b"\0")) >= 0 or (not self.last and data.startswith(UTF16)):
            raise not_text(self.stream.file, self.line(data, at), "it holds NUL bytes, as UTF-16 and damaged files do")
        held = len(self.decoder.getstate()[0])
        try:
            self.decoder.decode(data, final=not data)
        except UnicodeDecodeError as error:
            raise not_text(self.stream.file, self.line(data, error.start - held), "it is not UTF-8") from error
        self.newlines += data.count(b"\n")
        self.quotes += data.count(b'"')
        self.last = data[-1:] or self.last
        return data

    def line(self, data: bytes, at: int) -> int:
        return self.newlines + data.count(b"\n", 0, max(at, 0)) + 1

    def read(self, count: int = -1) -> bytes:
        if self.pending:
            wanted = len(self.pending) if count is None or count < 0 else count
            data, self.pending = self.pending[:wanted], self.pending[wanted:]
            return data
        return self.check(self.stream.read(count))

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return False

    def writable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True


@dataclass(frozen=True, slots=True)
class Cut:
    """How rows are cut: the columns that are wanted, what separates them, and whether quotes may hold line ends (which takes longer)."""

    wanted: list[str]
    delimiter: str
    quoted: bool


def read_delimited(file: InputFile, choose: Choose, delimiter: str = ",") -> Sheet:
    """Columns of text, those that `choose` names from the header; empty cells and the word NULL are null."""
    with Stream(file) as stream:
        watched = Watched(stream)
        quoted = b'"' in watched.pending
        header, header_lines = read_header(watched, delimiter)
        wanted = list(dict.fromkeys(choose(header)))
        unique_columns(header, wanted, file)
        bad: list[str] = []
        table = parse(watched, header, header_lines, Cut(wanted, delimiter, quoted), bad)
        if watched.quotes and not quoted:  # quotes after all: a line end inside them is no row's end
            watched, bad = Watched(again := Stream(file)), []
            with again:
                table = parse(watched, header, header_lines, Cut(wanted, delimiter, quoted=True), bad)
        if watched.quotes % 2:
            raise InputError(
                "corrupt-file",
                f"{file.name} has a quote that is never closed",
                where=file.name,
                hint="the file is cut off or damaged: fetch it again",
            )
        regular = watched.newlines + (watched.last not in (b"\n", b"")) == header_lines + table.num_rows and not bad
        lines = Lines(file, delimiter, header_lines if regular else None)
        bad_rows = tuple(lines.bad_rows(len(header))) if bad else ()
        ended = stream.packed or watched.last in (b"\n", b"\r")  # gzip has a checksum of its own
        digests = stream.sha256, stream.content_sha256
        return Sheet(file, tuple(header), table, *digests, lines.where, bad_rows, ended)


def read_header(watched: Watched, delimiter: str) -> tuple[list[str], int]:
    file = watched.stream.file
    if not watched.pending:
        raise InputError(
            "empty-file", f"{file.name} is empty", where=file.name, hint="fetch the file again, or remove it"
        )
    text = codecs.getincrementaldecoder("utf-8-sig")().decode(watched.pending)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        names = [name.strip() for name in next(reader)]
    except (csv.Error, StopIteration) as error:
        raise InputError(
            "corrupt-file", f"the first row of {file.name} is no list of columns", where=f"{file.name}:1"
        ) from error
    return names, reader.line_num


def first_rows(file: InputFile, count: int, delimiter: str = ",") -> list[list[str]]:
    """The first whole rows under the header that have as many cells as it; fewer where they are longer than a chunk."""
    with Stream(file) as stream:
        data = stream.read(CHUNK)
        whole = len(data) < CHUNK
    text = codecs.getincrementaldecoder("utf-8-sig")(errors="replace").decode(data)
    found: list[list[str]] = []
    with suppress(csv.Error):
        for cells in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            found.append(cells)
            if len(found) > count + 1:
                break
        else:
            found = found if whole else found[:-1]
    return [cells for cells in found[1:] if len(cells) == len(found[0])][:count]


def parse(watched: Watched, header: list[str], header_lines: int, cut: Cut, bad: list[str]) -> pa.Table:
    file = watched.stream.file
    if watched.stream.size <= CHUNK and not rows_follow(watched.pending, header_lines):
        watched.check(watched.stream.read())  # so that the end of the file was seen
        return pa.table({name: pa.array([], pa.string()) for name in cut.wanted})
    try:
        return pa.csv.read_csv(pa.PythonFile(watched, "r"), **csv_options(header, header_lines, cut, bad))
    except pa.ArrowInvalid as error:
        raise InputError("corrupt-file", f"{file.name} cannot be read: {error}", where=file.name) from error


def csv_options(header: list[str], header_lines: int, cut: Cut, bad: list[str]) -> dict[str, Any]:
    """For pyarrow. Rows that cannot be cut are left out and go to `bad`."""
    names = [
        name if name in cut.wanted else f"\0{number}" for number, name in enumerate(header)
    ]  # names that nobody wants may repeat

    def skip(row: pa.csv.InvalidRow) -> str:
        bad.append(row.text)
        return "skip"

    return {
        "read_options": pa.csv.ReadOptions(column_names=names, skip_rows=header_lines, block_size=BLOCK),
        "parse_options": pa.csv.ParseOptions(
            delimiter=cut.delimiter, newlines_in_values=cut.quoted, invalid_row_handler=skip
        ),
        "convert_options": pa.csv.ConvertOptions(
            column_types={name: pa.string() for name in cut.wanted},
            include_columns=cut.wanted or names[:1],
            null_values=NULLS,
            strings_can_be_null=True,
        ),
    }


def rows_follow(data: bytes, header_lines: int) -> bool:
    return bool(b"".join(data.splitlines()[header_lines:]).strip())


class Lines:
    """The line on which a row begins. Where every row is one line that is a sum; else the file is walked once more, only when asked."""

    def __init__(self, file: InputFile, delimiter: str, header_lines: int | None) -> None:
        self.file = file
        self.delimiter = delimiter
        self.header_lines = header_lines
        self.starts: list[int] | None = None

    def where(self, row: int) -> str:
        if self.header_lines is not None:
            return f"{self.file.name}:{self.header_lines + row + 1}"
        if self.starts is None:
            rows = list(self.walk())
            columns = rows[0][1] if rows else 0
            self.starts = [line for line, count in rows[1:] if count == columns]
        return f"{self.file.name}:{self.starts[row]}" if row < len(self.starts) else f"{self.file.name}: row {row + 1}"

    def bad_rows(self, columns: int) -> Iterator[BadRow]:
        for line, count in self.walk():
            if count != columns:
                yield BadRow(f"{self.file.name}:{line}", f"the row has {count} columns, the header {columns}")

    def walk(self) -> Iterator[tuple[int, int]]:
        """First line and number of cells of each row, the header among them; blank lines are none."""
        with Stream(self.file) as stream:
            text = io.TextIOWrapper(io.BytesIO(stream.read_all()), "utf-8-sig", errors="replace", newline="")
        reader = csv.reader(text, delimiter=self.delimiter)
        line = 1
        with suppress(csv.Error):  # a cell over 128 KiB: rows after it are named by their number
            for cells in reader:
                if cells:
                    yield line, len(cells)
                line = reader.line_num + 1


def not_text(file: InputFile, line: int, why: str) -> InputError:
    return InputError(
        "wrong-encoding",
        f"{file.name} is not UTF-8 text: {why}",
        where=f"{file.name}:{line}",
        hint="save it as UTF-8 (with or without byte order mark)",
    )
