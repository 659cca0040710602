"""A log's delivery: its window, the ends of what still ran, and the tables."""

from collections.abc import Sequence
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError, Problem
from apportion.model.delivery import Delivery
from apportion.model.rows import TABLES, WORKLOADS
from apportion.model.times import Interval, Period, instant_text
from apportion.sources.files.paths import InputFile
from apportion.sources.usage.logs import joined, read_logs
from apportion.sources.usage.mapping import How
from apportion.sources.usage.workloads import workloads

LONGEST_MONTHS = 36  # beyond it a stray date is likelier than a log that long


def read_log(files: Sequence[InputFile], how: How, asked: Interval | None) -> Delivery:
    log = read_logs(files, how)
    tables = [*log.rows, *log.workloads]
    window = how.window or asked or months(tables, how, files)
    problems = [*log.problems]
    if not sum(table.num_rows for table in tables):
        problems.append(Problem(files[0].name, "no-rows", "the log says nothing: no row was taken"))
    made = {}
    if how.records != "workloads":
        made[how.records] = ended(joined(log.rows, how.records), window).cast(TABLES[how.records])
    if how.records in ("usage", "workloads"):
        whole = [ended(table, window) for table in log.workloads]
        made["workloads"] = workloads(whole) if whole else WORKLOADS.empty_table()
    return Delivery(how.source, window, made, tuple(problems), tuple(log.files))


def ended(table: pa.Table, window: Interval) -> pa.Table:
    """What still runs counts up to the end of the window."""
    if not table["end_s"].null_count:
        return table
    end = pc.coalesce(table["end_s"], pc.max_element_wise(table["start_s"], window.end_s))
    return table.set_column(table.column_names.index("end_s"), "end_s", end)


def months(tables: Sequence[pa.Table], how: How, files: Sequence[InputFile]) -> Interval:
    """The whole months, in the log's time zone, that its rows cover."""
    starts = [second for table in tables if (second := pc.min(table["start_s"]).as_py()) is not None]
    ends = [
        second
        for table in tables
        if (second := pc.max(pc.coalesce(pc.subtract(table["end_s"], 1), table["start_s"])).as_py()) is not None
    ]
    if not starts:
        raise InputError(
            "no-rows",
            f"{files[0].name} holds no row that could be taken, and no window is set",
            where=files[0].name,
            hint='set window = "2026-10", or give a period',
        )
    first, last = period_of(min(starts), how), period_of(max(*ends, min(starts)), how)
    count = (last.year - first.year) * 12 + last.month - first.month + 1
    if count > LONGEST_MONTHS:
        raise InputError(
            "window-too-wide",
            f"the rows run from {instant_text(min(starts))} to {instant_text(max(ends))}, which is {count} months",
            where=files[0].name,
            hint='a later delivery replaces all of that: correct the stray date, or set window = "2026-10"',
        )
    return Interval(first.interval(how.zone).start_s, last.interval(how.zone).end_s)


def period_of(second: int, how: How) -> Period:
    moment = datetime.fromtimestamp(second, tz=how.zone)
    return Period(moment.year, moment.month)
