"""Tables by time in CSV or Parquet: prices, intensities, utilisation, readings of meters, bills. Exact, or refused with the line."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path, PurePosixPath
from zoneinfo import ZoneInfo

import pyarrow as pa

from apportion.errors import InputError
from apportion.model.delivery import FileDigest
from apportion.model.times import Interval, Period, instant_text
from apportion.sources.cells.clock_changes import TOLD
from apportion.sources.cells.instants import instants
from apportion.sources.cells.money import money
from apportion.sources.cells.text import shown, text
from apportion.sources.files.paths import InputFile, input_files
from apportion.sources.files.read import read_sheet
from apportion.sources.files.sheet import Sheet, missing_columns, once
from apportion.sources.tco.facility.steps import Step, Steps, in_order

FORMATS = ("csv", "parquet")
LONG = re.compile(r"([0-9]{4})(?:-([0-9]{2}))?", re.ASCII)  # a year or a month
MINUTE_S, MONTHS = 60, 12


@dataclass(frozen=True, slots=True)
class Frame:
    """One file; columns are found by name, whatever their case."""

    sheet: Sheet
    names: Mapping[str, str]

    def has(self, name: str) -> bool:
        return name in self.names

    def cells(self, name: str) -> pa.Array:
        if name not in self.names:
            raise missing_columns([name], self.sheet.header, self.sheet.file)
        column = self.sheet.table[self.names[name]].combine_chunks()
        return column.chunk(0) if isinstance(column, pa.ChunkedArray) else column

    def refuse(self, row: int, code: str, message: str, hint: str = "") -> InputError:
        return InputError(code, message, where=self.sheet.where(row), hint=hint)

    def texts(self, name: str) -> list[str]:
        return [cell or "" for cell in text(self.cells(name)).to_pylist()]

    def known(self, name: str) -> list[Fraction | None]:
        """Numbers, None where the cell is empty."""
        cells = self.cells(name)
        found = money(cells)
        for row in found.bad:
            message = f"{shown(name, cells, row)} is no number that can be taken exactly"
            raise self.refuse(row, "invalid-number", message)
        return [None if value is None else Fraction(value) for value in found.values.to_pylist()]

    def numbers(self, name: str) -> list[Fraction]:
        found = self.known(name)
        if None in found:
            raise self.refuse(found.index(None), "invalid-number", f"{name} is empty")
        return [value for value in found if value is not None]

    def seconds(self, name: str, zone: ZoneInfo) -> list[int]:
        cells = self.cells(name)
        parsed = instants(cells, zone)
        for row, code in parsed.clock_changes:
            message = f"{shown(name, cells, row)} {TOLD[code].partition(':')[0]}"
            raise self.refuse(row, code, message, "write it with its offset: 2026-10-25T02:30:00+02:00")
        found: list[int | None] = parsed.values.to_pylist()
        if None in found:
            row = found.index(None)
            message = f"{shown(name, cells, row)} is not a time"
            raise self.refuse(row, "invalid-time", message, "write it as 2026-10-01T00:00:00Z")
        return [second for second in found if second is not None]

    def spans(self, zone: ZoneInfo, minutes: int) -> list[Interval]:
        """From `start` to `end`; without an `end` a row holds for so many minutes, a month (2026-10) or a year (2026)."""
        if self.has("end"):
            pairs = zip(self.seconds("start", zone), self.seconds("end", zone), strict=True)
            found = [Interval(*pair) for pair in pairs]
        elif any(LONG.fullmatch(cell) for cell in self.texts("start")[:1]):
            found = [self.long(row, cell, zone) for row, cell in enumerate(self.texts("start"))]
        else:
            found = [Interval(start, start + minutes * MINUTE_S) for start in self.seconds("start", zone)]
        for row, span in enumerate(found):
            if span.seconds <= 0:
                raise self.refuse(row, "reversed-period", "the end is not after the start")
        return found

    def long(self, row: int, cell: str, zone: ZoneInfo) -> Interval:
        found = LONG.fullmatch(cell)
        if not found or not 1 <= int(found[2] or 1) <= MONTHS or int(found[1]) < 1:
            raise self.refuse(
                row, "invalid-time", f"{cell[:40]!r} is neither a month nor a year", "write it as 2026-10"
            )
        first = Period(int(found[1]), int(found[2] or 1))
        last = first if found[2] else Period(int(found[1]), MONTHS)
        return Interval(first.interval(zone).start_s, last.interval(zone).end_s)

    def one_of(self, worth: Mapping[str, Fraction], what: str) -> list[Fraction]:
        """A number under one of several names, in the unit that all of them are worth."""
        found = [name for name in worth if self.has(name)]
        if len(found) != 1:
            raise InputError(
                "missing-columns",
                f"{self.sheet.file.name} must give {what} in one column",
                where=self.sheet.file.name,
                hint=f"it is called one of {', '.join(worth)}; found: {', '.join(found) or 'none'}",
            )
        return [value * worth[found[0]] for value in self.numbers(found[0])]


@dataclass(frozen=True, slots=True)
class Folder:
    """Where files are: inside the project, beside the document that names them."""

    base: Path
    beside: str = ""

    def files(self, path: str, where: str) -> list[InputFile]:
        return input_files(str(PurePosixPath(self.beside) / path), self.base, FORMATS, where)


def read_frames(path: str, folder: Folder, where: str) -> tuple[list[Frame], tuple[FileDigest, ...]]:
    """All files that a path names; with their digests."""
    frames: list[Frame] = []
    seen: dict[str, str] = {}
    for file in folder.files(path, where):
        sheet = read_sheet(file, every)
        once(sheet, seen)
        if sheet.bad_rows:
            raise InputError("corrupt-file", sheet.bad_rows[0].message, where=sheet.bad_rows[0].where)
        if not sheet.table.num_rows:
            raise InputError("no-rows", f"there is no row in {file.name}", where=file.name)
        frames.append(Frame(sheet, {name.casefold(): name for name in reversed(sheet.header)}))
    return frames, tuple(digest(frame) for frame in frames)


def every(header: Sequence[str]) -> Sequence[str]:
    return header


def digest(frame: Frame) -> FileDigest:
    return FileDigest(frame.sheet.file.name, frame.sheet.sha256, frame.sheet.table.num_rows, "0")


def by_key(parts: Iterable[tuple[str, Step, str]]) -> dict[str, Steps]:
    """Steps by whose they are; each with the place it came from. Two that overlap are refused: which one counts cannot be known."""
    found: dict[str, list[tuple[Step, str]]] = defaultdict(list)
    for key, step, where in parts:
        found[key].append((step, where))
    for key, steps in found.items():
        steps.sort()
        for (first, _), (second, where) in pairwise(steps):
            if second.start_s < first.end_s:
                raise InputError(
                    "rows-overlap",
                    f"two rows{f' of {key}' if key else ''} speak for {instant_text(second.start_s)}",
                    where=where,
                    hint="on the day that clocks go back write times with their offset, such as 2026-10-25T02:00:00+01:00",
                )
    return {key: in_order(step for step, _ in steps) for key, steps in found.items()}


def refuse_gaps(function: Steps, span: Interval, what: str, where: str) -> None:
    gap = next(function.gaps(span), None)
    if gap is not None:
        raise InputError(
            "hours-missing",
            f"there is no {what} from {instant_text(gap.start_s)} to {instant_text(gap.end_s)}",
            where=where,
            hint="add the hours that are missing; months before the first can be left out with `since` in the stanza",
        )
