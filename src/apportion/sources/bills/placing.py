"""Lines whose billing or charge period could not be read still carry money, so they are put where they most likely belong.

No billing start: the UTC month in which the charge starts, else the first billing period of the files. No billing end: the end of
that UTC month. No charge period: the billing period. All such lines are marked with a problem already.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.rows import SECOND
from apportion.model.times import Interval, Period

UTC_ZONE = ZoneInfo("UTC")
TIMES_S = ("charge_start_s", "charge_end_s", "billing_start_s", "billing_end_s")


def place(lines: pa.Table, first: int | None) -> pa.Table:
    """`first` is the first billing period that any line names, if one does."""
    lines = fill(
        lines, "billing_start_s", "charge_start_s", lambda charge: first if charge is None else month(charge).start_s
    )
    lines = fill(lines, "billing_end_s", "billing_start_s", lambda start: month(start).end_s)
    lines = fill(lines, "charge_start_s", "billing_start_s", lambda start: start)
    return fill(lines, "charge_end_s", "billing_end_s", lambda end: end)


def no_billing_period(where: str, example: str) -> InputError:
    return InputError(
        "no-billing-period",
        f"no line says readably to which billing period it belongs: {example}",
        where=where,
        hint="write times as 2026-10-01T00:00:00Z",
    )


def fill(lines: pa.Table, name: str, other: str, find: Callable[[int], int | None]) -> pa.Table:
    """Nulls of one column from what another says on the same lines."""
    empty = lines[name].is_null()
    if not pc.any(empty, min_count=0).as_py():
        return lines
    values = pa.array([find(value) for value in lines[other].filter(empty).to_pylist()], SECOND)
    filled = pc.replace_with_mask(lines[name].combine_chunks(), empty.combine_chunks(), values)
    return lines.set_column(lines.column_names.index(name), name, filled)


def month(second: int) -> Interval:
    moment = datetime.fromtimestamp(second, tz=UTC)
    return Period(moment.year, moment.month).interval(UTC_ZONE)
