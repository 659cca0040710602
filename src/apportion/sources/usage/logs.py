"""Log files to Arrow tables in our columns; ends of what still runs stay null until the window is known."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import Problem
from apportion.model.delivery import FileDigest
from apportion.model.rows import TABLES, complete_columns
from apportion.sources.cells.labels import label_sets
from apportion.sources.cells.marks import Marks
from apportion.sources.files.paths import InputFile
from apportion.sources.files.read import read_sheet
from apportion.sources.files.sheet import Sheet, once
from apportion.sources.usage.block import Block
from apportion.sources.usage.expressions.columns import Made, Places, make
from apportion.sources.usage.facts import KEY
from apportion.sources.usage.mapping import How
from apportion.sources.usage.plausibility import TimeTally
from apportion.sources.usage.shapes import refuse_shifted

LABEL = "label:"  # label columns of a workload log, until one map is made of them
MAP = "labels"
WIDE = pa.decimal128(38, 0)
NO_PLACES = Places((), {}, {})


@dataclass
class Log:
    """What the files gave: usage, capacity or reservation rows, and the rows about workloads."""

    rows: list[pa.Table] = field(default_factory=list)
    workloads: list[pa.Table] = field(default_factory=list)
    marks: list[Marks] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)  # of files as a whole
    files: list[FileDigest] = field(default_factory=list)

    @property
    def told(self) -> list[Problem]:
        """Those that are listed, before it is known of which months they are."""
        return [one for marks in self.marks for _, one in marks.problems] + self.problems


def read_logs(files: Sequence[InputFile], how: How) -> Log:
    """All files of a source."""
    log = Log()
    seen: dict[str, str] = {}
    for file in files:
        sheet = read_sheet(file, lambda header, file=file: how.places(file, header).columns, how.delimiter)  # type: ignore[misc]  # bound per turn
        once(sheet, seen)
        read_sheet_into(log, sheet, how)
    return log


def read_sheet_into(log: Log, sheet: Sheet, how: How) -> None:
    rows = Rows(sheet)
    marks = Marks(sheet.file.name, rows.where)
    for bad in sheet.bad_rows:
        marks.note("malformed-row", bad.message, bad.where)
    if sheet.table.num_rows and not sheet.ended:
        marks.note("no-last-newline", "the last line has no end: the file may have been cut off")
    control = Decimal(0)
    places = how.places(sheet.file, sheet.header) if sheet.header else NO_PLACES
    refuse_shifted(sheet.file, sheet.header, how)
    tally = TimeTally(int(time.time()))
    for base_row, part in sheet.parts():
        made = make(part, places, how.clock, sheet.file)
        for row in made.childless:
            marks.note("no-items", f"{how.explode} holds no array with items", sheet.where(base_row + row))
        first_row = rows.add(base_row, made)
        block = Block(how, made.table, first_row, marks, made.failed)
        for table in READERS[how.records](block, places.rest, log):
            log.rows.append(table)
            amount = table["allocated" if how.records == "usage" else "amount"]
            control += pc.sum(pc.cast(amount, WIDE)).as_py() or 0
        if block.span:
            tally.add(*block.span, block.keep)
    log.marks.append(marks)
    log.problems.extend(tally.problems(sheet.file.name))
    log.files.append(
        FileDigest(sheet.file.name, sheet.sha256, sheet.table.num_rows + len(sheet.bad_rows), str(control))
    )


@dataclass
class Rows:
    """Rows of a sheet, or the items of an array in them, each with its place."""

    sheet: Sheet
    parents: list[np.ndarray] = field(default_factory=list)
    count: int = 0

    def add(self, base_row: int, made: Made) -> int:
        """The number of the block's first row."""
        first = self.count if made.parents is not None else base_row
        if made.parents is not None:
            self.parents.append(made.parents + base_row)
            self.count += len(made.parents)
        return first

    def where(self, row: int) -> str:
        if not self.parents:
            return self.sheet.where(row)
        for parents in self.parents:
            if row < len(parents):
                parent = int(parents[row])
                return f"{self.sheet.where(parent)} item {row - int(np.searchsorted(parents, parent))}"
            row -= len(parents)
        return self.sheet.file.name


def read_usage(block: Block, rest: Sequence[str], log: Log) -> list[pa.Table]:
    workload = block.key("workload", "missing-workload")
    start, end = block.times()
    sets = add_workloads(block, rest, log, (workload, start, end))
    resource, cluster = pc.fill_null(block.words("resource"), ""), block.words("cluster")
    own = {"label_set": sets} | ({KEY: block.own_key()} if block.how.key else {})
    tables = []
    for meter, mask, allocated, used in block.measured("allocated"):
        whole = {
            "workload": workload,
            "resource": resource,
            "cluster": cluster,
            "start_s": start,
            "end_s": end,
            "allocated": allocated,
            "used": used,
            **own,
        }
        tables.append(kept(whole, pc.and_(mask, block.keep), block, meter))
    return tables


def read_workloads(block: Block, rest: Sequence[str], log: Log) -> list[pa.Table]:
    workload = block.key("workload", "missing-workload")
    start, end = block.times()
    add_workloads(block, rest, log, (workload, start, end))
    return []


def add_workloads(block: Block, rest: Sequence[str], log: Log, who: tuple[pa.Array, pa.Array, pa.Array]) -> pa.Array:
    """The name of each row's set of labels."""
    workload, start, end = who
    outcome = block.outcomes(end)
    run = block.words("run")
    columns = {
        "workload": workload,
        "run": pc.coalesce(run, workload),
        "name": block.words("name"),
        "start_s": start,
        "end_s": end,
        "outcome": outcome,
    }
    labels, maps = block.label_columns(rest), block.label_maps()
    columns |= {LABEL + label: values for label, values in labels.items()}
    if maps is not None:
        columns[MAP] = maps
    columns["label_set"] = sets = label_sets(block.rows, labels, maps)
    log.workloads.append(kept(columns, block.keep, block))
    return sets


def read_capacity(block: Block, rest: Sequence[str], _: Log) -> list[pa.Table]:
    resource = block.key("resource", "missing-resource")
    start, end = block.times()
    whole = {
        "resource": resource,
        "cluster": block.words("cluster"),
        "start_s": start,
        "end_s": end,
        "state": block.states(),
        "labels": block.labels(rest),
    }
    return [
        kept({**whole, "amount": amount}, pc.and_(mask, block.keep), block, meter)
        for meter, mask, amount, _ in block.measured("amount")
    ]


def read_reservations(block: Block, rest: Sequence[str], _: Log) -> list[pa.Table]:
    reservation = block.key("reservation", "missing-reservation")
    start, end = block.times()
    whole = {"reservation": reservation, "start_s": start, "end_s": end, "labels": block.labels(rest)}
    return [
        kept({**whole, "amount": amount}, pc.and_(mask, block.keep), block, meter)
        for meter, mask, amount, _ in block.measured("amount")
    ]


def kept(columns: dict[str, pa.Array], mask: pa.Array, block: Block, meter: str = "") -> pa.Table:
    """The rows that stay, with their source and meter."""
    mask = pc.fill_null(mask, fill_value=False)
    table = pa.table(columns)
    table = table if pc.all(mask, min_count=0).as_py() else table.filter(mask)
    constants = {"source": block.how.source} | ({"meter": meter} if meter else {})
    for name, value in constants.items():
        table = table.append_column(name, pa.repeat(pa.scalar(value), table.num_rows))
    return table


READERS: dict[str, Callable[[Block, Sequence[str], Log], list[pa.Table]]] = {
    "usage": read_usage,
    "capacity": read_capacity,
    "reservations": read_reservations,
    "workloads": read_workloads,
}


def joined(tables: Sequence[pa.Table], name: str) -> pa.Table:
    """One table in the order of the schema, still with null ends."""
    schema = TABLES[name]
    loose = pa.schema([found.with_nullable(True) for found in schema])
    if tables and KEY in tables[0].column_names:
        loose = loose.append(pa.field(KEY, pa.string()))
    return (
        pa.concat_tables([complete_columns(table, schema).select(loose.names).cast(loose) for table in tables])
        if tables
        else loose.empty_table()
    )
