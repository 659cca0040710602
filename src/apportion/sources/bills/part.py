"""A block of rows of one file, as they stand. Amounts are exact or the file is refused; other faults mark their row."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.money import PLACES
from apportion.sources.cells.fine import FINE, exact
from apportion.sources.cells.instants import instants
from apportion.sources.cells.labels import labels_from_cells
from apportion.sources.cells.money import money
from apportion.sources.cells.parsed import Parsed
from apportion.sources.cells.text import rows_where, shown, text

UTC = ZoneInfo("UTC")
FAULTS = {
    "invalid-number": "is not a number",
    "too-many-digits": "has more than 20 digits before or 18 after the point",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """A row number in the file, or -1 for the file as a whole. `line` is the number of the cost line, where that is another."""

    row: int
    code: str
    message: str
    line: int = -1


@dataclass(frozen=True, slots=True)
class Part:
    """Up to a million rows; what is wrong with them goes to `faults`."""

    place_of: Callable[[int], str]  # of a row of the file
    table: pa.Table
    first_row: int
    faults: list[Fault]

    @property
    def count(self) -> int:
        return int(self.table.num_rows)

    def has(self, column: str) -> bool:
        return column in self.table.column_names

    def cells(self, column: str) -> pa.Array:
        """One array for the block; nulls where the file has no such column."""
        if not self.has(column):
            return pa.nulls(self.count)
        found = self.table[column]
        return found.chunk(0) if found.num_chunks == 1 else found.combine_chunks()

    def text(self, column: str) -> pa.Array:
        """Empty is null; numbers in their shortest form, nested cells as JSON."""
        return text(self.cells(column))

    def money(self, column: str) -> pa.Array:
        """Every amount, exact or the file is refused; FINE where there are more places than the books keep."""
        return self.exact(self.cells(column), column)

    def exact(self, cells: pa.Array, name: str, row_of: Callable[[int], int] = int) -> pa.Array:
        """The same for cells that were made of the block's; `row_of` says of which row."""
        parsed = exact(cells)
        if parsed.bad:
            first = min(parsed.bad)
            raise InputError(
                "too-many-digits" if parsed.bad[first] == "too-many-digits" else "invalid-number",
                f"{shown(name, cells, first)} {FAULTS[parsed.bad[first]]}",
                where=self.where(row_of(first)),
                hint="nothing of this file was taken: correct it, or fetch it again",
            )
        if parsed.values.type == FINE and cells.type != FINE:
            message = f"{name} has more than {PLACES} places in some rows: it is kept at {PLACES}, and the bill's sum stays right"
            self.faults.append(Fault(-1, "rounded-money", message))
        return parsed.values

    def quantity(self, column: str) -> pa.Array:
        """A number that is no money: one that cannot be read is left out and noted."""
        cells = self.cells(column)
        parsed = money(cells)
        self.fault(parsed.bad, "invalid-quantity", lambda row: f"{shown(column, cells, row)} {FAULTS[parsed.bad[row]]}")
        return parsed.values

    def labels(self, column: str) -> Parsed:
        """Maps from JSON text, Arrow maps or repeated key/value records; `bad` names the rows that are none of them."""
        return labels_from_cells(self.cells(column))

    def instants(self, column: str, zone: tzinfo = UTC, form: str = "iso") -> pa.Array:
        """UTC seconds; null where there is no readable time, which the lines then tell of."""
        return instants(self.cells(column), zone, form).values

    def where(self, row: int) -> str:
        return self.place_of(self.first_row + row)

    def fault(self, rows: Collection[int] | Mapping[int, str], code: str, message: Callable[[int], str]) -> None:
        self.faults.extend(Fault(self.first_row + row, code, message(row)) for row in rows)

    def mark(self, mask: pa.Array, code: str, message: Callable[[int], str]) -> pa.Array:
        """The code on the rows of a mask, null elsewhere, to be handed on as `problem`; each is listed too."""
        self.fault(rows_where(mask), code, message)
        return coded(mask, code)


def coded(mask: pa.Array, code: str) -> pa.Array:
    return pc.if_else(pc.fill_null(mask, fill_value=False), code, pa.scalar(None, pa.string()))
