"""A block of log rows to columns: who, when, where, how much. Rows that cannot be taken are marked and masked out."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.kinds import kinds
from apportion.model.meters import METERS
from apportion.model.rows import SECOND, UNITS
from apportion.model.times import instant_text
from apportion.sources.cells.amounts import amounts, finer_than_base, portion
from apportion.sources.cells.clock_changes import TOLD
from apportion.sources.cells.gpus import gpus
from apportion.sources.cells.labels import labels_from_cells, labels_from_columns
from apportion.sources.cells.marks import Marks
from apportion.sources.cells.parsed import Parsed
from apportion.sources.cells.text import mask_of, rows_where, shown
from apportion.sources.usage.clock import Clock
from apportion.sources.usage.durations import durations
from apportion.sources.usage.mapping import How, MeterColumn
from apportion.sources.usage.trimming import trimmed_maps, trimmed_text
from apportion.sources.usage.units import SHARED, sized
from apportion.sources.usage.words import in_our_words

FAULTS = {
    "invalid-number": "is not a number",
    "negative-amount": "is negative",
    "too-many-digits": "is too large",
    "invalid-time": "is not a time",
    "unknown-unit": "has a unit that nobody knows (set units)",
    "unknown-share": "is a part of a GPU whose size nobody said (set sharing)",
}


@dataclass
class Block:
    """Up to a million rows of one file. `keep` is false on rows that are left out."""

    how: How
    part: pa.Table
    first_row: int
    marks: Marks
    failed: Mapping[str, Mapping[int, str]] = field(default_factory=dict)  # expressions without a value, by row
    keep: pa.Array = field(init=False)
    clock: Clock = field(init=False)
    span: tuple[pa.Array, pa.Array] | None = None  # starts and ends, once they were read

    def __post_init__(self) -> None:
        self.keep = pa.repeat(pa.scalar(True), self.rows)
        self.clock = self.how.clock(self.part)
        zones = self.clock.unknown()
        self.drop(mask_of(zones, self.rows), "unknown-time-zone", lambda row: f"there is no {self.shown('zone', row)}")
        for column, rows in self.failed.items():
            self.without(column, rows)

    def shown(self, name: str, row: int) -> str:
        column = self.how.columns[name]
        return shown(column, self.cells(column), row)

    def without(self, column: str, rows: Mapping[int, str]) -> None:
        """Rows for which an expression has no value: left out, unless it only gives an amount or a label."""
        if column in self.how.columns.values():
            self.drop(mask_of(rows, self.rows), "no-value", lambda row: f"{column}: {rows[row]}")
            return
        self.marks.add(
            (self.first_row + row for row in sorted(rows)),
            "no-value",
            lambda row: f"{column}: {rows[row - self.first_row]}; this value is left out",
        )

    @property
    def rows(self) -> int:
        return int(self.part.num_rows)

    def cells(self, column: str) -> pa.Array:
        found = self.part[column]
        return found.chunk(0) if found.num_chunks == 1 else found.combine_chunks()

    def given(self, name: str) -> pa.Array | None:
        """The cells of one of our parts, None where the stanza maps none."""
        column = self.how.columns.get(name)
        return None if column is None else self.cells(column)

    def words(self, name: str) -> pa.Array:
        """Names and words: ` n1` in a log that people wrote is the node `n1`."""
        found = self.given(name)
        return pa.nulls(self.rows, pa.string()) if found is None else trimmed_text(found)

    def drop(self, mask: pa.Array, code: str, message: str | Callable[[int], str]) -> None:
        """Leaves out the rows of a mask and says so; those left out already are not named again."""
        rows = rows_where(pc.and_(mask, self.keep))
        if rows:
            self.marks.add(
                (self.first_row + row for row in rows),
                code,
                lambda row: message if isinstance(message, str) else message(row - self.first_row),
            )
            self.keep = pc.and_(self.keep, pc.fill_null(pc.invert(mask), fill_value=True))

    def drop_bad(self, parsed: Parsed, column: str) -> None:
        cells = self.cells(column)
        for code in dict.fromkeys(parsed.bad.values()):
            mask = mask_of([row for row, found in parsed.bad.items() if found == code], self.rows)
            self.drop(mask, code, partial(fault, column, cells, code))

    def key(self, name: str, code: str) -> pa.Array:
        """A column without which a row says nothing."""
        found = self.words(name)
        self.drop(found.is_null(), code, f"the row names no {name}")
        return found

    def times(self) -> tuple[pa.Array, pa.Array]:
        """Starts and ends; the end of what still runs is null."""
        start = self.instant("start")
        self.marks.starts[self.first_row] = start
        self.drop(start.is_null(), "invalid-time", "the row has no start")
        end = self.ends(start)
        self.drop(pc.less(end, start), "reversed-period", "the row ends before it starts")
        self.span = start, end
        return start, end

    def ends(self, start: pa.Array) -> pa.Array:
        """A duration counts before an end; where a row states both and they are apart, it is told."""
        duration, stated = self.how.columns.get("duration"), self.instant("end")
        if not duration:
            return stated
        lasting = pc.add(start, self.seconds(duration))
        apart = pc.and_(self.keep, pc.greater(pc.abs(pc.subtract(lasting, stated)), 1))
        self.marks.add(
            (self.first_row + row for row in rows_where(apart)),
            "duration-differs",
            lambda row: (
                f"the row ends at {instant_text(stated[row - self.first_row].as_py())}, and by its {duration} at "
                f"{instant_text(lasting[row - self.first_row].as_py())}: the {duration} counts"
            ),
        )
        return pc.coalesce(lasting, stated)

    def seconds(self, column: str) -> pa.Array:
        """Of a duration: in seconds unless the stanza names another unit; or as people write it, `01:30:00`."""
        cells = self.cells(column)
        if self.how.duration == 1:
            parsed = amounts(cells, 1)
            if not parsed.bad:
                return parsed.values
        parsed = durations(cells, self.how.duration)
        self.drop_bad(parsed, column)
        return parsed.values

    def instant(self, name: str) -> pa.Array:
        column = self.how.columns.get(name)
        if column is None:
            return pa.nulls(self.rows, SECOND)
        cells = self.cells(column)
        parsed = self.clock(cells)
        self.drop_bad(parsed, column)
        for row, code in parsed.clock_changes:
            self.marks.add([self.first_row + row], code, f"{shown(column, cells, row)} {TOLD[code]}")
        return parsed.values

    def outcomes(self, end: pa.Array) -> pa.Array:
        """In our words. What has no end runs; a row that says otherwise has lost its end and is left out."""
        stated = self.words("outcome")
        found, unknown = in_our_words(stated, dict(self.how.outcomes), "completed")
        self.marks.add(
            (self.first_row + row for row in unknown),
            "unknown-outcome",
            lambda row: f"nobody knows the outcome {stated[row - self.first_row].as_py()!r}; it counts as completed",
        )
        over = pc.fill_null(pc.not_equal(found, "running"), fill_value=False)
        self.drop(
            pc.and_(end.is_null(), over), "missing-end", lambda row: f"the row is {found[row].as_py()} and has no end"
        )
        return pc.coalesce(found, pc.if_else(end.is_null(), "running", "completed"))

    def states(self) -> pa.Array:
        stated = self.words("state")
        found, unknown = in_our_words(stated, dict(self.how.states), "up")
        self.marks.add(
            (self.first_row + row for row in unknown),
            "unknown-state",
            lambda row: f"nobody knows the state {stated[row - self.first_row].as_py()!r}; it counts as up",
        )
        return pc.fill_null(found, "up")

    def label_columns(self, rest: Sequence[str]) -> dict[str, pa.Array]:
        prefix = self.how.label_prefix
        columns = {f"{prefix}{label}": column for label, column in self.how.labels.items()}
        columns |= {f"{prefix}{column}": column for column in rest}
        return {label: trimmed_text(self.cells(column)) for label, column in columns.items()}

    def own_key(self) -> pa.Array:
        """Of the stanza's `key`, as JSON; `null` where a cell is empty or blank."""
        cells = [trimmed_text(self.cells(column)) for column in self.how.key]
        few = kinds(cells, self.rows)
        rows = zip(*(column.take(pa.array(few.first)).to_pylist() for column in cells), strict=True)
        return pa.array([json.dumps(row, ensure_ascii=False) for row in rows], pa.string()).take(pa.array(few.of))

    def label_maps(self) -> pa.Array | None:
        if not self.how.labels_json:
            return None
        parsed = labels_from_cells(self.cells(self.how.labels_json))
        self.marks.add(
            (self.first_row + row for row in parsed.bad),
            "invalid-labels",
            f"{self.how.labels_json} is no JSON object; its labels are left out",
        )
        return trimmed_maps(parsed.values)

    def labels(self, rest: Sequence[str]) -> pa.Array:
        return labels_from_columns(self.rows, self.label_columns(rest), self.label_maps())

    def measured(self, amount: str) -> Iterator[tuple[str, pa.Array, pa.Array, pa.Array]]:
        """Meter, mask of its rows, amounts and used amounts: for each meter with a column of its own, or for each that a column names."""
        if self.how.meters:
            yield from self.each_wide()
            return
        names = self.key("meter", "missing-meter")
        known = pc.is_in(names, pa.array(sorted(METERS)))
        self.drop(
            pc.and_(names.is_valid(), pc.invert(known)),
            "unknown-meter",
            lambda row: f"there is no meter {names[row].as_py()!r}; meters: {', '.join(sorted(METERS))}",
        )
        present = [name for name in names.unique().to_pylist() if name in METERS]
        for name in sorted(present):
            yield self.long(name, pc.fill_null(pc.equal(names, name), fill_value=False), amount)

    def each_wide(self) -> Iterator[tuple[str, pa.Array, pa.Array, pa.Array]]:
        """A row without any amount is told: nobody can say whether it held nothing."""
        silent = pa.repeat(pa.scalar(True), self.rows)
        for meter in self.how.meters:
            name, mask, found, used, told = self.wide(meter)
            silent = pc.and_(silent, pc.invert(told))
            yield name, mask, found, used
        self.drop(silent, "missing-amount", "the row has no amount at all; where it held nothing, 0 says so")

    def wide(self, meter: MeterColumn) -> tuple[str, pa.Array, pa.Array, pa.Array, pa.Array]:
        """An empty cell, or a 0, is nothing of that meter. The last of the five says which rows state anything, be it faulty."""
        found, readable = self.amount(meter.meter, meter.column)
        used, measured = pa.nulls(self.rows, pa.int64()), pa.repeat(pa.scalar(True), self.rows)
        if meter.used:
            cells = self.cells(meter.used)
            parsed = (
                portion(found, cells, meter.used_of)
                if meter.used_of
                else self.read(meter.meter, cells, meter.used_scale, measured=True)
            )
            used, measured = self.used(parsed, meter.used), pc.invert(mask_of(parsed.bad, self.rows))
        told = pc.or_(pc.or_(found.is_valid(), used.is_valid()), pc.invert(pc.and_(readable, measured)))
        for column in (meter.column, meter.used):
            told = pc.or_(told, mask_of(self.failed.get(column, {}), self.rows))
        some = pc.or_(pc.greater(pc.fill_null(found, 0), 0), pc.greater(pc.fill_null(used, 0), 0))
        if meter.used and not meter.used_of:
            self.tell_fine(meter.meter, meter.used, self.cells(meter.used), used, pc.invert(some))
        return meter.meter, pc.and_(self.keep, pc.and_(readable, some)), found, used, told

    def long(self, meter: str, own: pa.Array, amount: str) -> tuple[str, pa.Array, pa.Array, pa.Array]:
        column = self.how.columns[amount]
        others_empty = pc.if_else(own, self.plain_cells(column), None)
        found, readable = self.amount(meter, column, others_empty)
        used = pa.nulls(self.rows, pa.int64())
        if "used" in self.how.columns:
            cells = pc.if_else(own, self.plain_cells(self.how.columns["used"]), None)
            used = self.used(self.read(meter, cells, self.how.scales[meter], measured=True), self.how.columns["used"])
            nothing = pc.equal(pc.coalesce(found, pa.scalar(0, UNITS)), 0)
            self.tell_fine(meter, self.how.columns["used"], cells, used, nothing)
        stated = pc.or_(others_empty.is_valid(), used.is_valid())
        self.drop(pc.and_(own, pc.invert(stated)), "missing-amount", f"the row has no {amount} amount")
        return meter, pc.and_(pc.and_(self.keep, own), readable), found, used

    def tell_fine(self, meter: str, column: str, cells: pa.Array, values: pa.Array, rows: pa.Array) -> None:
        """Amounts that are not 0 and come to no base unit."""
        fine = rows_where(pc.and_(pc.and_(self.keep, rows), finer_than_base(cells, values)))
        self.marks.add(
            (self.first_row + row for row in fine),
            "too-fine",
            lambda row: (
                f"{shown(column, cells, row - self.first_row)} is less than half of 1/{METERS[meter].base:,} "
                f"{METERS[meter].unit}, the smallest amount of {meter}: it counts as 0"
            ),
        )

    def plain_cells(self, column: str) -> pa.Array:
        cells = self.cells(column)
        return pc.cast(cells, cells.type.value_type) if pa.types.is_dictionary(cells.type) else cells

    def read(self, meter: str, cells: pa.Array, scale: Fraction, *, measured: bool = False) -> Parsed:
        """Base units, where `scale` of them are one of the log's units."""
        if meter in SHARED:
            return gpus(cells, scale, self.how.board, measured=measured)
        return self.with_units(meter, cells, amounts(cells, int(scale), measured=measured))

    def with_units(self, meter: str, cells: pa.Array, parsed: Parsed) -> Parsed:
        """Cells that are no number may be one with its unit: `64 GiB`."""
        odd = {row: str(cells[row].as_py()) for row, code in parsed.bad.items() if code == "invalid-number"}
        if not odd:
            return parsed
        known = {cell: sized(cell, self.how.suffixes[meter]) for cell in set(odd.values())}
        values, bad = parsed.values.to_pylist(), dict(parsed.bad)
        for row, cell in odd.items():
            found = known[cell]
            if isinstance(found, str):
                bad[row] = found
            else:
                values[row] = found
                del bad[row]
        return Parsed(pa.array(values, UNITS), bad)

    def amount(self, meter: str, column: str, cells: pa.Array | None = None) -> tuple[pa.Array, pa.Array]:
        """A bad amount leaves out this meter of the row, not the row. Empty is not stated, and no fault: the second says which rows stay."""
        cells = self.cells(column) if cells is None else cells
        parsed = self.read(meter, cells, self.how.scales[meter])
        self.marks.add_bad(
            parsed.bad,
            lambda row: f"{shown(column, cells, row)} {FAULTS[parsed.bad[row]]}; this amount is left out",
            self.first_row,
        )
        self.tell_fine(meter, column, cells, parsed.values, pa.repeat(pa.scalar(True), self.rows))
        return parsed.values, pc.invert(mask_of(parsed.bad, self.rows))

    def used(self, parsed: Parsed, column: str) -> pa.Array:
        cells = self.cells(column)
        self.marks.add_bad(
            parsed.bad,
            lambda row: f"{shown(column, cells, row)} {FAULTS[parsed.bad[row]]}; it counts as not measured",
            self.first_row,
        )
        return parsed.values


def fault(column: str, cells: pa.Array, code: str, row: int) -> str:
    return f"{shown(column, cells, row)} {FAULTS[code]}"
