"""What came of a column: values, null where there was none or where it could not be taken, and the rows of the latter with their codes."""

from dataclasses import dataclass, field

import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Parsed:
    values: pa.Array
    bad: dict[int, str] = field(default_factory=dict)
    rounded: int = 0  # binary numbers that do not fit the places and were rounded to them
