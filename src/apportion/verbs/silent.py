"""Days of a month that a source says nothing of: often a file that never came."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

import ibis

from apportion.model.findings import list_few
from apportion.model.times import Interval
from apportion.reports.words import counted
from apportion.verbs.due import day_span, month_days
from apportion.verbs.plan import Computed

MOST = 5
Spans = Sequence[tuple[date, Interval]]


def silent_days(computed: Computed) -> Iterator[str]:
    """By source of usage: on which days nothing of it ran and it told no capacity; of a source without any in the month, nothing."""
    zone = ZoneInfo(computed.world.policy.time_zone)
    spans = [(day, day_span(day, zone)) for day in month_days(computed.world.period)]
    usage = computed.world.usage
    if not hasattr(usage, "to_pyarrow"):
        usage = computed.plan.trace.setting.backend.lend(usage)
    ran, told = busy_days(usage, spans), busy_days(ibis.memtable(computed.world.capacity), spans)
    for source, days in sorted(ran.items()):
        missing = [day.isoformat() for day, _ in spans if day not in days | told.get(source, set())]
        if missing and len(missing) < len(spans):
            yield f"{source}: no row on {counted(len(missing), 'day')}: {list_few(missing, MOST)}"


def busy_days(rows: Any, spans: Spans) -> dict[str, set[date]]:
    """By source, the days that a row begins on or reaches into; in one pass, however many rows."""
    seen = {
        str(n): ((rows.start_s < span.end_s) & ((rows.start_s >= span.start_s) | (rows.end_s > span.start_s))).any()
        for n, (_, span) in enumerate(spans)
    }
    found = rows.group_by("source").aggregate(**seen).to_pyarrow().to_pylist()
    return {row["source"]: {day for n, (day, _) in enumerate(spans) if row[str(n)]} for row in found}
