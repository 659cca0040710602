"""A file as columns: text as it stands (CSV, JSON lines) or typed (Parquet), with the place of each row for messages."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import pyarrow as pa

from apportion.errors import InputError
from apportion.sources.files.paths import InputFile

STEP = 2**20  # rows handled at once: text columns of that many rows stay under Arrow's 2 GiB per array

Choose = Callable[[Sequence[str]], Sequence[str]]  # which of a file's columns are wanted


@dataclass(frozen=True, slots=True)
class BadRow:
    """A row that could not even be cut into columns."""

    where: str
    message: str


@dataclass(frozen=True, slots=True)
class Sheet:
    file: InputFile
    header: tuple[str, ...]
    table: pa.Table
    sha256: str
    content_sha256: str
    where: Callable[[int], str]
    bad_rows: tuple[BadRow, ...] = ()
    ended: bool = True  # False: plain text whose last line has no end, as a file that was cut off

    def parts(self) -> Iterator[tuple[int, pa.Table]]:
        """Blocks of rows, each with the number of its first row, every column one array."""
        for first in range(0, self.table.num_rows, STEP):
            yield first, self.table.slice(first, STEP).combine_chunks()


def once(sheet: Sheet, seen: dict[str, str], rows: int | None = None) -> None:
    """The same contents under two names would count everything in them twice. `rows` where the sheet was read in blocks."""
    name = sheet.file.name
    if (sheet.table.num_rows if rows is None else rows) and sheet.content_sha256 in seen:
        raise InputError(
            "same-file-twice",
            f"{name} and {seen[sheet.content_sha256]} have the same contents",
            where=name,
            hint="remove one of them: each row must be counted once",
        )
    seen[sheet.content_sha256] = name


def unique_columns(names: Sequence[str], wanted: Sequence[str], file: InputFile) -> None:
    """Columns are matched by name, so a name that is wanted may stand there once only."""
    for name in wanted:
        if names.count(name) > 1:
            raise InputError(
                "duplicate-column",
                f"the column {name} stands {names.count(name)} times in {file.name}",
                where=file.name,
                hint="rename or remove one of them",
            )


def missing_columns(missing: Sequence[str], header: Sequence[str], file: InputFile, hint: str = "") -> InputError:
    near = [
        f"{name} (is it {close[0]}?)" if (close := get_close_matches(name, header, n=1)) else name for name in missing
    ]
    columns = ", ".join(header[:12]) + (", ..." if len(header) > 12 else "")
    return InputError(
        "missing-columns",
        f"{file.name} lacks {', '.join(near)}",
        where=file.name,
        hint=hint or f"its columns: {columns}",
    )
