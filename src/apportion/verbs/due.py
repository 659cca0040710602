"""Which windows of a live source are due: what the books do not have since its first day, and a little before the end once more for late data."""

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from apportion.errors import ApportionError, ProjectError
from apportion.model.times import Interval, Period, day_start, instant_text
from apportion.sources.live import Live, is_asked
from apportion.sources.registry import source_named
from apportion.verbs.project import Project
from apportion.verbs.settings import Source

MINUTE_S, HOUR_S = 60, 3600
LONGEST_OVERLAP_H = 24 * 366


def due_windows(project: Project, source: Source, live: Live, asked: Interval | None) -> list[Interval]:
    """Steps to read, oldest first. What was asked for is read whether the books have it or not."""
    until = ended(live, now_s())
    if asked is not None:
        return steps(Interval(min(asked.start_s, until), min(asked.end_s, until)), live.step_s)
    return [
        step
        for hole in holes(delivered(project, source), since_s(source), until, overlap_s(source, live))
        for step in steps(hole, live.step_s)
    ]


def now_s() -> int:
    """To the minute, so that two runs in a row do not ask for seconds."""
    return int(time.time()) // MINUTE_S * MINUTE_S


def ended(live: Live, now: int) -> int:
    return now // live.step_s * live.step_s if live.whole_steps else now


def delivered(project: Project, source: Source) -> list[Interval]:
    rows = project.books.deliveries()
    return [Interval(row["start_s"], row["end_s"]) for row in rows if row["source"] == source.name]


def reached(windows: Iterable[Interval]) -> int | None:
    """The end of the latest window in the books."""
    return max((window.end_s for window in windows), default=None)


def holes(windows: Sequence[Interval], since: int, until: int, overlap: int) -> list[Interval]:
    """What of `[since, until)` no window covers; the last one begins `overlap` seconds before the latest window's end."""
    missing, at = [], since
    for window in sorted(windows):
        if window.start_s > at:
            missing.append(Interval(at, min(window.start_s, until)))
        at = max(at, window.end_s)
        if at >= until:
            break
    found = [hole for hole in missing if hole.seconds > 0]
    if at >= until:
        return found
    return [*found, Interval(max(since, at - overlap) if windows else at, until)]


def steps(window: Interval, step_s: int) -> list[Interval]:
    """Cut at multiples of the step."""
    edges = [window.start_s, *range(window.start_s // step_s * step_s + step_s, window.end_s, step_s), window.end_s]
    return [Interval(start, end) for start, end in pairwise(edges) if end > start]


def since_s(source: Source) -> int:
    """The stanza's `since`, else the first day of last month."""
    given = source.settings.get("since")
    if given is None:
        today = datetime.fromtimestamp(now_s(), tz=UTC).date()
        given = Period(today.year, today.month).previous.first_day
    if isinstance(given, str):
        with suppress(ValueError):
            given = date.fromisoformat(given)
    if isinstance(given, datetime) or not isinstance(given, date):
        raise ProjectError(
            "invalid-setting",
            f"since must be a day, not {given!r}",
            where=source.where,
            hint='such as since = "2026-10-01"',
        )
    return day_start(given, ZoneInfo("UTC"))


def overlap_s(source: Source, live: Live) -> int:
    hours = source.settings.get("overlap_hours")
    if hours is None:
        return live.overlap_s
    if isinstance(hours, bool) or not isinstance(hours, int) or not 0 <= hours <= LONGEST_OVERLAP_H:
        raise ProjectError(
            "invalid-setting", f"overlap_hours must be a whole number from 0 to {LONGEST_OVERLAP_H}", where=source.where
        )
    return hours * HOUR_S


def shown(window: Interval) -> str:
    return f"{instant_text(window.start_s)[:16]} to {instant_text(window.end_s)[:16]}"


def month_days(period: Period) -> list[date]:
    count = (period.next.first_day - period.first_day).days
    return [period.first_day + timedelta(days=n) for n in range(count)]


def day_span(day: date, zone: ZoneInfo) -> Interval:
    return Interval(day_start(day, zone), day_start(day + timedelta(days=1), zone))


def is_live(source: Source) -> bool:
    try:
        return is_asked(source_named(source.kind, source.where), source.settings)
    except ApportionError:  # a plug-in that is gone; what it brought is still there
        return False
