"""How far the evidence of a month reaches: the last day of which a source can say no more."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow.compute as pc

from apportion.model.times import Interval, Period, day_start, local_day
from apportion.reports.live import SourceReach
from apportion.sources.live import is_asked
from apportion.sources.pushed import KIND as PUSHED
from apportion.sources.registry import source_named
from apportion.verbs.project import Project
from apportion.verbs.world import Pins, touches


def reaches(project: Project, period: Period, pins: Pins, today: date) -> tuple[SourceReach, ...]:
    """Of every source that brings usage of the month, or brought some of the month before and is still one of the project's."""
    zone = ZoneInfo(project.policy.time_zone)
    month = period.interval(zone)
    both = Interval(period.previous.interval(zone).start_s, month.end_s)
    windows = by_source(project.books.deliveries(), both)
    stated = {
        source.name: source.kind != PUSHED and is_asked(source_named(source.kind, source.where), source.settings)
        for source in project.sources
    }
    last = last_rows(project, pins, both, windows)
    found = []
    for source, rows in sorted(windows.items()):
        if source in stated or any(row["end_s"] > month.start_s for row in rows):
            exact = stated.get(source, True)
            known = asked_until(rows, month.start_s) if exact else told_until(rows, last.get(source, 0))
            end = min(known, day_start(today, zone), month.end_s)
            day = local_day(end, zone) - timedelta(days=1)
            found.append(SourceReach(source, day if day >= period.first_day else None))
    return tuple(found)


def by_source(deliveries: Sequence[Mapping[str, Any]], span: Interval) -> dict[str, list[Mapping[str, Any]]]:
    """Deliveries of usage that touch a span. Sources that only add rows are left out, unless there are no others: nobody knows what they will add."""
    own = [
        row
        for row in deliveries
        if "usage" in row["tables"] and row["start_s"] < span.end_s and row["end_s"] > span.start_s
    ]
    found: dict[str, list[Mapping[str, Any]]] = {}
    for row in [row for row in own if row["replaced"]] or own:
        found.setdefault(row["source"], []).append(row)
    return found


def asked_until(rows: Sequence[Mapping[str, Any]], since: int) -> int:
    """How far what was asked for goes without a gap; nobody can say what comes after the asking."""
    at = since
    for row in sorted(rows, key=lambda row: row["start_s"]):
        if row["start_s"] > at:
            break
        at = max(at, min(row["end_s"], row["received_s"]))
    return at


def told_until(rows: Sequence[Mapping[str, Any]], last: int) -> int:
    """A file's window is the whole months that its rows touch: there the last moment that a row speaks of counts."""
    received: int = max(row["received_s"] for row in rows)
    return min(last, received)


def last_rows(
    project: Project, pins: Pins, span: Interval, windows: Mapping[str, list[Mapping[str, Any]]]
) -> dict[str, int]:
    """The last end of a usage row by source."""
    if not windows:
        return {}
    where = touches(span) & pc.field("source").isin(list(windows))
    rows = project.books.scan("usage", pins["usage"], columns=["source", "end_s"], where=where)
    sums = rows.group_by("source").aggregate([("end_s", "max")]).to_pylist()
    return {row["source"]: row["end_s_max"] for row in sums}
