"""What `sacct -P` prints, as columns of text. Names and comments may hold the delimiter and line ends, as Slurm passes them on as they are.

The first field of a record is the job's id. Where it is repeated as the last one, a record is whole when it ends with it; otherwise a line that does not
begin with a job's id belongs to the record before it.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, combinations_with_replacement, islice

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.sources.cells.shapes import FIRST_ROWS, find_misfit, nearest_header, nearest_known, refuse_misfit
from apportion.sources.slurm.shapes import EXPECTED, KNOWN_HEADERS

PART = 2**24  # characters cut at once
EXPECTED_ALONE = tuple(one for one in EXPECTED if not one.others)  # what a cell says without those beside it
FREE = (
    "jobname",
    "workdir",
    "submitline",
    "comment",
    "admincomment",
    "systemcomment",
    "extra",
    "reason",
    "constraints",
)
TIME = r"[0-9]{9,12}|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}|Unknown|None"
LOOKS = {  # fields whose cells are told from a piece of a name
    **{name: re.compile(TIME) for name in ("submit", "eligible", "start", "end")},
    "elapsedraw": re.compile(r"[0-9]+"),
    "state": re.compile(r"[A-Z_]+(?: by [0-9]+)?\+?"),
    "exitcode": re.compile(r"[0-9]+:[0-9]+"),
    "alloctres": re.compile(r"(?:[a-z][^=|]*=[^=|]*)*"),
}
HEADER = re.compile(r"([A-Za-z][A-Za-z0-9]*)([^A-Za-z0-9]+)")
IDS = ("jobidraw", "jobid")
JOB = re.compile(r"[0-9]+(?:[_+](?:[0-9]+|\[[^\]]*\]))?(?:\.[A-Za-z0-9]+)?")  # 17, 9_3, 9_[1-5], 31+1, 17.batch
MOST_TRIES = 500
FIELDS = (
    "jobidraw", "jobid", "cluster", "user", "group", "account", "partition", "qos", "wckey", "reservation", "reservationid", "jobname",
    "submit", "start", "end", "elapsedraw", "elapsed", "suspended", "state", "exitcode", "nodelist", "alloccpus", "ncpus", "nnodes",
    "alloctres", "consumedenergyraw", "timelimitraw", "timelimit", "restarts", "admincomment", "comment",
    "container", "submitline",
)  # fmt: skip  # what is read; others are passed over


@dataclass(frozen=True, slots=True)
class Shape:
    """The fields of a record, in their order and in small letters, and what stands between them; with `-p` also after the last."""

    fields: tuple[str, ...]
    delimiter: str
    trailing: bool = False

    @property
    def delimiters(self) -> int:
        return len(self.fields) - 1 + self.trailing

    @property
    def ends_with_id(self) -> bool:
        return len(self.fields) > 1 and self.fields[0] == self.fields[-1] and self.fields[0] in IDS

    def begins(self, line: str) -> bool:
        """Whether a record can begin with this line."""
        if self.fields[0] not in IDS:
            return line.count(self.delimiter) >= self.delimiters
        return JOB.fullmatch(line.partition(self.delimiter)[0]) is not None

    def is_whole(self, record: str) -> bool:
        if record.count(self.delimiter) < self.delimiters:
            return False
        return not self.ends_with_id or self.cells(record)[-1] == record.partition(self.delimiter)[0]

    def cells(self, record: str) -> list[str]:
        found = record.rstrip("\r").split(self.delimiter)
        return found[:-1] if self.trailing and not found[-1] else found


@dataclass
class Text:
    """One output of sacct. `malformed` receives the line and the reason of records that could not be cut into fields."""

    name: str
    fields: Sequence[str] = ()  # of an output without header
    delimiter: str = ""
    malformed: list[tuple[int, str]] = field(default_factory=list)

    def blocks(self, parts: Iterable[str]) -> Iterator[pa.Table]:
        """`parts` are whole lines, in order. Where every line is a record they are cut all at once, else line by line.

        The last record of a part waits for the next part, which may begin with the rest of it.
        """
        shape: Shape | None = None
        number, held = 1, (0, "")  # of the next line; the record that waits, and its line
        for part in gathered(parts):
            lines = part.split("\n")
            if shape is None:
                shape, is_header = self.shape_of(lines[0].removeprefix("\ufeff").rstrip("\r"))
                lines, number = (lines[1:], 2) if is_header else (lines, 1)
                shape = fitted(self.name, shape, own_lines(lines, shape))
                refuse_misfit(self.name, shape.fields, regular_rows(lines, shape), EXPECTED, KNOWN_HEADERS)
            regular = None if held[1] and not shape.is_whole(held[1]) else regular_columns(lines[:-1], shape)
            if regular is not None and lines and shape.begins(lines[0]):
                yield from self.table([held], shape)
                yield regular
                held = (number + len(lines) - 1, lines[-1])
            else:
                *ready, held = records([held, *enumerate(lines, number)], shape)
                yield from self.table(ready, shape)
            number += len(lines)
        if shape is not None:
            yield from self.table([held], shape)
            yield named_columns(
                [pa.array([], pa.string())] * len(shape.fields), shape
            )  # so that there is one, also without jobs

    def shape_of(self, first: str) -> tuple[Shape, bool]:
        named = HEADER.match(first)
        if named is not None and named[1].casefold() in FIELDS:
            delimiter = self.delimiter or named[2]
            if set(delimiter) == {" "}:
                raise not_parsable(self.name)
            names = tuple(name.strip().casefold() for name in first.split(delimiter))
            return Shape(names if names[-1] else names[:-1], delimiter, not names[-1]), True
        if not self.fields:
            raise no_header(self.name, first)
        delimiter = self.delimiter or ("\x1f" if "\x1f" in first else "|")
        names = tuple(name.strip().casefold() for name in self.fields)
        return Shape(names, delimiter, first.count(delimiter) == len(names)), False

    def table(self, found: Iterable[tuple[int, str]], shape: Shape) -> Iterator[pa.Table]:
        """The records that could be cut into fields."""
        block = []
        for line, record in found:
            if not record.strip():
                continue
            cells = shape.cells(record)
            cells = rejoined(cells, shape) if len(cells) > len(shape.fields) else cells
            if len(cells) == len(shape.fields):
                block.append(cells)
            else:
                self.malformed.append((line, f"the row has {len(cells)} fields instead of {len(shape.fields)}"))
        if block:
            columns = [pa.array(cells, pa.string()) for cells in zip(*block, strict=True)]
            yield named_columns(columns, shape)


def gathered(parts: Iterable[str]) -> Iterator[str]:
    """Parts of a size that is worth the while and that Arrow can hold, cut at line ends."""
    waiting: list[str] = []
    size = 0
    for piece in chain.from_iterable(map(pieces, parts)):
        waiting.append(piece)
        size += len(piece)
        if size >= PART:
            yield "\n".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield "\n".join(waiting)


def pieces(part: str) -> Iterator[str]:
    at = 0
    while (cut := part.find("\n", at + PART)) >= 0:
        yield part[at:cut]
        at = cut + 1
    yield part[at:]


def records(lines: Iterable[tuple[int, str]], shape: Shape) -> list[tuple[int, str]]:
    """Each record with the number of its first line; the last may go on."""
    found: list[tuple[int, str]] = []
    for number, line in lines:
        if found and found[-1][1] and (not shape.is_whole(found[-1][1]) or not shape.begins(line)):
            found[-1] = (found[-1][0], f"{found[-1][1]}\n{line}")
        else:
            found.append((number, line))
    return found


def own_lines(lines: Sequence[str], shape: Shape) -> list[str]:
    """The first lines that are a record of their own, however many fields they have: the next one begins another."""
    told = [line.rstrip("\r") for line in islice(filter(str.strip, lines), FIRST_ROWS + 1)]
    begins = [shape.fields[0] not in IDS or (shape.delimiter in line and shape.begins(line)) for line in told]
    return [line for place, line in enumerate(told) if all(begins[place : place + 2])]


def fitted(name: str, shape: Shape, lines: Sequence[str]) -> Shape:
    """The shape that rows end as, with a delimiter or without. Where most have other fields than the header, the file is refused."""
    usual, many = Counter(line.count(shape.delimiter) for line in lines).most_common(1)[0] if lines else (0, 0)
    if usual == shape.delimiters or 2 * many <= len(lines):
        return shape
    same = [line for line in lines if line.count(shape.delimiter) == usual]
    trailing = all(line.endswith(shape.delimiter) for line in same)
    shape = replace(shape, trailing=trailing)
    rows = [shape.cells(line) for line in same]
    if usual != shape.delimiters and not any(is_explained(row, shape) for row in rows):
        raise other_width(name, shape, rows, len(lines))
    return shape


def is_explained(cells: list[str], shape: Shape) -> bool:
    """A name or comment holds the delimiter, or the row goes on in the next line."""
    width = len(shape.fields)
    if shape.ends_with_id and cells[-1] != cells[0]:
        return True
    if len(cells) < width:
        return 2 * len(cells) <= width
    found = rejoined(cells, shape)
    return len(found) == width and find_misfit(shape.fields, [found], EXPECTED_ALONE, fewest=1) is None


def other_width(name: str, shape: Shape, rows: Sequence[list[str]], looked_at: int) -> InputError:
    names, width = list(shape.fields), len(rows[0])
    known = nearest_known(rows, EXPECTED, KNOWN_HEADERS)
    header = [*names, *["the end"] * (width - len(names))]
    cells = [[*row, *[""] * (len(names) - width)] for row in rows]
    return InputError(
        "shifted-columns",
        f"the rows have {width} fields and the header has {len(names)}, in {len(rows)} of the first {looked_at} rows",
        where=name,
        hint=f"the cells fit the header of {known}: {','.join(KNOWN_HEADERS[known])}"
        if known
        else nearest_header(header, cells, EXPECTED, {}),
    )


def regular_rows(lines: Iterable[str], shape: Shape) -> list[list[str]]:
    """The first lines that are a record of their own, as cells."""
    whole = (line for line in lines if shape.begins(line) and line.count(shape.delimiter) == shape.delimiters)
    return [shape.cells(line)[: len(shape.fields)] for line in islice(whole, FIRST_ROWS)]


def regular_columns(lines: list[str], shape: Shape) -> pa.Table | None:
    """All at once, where every line is a record of its own; None where one is not."""
    if not lines or shape.fields[0] not in IDS:
        return None
    texts = pa.array(lines, pa.string())
    regular = pc.and_(
        pc.equal(pc.count_substring(texts, shape.delimiter), shape.delimiters),
        pc.match_substring_regex(texts, "^[0-9][^\r]*$"),
    )
    if not pc.all(regular).as_py():
        return None
    flat = pc.split_pattern(texts, shape.delimiter).flatten()
    width = shape.delimiters + 1
    places = np.arange(0, len(flat), width)
    columns = [flat.take(pa.array(places + place)) for place in range(len(shape.fields))]
    whole = not shape.ends_with_id or pc.all(pc.equal(columns[0], columns[-1])).as_py()
    return named_columns(columns, shape) if whole else None


def rejoined(cells: list[str], shape: Shape) -> list[str]:
    """Too many cells: a name or comment holds the delimiter. Of the ways to put it together, the first in which times look like times."""
    free = [place for place, name in enumerate(shape.fields) if name in FREE]
    extra = len(cells) - len(shape.fields)
    for chosen in islice(combinations_with_replacement(free, extra), MOST_TRIES):
        found = joined(cells, shape, chosen)
        if all(LOOKS[name].fullmatch(cell) for name, cell in zip(shape.fields, found, strict=True) if name in LOOKS):
            return found
    return cells


def joined(cells: list[str], shape: Shape, chosen: Sequence[int]) -> list[str]:
    found, at = [], 0
    for place in range(len(shape.fields)):
        width = 1 + chosen.count(place)
        found.append(shape.delimiter.join(cells[at : at + width]))
        at += width
    return found


def named_columns(columns: Sequence[pa.Array], shape: Shape) -> pa.Table:
    """The fields that are read; an empty cell is null, and of a field that stands there twice the first counts."""
    by_name = {}
    for name, values in zip(shape.fields, columns, strict=True):
        if name in FIELDS and name not in by_name:
            empty = pc.equal(values, "")
            by_name[name] = pc.if_else(empty, None, values) if pc.any(empty, min_count=0).as_py() else values
    return pa.table(by_name)


def no_header(name: str, first: str) -> InputError:
    known = nearest_known([first.split("|")], EXPECTED, KNOWN_HEADERS)
    fields = ",".join(KNOWN_HEADERS[known]) if known else "jobidraw,user,..."
    return InputError(
        "no-header",
        f"the first line of {name} does not name sacct's fields" + (f"; it fits {known}" if known else ""),
        where=f"{name}:1",
        hint=f'save it without --noheader, or list its fields: fields = "{fields}"',
    )


def not_parsable(name: str) -> InputError:
    return InputError(
        "no-header",
        f"{name} is a table for reading, with columns that are cut off",
        where=f"{name}:1",
        hint="save it with sacct -P (parsable)",
    )
