"""What the columns that a stanza names should hold, tested on a log's first rows as the rows themselves are read."""

import re
from collections.abc import Callable, Iterable, Sequence

import pyarrow as pa

from apportion.sources.cells.instants import instants
from apportion.sources.cells.marks import Marks
from apportion.sources.cells.parsed import Parsed
from apportion.sources.cells.shapes import FIRST_ROWS, Expectation, expect, refuse_misfit
from apportion.sources.files.delimited import first_rows
from apportion.sources.files.paths import InputFile
from apportion.sources.usage.block import Block
from apportion.sources.usage.durations import durations
from apportion.sources.usage.mapping import How

WORD = re.compile(r"[^\W\d].*|-?[0-9]{1,3}", re.DOTALL)  # a state or an outcome, or a number that stands for one
NO_WORD = frozenset(
    {"invalid-number", "invalid-time"}
)  # what a cell of another column is; a negative amount is a bad row
TIME_REMEDY = (
    "`time` says how the log writes its times: iso, epoch (seconds since 1970), epoch_ms, epoch_us, epoch_ns "
    "or a form such as '%d.%m.%y %H:%M'"
)
AMOUNT_REMEDY = "name in `meters` a column of numbers, or an expression that makes them, or correct the cells"
CLOCK_CHANGES_S = (1800, 3600)


def refuse_shifted(file: InputFile, header: Sequence[str], how: How) -> None:
    """Refuses a CSV file whose cells stand under the wrong names, or that has other columns than the stanza says."""
    if file.format == "csv":
        rows = first_rows(file, FIRST_ROWS, how.delimiter)
        refuse_misfit(file.name, header, rows, [one for one in expected(how) if one.column in header])


def expected(how: How) -> Iterable[Expectation]:
    """Of columns that the stanza names as they are; an expression may make anything of its columns."""
    columns = how.columns
    for name in ("start", "end"):
        if name in columns:
            parse = judge(lambda cells: instants(cells, how.zone, how.time))
            yield Expectation(columns[name], f'times that fit time = "{how.time}"', parse, remedy=TIME_REMEDY)
    if "duration" in columns:
        yield Expectation(columns["duration"], "durations", judge(lambda cells: durations(cells, how.duration)))
    for name in ("outcome", "state"):
        if name in columns:
            yield from expect((columns[name],), f"{name}s", lambda cell: WORD.fullmatch(cell) is not None)
    for meter in how.meters:
        amounts = judge_amounts(how, meter.meter)
        yield Expectation(meter.column, f"amounts of {meter.meter}", amounts, remedy=AMOUNT_REMEDY)
    if {"duration", "start", "end"} <= set(columns):
        others = columns["start"], columns["end"]
        yield Expectation(columns["duration"], f"the time from {others[0]} to {others[1]}", judge_spans(how), others)


def judge(parse: Callable[[pa.Array], Parsed]) -> Callable[[Sequence[tuple[str, ...]]], list[bool | None]]:
    """By what the parser of the column says of each cell."""

    def verdicts(rows: Sequence[tuple[str, ...]]) -> list[bool | None]:
        bad = parse(pa.array([cells[0] for cells in rows], pa.string())).bad
        return [bad.get(row) not in NO_WORD for row in range(len(rows))]

    return verdicts


def judge_amounts(how: How, meter: str) -> Callable[[Sequence[tuple[str, ...]]], list[bool | None]]:
    block = Block(how, pa.table({}), 0, Marks("", str))
    return judge(lambda cells: block.read(meter, cells, how.scales[meter]))


def judge_spans(how: How) -> Callable[[Sequence[tuple[str, ...]]], list[bool | None]]:
    def verdicts(rows: Sequence[tuple[str, ...]]) -> list[bool | None]:
        ran = durations(pa.array([cells[0] for cells in rows], pa.string()), how.duration).values.to_pylist()
        starts, ends = (
            instants(pa.array([cells[place] for cells in rows], pa.string()), how.zone, how.time).values.to_pylist()
            for place in (1, 2)
        )
        return [agree(*row) for row in zip(ran, starts, ends, strict=True)]

    return verdicts


def agree(ran_s: int | None, start_s: int | None, end_s: int | None) -> bool | None:
    if ran_s is None or start_s is None or end_s is None:
        return None
    apart = abs(end_s - start_s - ran_s)
    return apart <= 1 or apart in CLOCK_CHANGES_S
