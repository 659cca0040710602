"""Which days of a month its figures do not know all of, because a source had not delivered them when the month was last computed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow.compute as pc

from apportion.model.times import Interval, Period, local_day
from apportion.sources.pushed import KIND as PUSHED
from apportion.verbs.corrections import runs_of
from apportion.verbs.due import day_span, holes, is_live, month_days, since_s
from apportion.verbs.project import Project
from apportion.verbs.world import Pins, pins_of, pins_of_run

ENDS = {"usage": "end_s", "capacity": "end_s", "cost_lines": "charge_end_s"}  # of what a figure is made of
COUNTED = {
    "usage": ("start_s", "end_s", "allocated"),
    "capacity": ("start_s", "end_s", "amount"),
    "cost_lines": ("charge_start_s", "charge_end_s", "EffectiveCost"),
}
Days = Mapping[date, tuple[str, ...]]
Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Told:
    """What one source had told by then: its windows, each as far as it can be relied on, and since when it is asked."""

    source: str
    windows: tuple[Interval, ...]
    since: int


def incomplete_days(project: Project, period: Period, until_s: int | None = None) -> Days:
    """Days with the sources that had not delivered all of them when the month was last computed, now or as of a moment.

    Where a source had said nothing of a day and brought nothing about it since, although it went on, it had nothing to say. A day of files without
    a row may be a quiet one: only those after the last that a file tells of count.
    """
    rows, pins = deliveries(project), pins_of(project)
    now = missing(project, period, rows, pins)
    runs = [run for run in runs_of(project.books.runs(), str(period)) if until_s is None or run.posted_s <= until_s]
    if not runs:
        return now
    own = pins_of_run(project, runs[-1])
    then = missing(project, period, [row for row in rows if row["received_s"] <= runs[-1].posted_s], own)
    if not then:
        return then
    span = Interval(day_span(min(then), zone_of(project)).start_s, period.interval(zone_of(project)).end_s)
    moved = sources_moved(project, own, pins, span)
    found = {day: tuple(one for one in names if one in now.get(day, ()) or one in moved) for day, names in then.items()}
    return {day: names for day, names in found.items() if names}


def undelivered_days(project: Project, period: Period, names: Sequence[str] = ()) -> Days:
    """Days with the sources that have not delivered all of them yet, whatever was computed. Of the sources named, else of all whose rows count.

    One that never brought anything lacks every day, and so does one that brought nothing of late: whoever is still one of the project's is waited for. A file
    that came after a day and has a row of it is taken for all of that day.
    """
    for name in names:
        project.source(name)  # refuses
    told = told_by(project, period, deliveries(project), pins_of(project), whole_days=True)
    known = {one.source for one in told}
    brought = {row["source"] for row in project.books.deliveries()}
    counted = {row["source"] for row in deliveries(project)}
    wanted = set(names) or known | {source.name for source in project.sources if source.kind != PUSHED}
    absent = {name for name in wanted - known if name in counted or name not in brought}
    zone = zone_of(project)
    found = {
        day: tuple(sorted(absent | {one.source for one in told if one.source in wanted and lacks(one, day, zone)}))
        for day in month_days(period)
    }
    return {day: sources for day, sources in found.items() if sources}


def zone_of(project: Project) -> ZoneInfo:
    return ZoneInfo(project.policy.time_zone)


def deliveries(project: Project) -> Rows:
    """Of sources whose rows count: references are compared, never posted. Rows that were only added speak for no window, and nobody waits for more."""
    references = project.books.reference_sources()
    return [
        row
        for row in project.books.deliveries()
        if row["source"] not in references and ENDS.keys() & row["tables"] and row["replaced"]
    ]


def sources_moved(project: Project, before: Pins, after: Pins, span: Interval) -> set[str]:
    """Those whose rows of a span are no longer what they were."""
    found: set[str] = set()
    for table in ENDS:
        if before[table] != after[table]:
            was, then = (prints(project, table, pins[table], span) for pins in (before, after))
            found |= {source for source in {*was, *then} if was.get(source) != then.get(source)}
    return found


def prints(project: Project, table: str, snapshot: int, span: Interval) -> dict[str, tuple[object, ...]]:
    """By source, how many rows there are and what their times and amounts come to."""
    columns = COUNTED[table]
    where = (pc.field(columns[0]) < span.end_s) & (pc.field(columns[1]) > span.start_s)
    rows = project.books.scan(table, snapshot, columns=["source", *columns], where=where)
    sums = rows.group_by("source").aggregate([([], "count_all"), *((column, "sum") for column in columns)]).to_pylist()
    return {row.pop("source"): tuple(row.values()) for row in sums}


def missing(project: Project, period: Period, rows: Rows, pins: Pins) -> dict[date, tuple[str, ...]]:
    told = told_by(project, period, rows, pins)
    zone = zone_of(project)
    found = {day: tuple(one.source for one in told if lacks(one, day, zone)) for day in month_days(period)}
    return {day: sources for day, sources in found.items() if sources}


def lacks(told: Told, day: date, zone: ZoneInfo) -> bool:
    """By the policy's days and by those of UTC, which many vendors bill in: a day that is whole in either is whole."""
    spans = [day_span(day, each) for each in (zone, ZoneInfo("UTC"))]
    return spans[0].end_s > told.since and all(
        holes(told.windows, max(told.since, s.start_s), s.end_s, 0) for s in spans
    )


def told_by(project: Project, period: Period, rows: Rows, pins: Pins, *, whole_days: bool = False) -> list[Told]:
    """Of every source that brought something of the month, or of the month before and is still one of the project's.

    `whole_days`: a file's last row speaks for its whole day.
    """
    zone = zone_of(project)
    month, before = period.interval(zone), period.previous.interval(zone)
    sources: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        sources.setdefault(row["source"], []).append(row)
    live = {source.name: since_s(source) if is_live(source) else None for source in project.sources}
    last = last_moments(project, pins, before.start_s)
    if whole_days:
        last = {name: {table: day_end(second, zone) for table, second in own.items()} for name, own in last.items()}
    found = []
    for name, own in sorted(sources.items()):
        still = before if name in live else month
        if not any(row["start_s"] < month.end_s and row["end_s"] > still.start_s for row in own):
            continue
        asked = live.get(name, 0)
        windows = tuple(Interval(row["start_s"], relied_on(row, last.get(name, {}), asked is not None)) for row in own)
        first = min(row["start_s"] for row in own)
        found.append(Told(name, windows, first if not asked else max(first, asked)))
    return found


def day_end(second: int, zone: ZoneInfo) -> int:
    """Of the day that a moment ends."""
    return day_span(local_day(second - 1, zone), zone).end_s


def relied_on(row: Mapping[str, Any], last: Mapping[str, int], asked: bool) -> int:
    """How far a window can be relied on. Nobody can say what comes after the asking; a file's window is the whole months that its rows touch: there the
    last moment that a row speaks of counts, and a bill that came after its end is whole.
    """
    start, end, received = (int(row[name]) for name in ("start_s", "end_s", "received_s"))
    if asked:
        return max(start, min(end, received))
    ends = [min(end, received, last.get(name, start)) for name in ("usage", "capacity") if name in row["tables"]]
    if "cost_lines" in row["tables"]:
        ends.append(end if received >= end else min(end, last.get("cost_lines", start)))
    return max(start, min(ends))


def last_moments(project: Project, pins: Pins, since: int) -> dict[str, dict[str, int]]:
    """By source and table, the last end of a row."""
    found: dict[str, dict[str, int]] = {}
    for table, end in ENDS.items():
        rows = project.books.scan(table, pins[table], columns=["source", end], where=pc.field(end) >= since)
        for row in rows.group_by("source").aggregate([(end, "max")]).to_pylist():
            found.setdefault(row["source"], {})[table] = row[f"{end}_max"]
    return found
