"""Since when a log says more than that work ran on."""

from collections.abc import Sequence
from datetime import datetime, tzinfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.times import Period


def first_end(tables: Sequence[pa.Table], zone: tzinfo) -> int | None:
    """The beginning of the first month in which a row ends; where all still run, of the last in which one starts. None without rows."""
    ends = [pc.min(last_seconds(table)).as_py() for table in tables]
    known = [second for second in ends if second is not None]
    starts = [second for table in tables if (second := pc.max(table["start_s"]).as_py()) is not None]
    if not starts:
        return None
    moment = datetime.fromtimestamp(min(known, default=max(starts)), tz=zone)
    return Period(moment.year, moment.month).interval(zone).start_s


def last_seconds(rows: pa.Table) -> pa.ChunkedArray:
    """None of what still runs."""
    return pc.max_element_wise(pc.subtract(rows["end_s"], 1), rows["start_s"], skip_nulls=False)
