"""How far the evidence of a month reaches: the last day of which a source can say no more. It is what every report calls known."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow.compute as pc

from apportion.model.times import DAY_S, Interval, Period, day_start, local_day
from apportion.reports.live import SourceReach, known_through
from apportion.sources.live import is_asked
from apportion.sources.pushed import KIND as PUSHED
from apportion.sources.registry import source_named
from apportion.verbs.project import Project
from apportion.verbs.world import Pins, bill_lines, touches

DAY = timedelta(days=1)
LONGEST_S = DAY_S + 3600  # of a day, where clocks change: a line of more days does not say how far its bill reaches


def reaches(project: Project, period: Period, pins: Pins, today: date) -> tuple[SourceReach, ...]:
    """Of every source that brings usage or bills of the month, or brought usage of the month before and is still one of the project's."""
    found: dict[str, date | None] = {one.source: one.complete_to for one in usage_reaches(project, period, pins, today)}
    for source, end in bill_reaches(project, period, pins, today, alone=not found).items():
        known = found.get(source, end)
        found[source] = None if known is None or end is None else min(known, end)
    return tuple(SourceReach(source, end) for source, end in sorted(found.items()))


def known_day(project: Project, period: Period, pins: Pins, today: date) -> date | None:
    """The last day that everything is known of, as far as the evidence goes; never a day to come."""
    return known_through(reaches(project, period, pins, today))


def bill_reaches(project: Project, period: Period, pins: Pins, today: date, *, alone: bool) -> dict[str, date | None]:
    """Of every source that brings a bill. Lines that span days are known as far as all else is, and say something only where they are `alone`."""
    zone = ZoneInfo(project.policy.time_zone)
    month = period.interval(zone)
    columns = ["source", "charge_start_s", "charge_end_s", "billing_end_s"]
    lines = bill_lines(project, period, pins, columns=columns)
    came: dict[str, int] = {}
    for row in project.books.deliveries():
        if "cost_lines" in row["tables"]:
            came[row["source"]] = max(came.get(row["source"], 0), row["received_s"])
    ends = lines.group_by("source").aggregate([("billing_end_s", "max")]).to_pylist()
    short = lines.filter(pc.less_equal(pc.subtract(lines["charge_end_s"], lines["charge_start_s"]), LONGEST_S))
    last = short.group_by("source").aggregate([("charge_end_s", "max")]).to_pylist()
    told = {row["source"]: row["charge_end_s_max"] for row in last}
    found: dict[str, date | None] = {}
    for source, end in sorted((row["source"], row["billing_end_s_max"]) for row in ends):
        received = min(came.get(source, end), day_start(today + DAY, zone))
        if received >= end:  # nothing more will be on it
            known = end if end > month.end_s - DAY_S else month.end_s
        elif source in told:
            known = min(told[source], received)
        elif alone and not told:
            known = received
        else:
            continue
        day = local_day(min(known, day_start(today, zone), month.end_s), zone) - DAY
        found[source] = day if day >= period.first_day else None
    return found


def usage_reaches(project: Project, period: Period, pins: Pins, today: date) -> tuple[SourceReach, ...]:
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
            day = local_day(end, zone) - DAY
            found.append(SourceReach(source, day if day >= period.first_day else None))
    return tuple(found)


def partial_days(project: Project, months: Sequence[Period], pins: Pins) -> frozenset[date]:
    """The first and the last day of months that follow on each other, where a vendor's midnight lies within them: the rest of it is on another bill."""
    zone, found = ZoneInfo(project.policy.time_zone), set[date]()
    edges = ((months[0], "billing_start_s", months[0].first_day), (months[-1], "billing_end_s", months[-1].last_day))
    for month, column, day in edges:
        first, end = day_start(day, zone), day_start(day + DAY, zone)
        midnights = pc.unique(bill_lines(project, month, pins, columns=[column])[column]).to_pylist()
        if any(first < second < end for second in midnights):
            found.add(day)
    return frozenset(found)


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
