"""A log's delivery: its window, the ends of what still ran, and the tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError, Problem
from apportion.model.delivery import Delivery
from apportion.model.month_parts import MonthParts
from apportion.model.rows import TABLES, WORKLOADS
from apportion.model.times import Interval, Period, instant_text
from apportion.model.unusual import unusual_amounts
from apportion.sources.cells.since import first_end
from apportion.sources.files.paths import InputFile
from apportion.sources.settings import COUNTED
from apportion.sources.usage.facts import Facts, settle_keys, tell_repeats
from apportion.sources.usage.logs import joined, read_logs
from apportion.sources.usage.mapping import How
from apportion.sources.usage.spans import by_month
from apportion.sources.usage.windows import far_off, outside_window
from apportion.sources.usage.workloads import workloads

LONGEST_MONTHS = 36  # beyond it a stray date is likelier than a log that long


def read_log(files: Sequence[InputFile], how: How, asked: Interval | None) -> Delivery:
    log = read_logs(files, how)
    tables = [*log.rows, *log.workloads]
    window = how.window or asked or months(tables, how, files, log.told)
    parts = MonthParts.of(window, how.zone)
    problems = [one for marks in log.marks for one in marks.listed(parts)] + log.problems
    if not sum(table.num_rows for table in tables):
        problems.append(Problem(files[0].name, "no-rows", "the log says nothing: no row was taken"))
    made: dict[str, pa.Table] = {}
    facts = None
    if how.records != "workloads":
        made[how.records] = ended(joined(log.rows, how.records), window)
    if how.records == "usage":
        facts = facts_of(made["usage"], how, files, parts)
        made["usage"] = facts.rows
        problems += facts.problems
    whole = [ended(table, window) for table in log.workloads]
    problems += doubts(made, whole, how, parts, where_of(files))
    if how.records in ("usage", "workloads"):
        made["workloads"] = workloads(whole, by_set=how.records == "usage") if whole else WORKLOADS.empty_table()
    return Delivery(
        how.source,
        window,
        {name: rows.cast(TABLES[name]) for name, rows in made.items()},
        tuple(problems),
        tuple(log.files),
        facts=facts is not None,
        withheld=facts.withheld if facts else (),
        zone=how.zone,
        since_s=None if how.window or asked else first_end(tables, how.zone),
    )


def doubts(
    made: Mapping[str, pa.Table], lives: Sequence[pa.Table], how: How, parts: MonthParts, where: str
) -> Iterator[Problem]:
    """What is hard to believe of the amounts and times of rows that were taken."""
    if how.records in made:
        yield from odd_amounts(made[how.records], how, parts, where)
    if how.records == "usage":
        yield from far_off(made["usage"], parts, where)
    yield from outside_window([made[how.records]] if how.records in made else lives, parts.window, where)


def odd_amounts(rows: pa.Table, how: How, parts: MonthParts, where: str) -> Iterator[Problem]:
    """By month where there is any."""
    whole = tuple(unusual_amounts(rows, where, how.units))
    if not whole or len(parts.parts) == 1:
        yield from whole
        return
    for mark, part in by_month(rows, parts):
        yield from (replace(one, at=mark) for one in unusual_amounts(part, where, how.units))


def where_of(files: Sequence[InputFile]) -> str:
    return files[0].name if len(files) == 1 else f"{len(files)} files"


def facts_of(rows: pa.Table, how: How, files: Sequence[InputFile], parts: MonthParts) -> Facts:
    where = where_of(files)
    if how.key:
        return settle_keys(rows, how.key, where, parts)
    return tell_repeats(rows, where, parts) if how.repeats != COUNTED else Facts(rows)


def ended(table: pa.Table, window: Interval) -> pa.Table:
    """What still runs counts up to the end of the window."""
    if not table["end_s"].null_count:
        return table
    end = pc.coalesce(table["end_s"], pc.max_element_wise(table["start_s"], window.end_s))
    return table.set_column(table.column_names.index("end_s"), "end_s", end)


def months(
    tables: Sequence[pa.Table], how: How, files: Sequence[InputFile], problems: Sequence[Problem] = ()
) -> Interval:
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
            f"{files[0].name} holds no row that could be taken, and no window is set{first_of(problems)}",
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


def first_of(problems: Sequence[Problem]) -> str:
    return f"; {problems[0].where}: {problems[0].message}" if problems else ""


def period_of(second: int, how: How) -> Period:
    moment = datetime.fromtimestamp(second, tz=how.zone)
    return Period(moment.year, moment.month)
