"""How far the evidence of a month reaches: the last day of which a source can say no more."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow.compute as pc

from apportion.model.times import Interval, Period, day_start, local_day
from apportion.reports.live import SourceReach
from apportion.verbs.project import Project
from apportion.verbs.world import Pins, touches


def reaches(project: Project, period: Period, pins: Pins, today: date) -> tuple[SourceReach, ...]:
    """Of every source that brings usage of the month, or brought some of the month before and is still one of the project's."""
    zone = ZoneInfo(project.policy.time_zone)
    month = period.interval(zone)
    both = Interval(period.previous.interval(zone).start_s, month.end_s)
    windows: dict[str, list[Mapping[str, Any]]] = {}
    for row in project.books.deliveries():
        if "usage" in row["tables"] and row["start_s"] < both.end_s and row["end_s"] > both.start_s:
            windows.setdefault(row["source"], []).append(row)
    stated = {source.name for source in project.sources}
    last = last_rows(project, pins, both, windows)
    found = []
    for source, rows in sorted(windows.items()):
        if source in stated or any(row["end_s"] > month.start_s for row in rows):
            end = min(known_until(rows, last.get(source, 0)), day_start(today, zone), month.end_s)
            day = local_day(end, zone) - timedelta(days=1)
            found.append(SourceReach(source, day if day >= period.first_day else None))
    return tuple(found)


def known_until(rows: list[Mapping[str, Any]], last: int) -> int:
    """The end of what was asked for; where that lies after the asking, as with a file of a whole month, the last moment that a row speaks of."""
    return max(row["end_s"] if row["end_s"] <= row["received_s"] else min(last, row["received_s"]) for row in rows)


def last_rows(
    project: Project, pins: Pins, span: Interval, windows: Mapping[str, list[Mapping[str, Any]]]
) -> dict[str, int]:
    """The last end of a usage row by source; what ends after it was told counts until then."""
    unsure = [name for name, rows in windows.items() if any(row["end_s"] > row["received_s"] for row in rows)]
    if not unsure:
        return {}
    where = touches(span) & pc.field("source").isin(unsure)
    rows = project.books.scan("usage", pins["usage"], columns=["source", "start_s", "end_s"], where=where)
    sums = rows.group_by("source").aggregate([("end_s", "max")]).to_pylist()
    return {row["source"]: row["end_s_max"] for row in sums}
