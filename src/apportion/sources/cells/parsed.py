"""What came of a column: values, null where there was none or where it could not be taken, and the rows of the latter with their codes."""

from dataclasses import dataclass, field

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Parsed:
    values: pa.Array
    bad: dict[int, str] = field(default_factory=dict)
    rounded: int = 0  # binary numbers that do not fit the places and were rounded to them
    ambiguous: tuple[int, ...] = ()  # rows whose time comes twice, as clocks went back; the first of the two is taken
    skipped: tuple[
        int, ...
    ] = ()  # rows whose time never comes, as clocks went forward; it counts by the clock before the change

    @property
    def clock_changes(self) -> list[tuple[int, str]]:
        """Rows whose time is in doubt, each with its code."""
        return [*((row, "ambiguous-time") for row in self.ambiguous), *((row, "skipped-time") for row in self.skipped)]
