"""Reports to deliveries: usage and workloads of who holds what, capacity of the volumes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import pyarrow as pa

from apportion.errors import InputError, Problem
from apportion.model.delivery import Delivery
from apportion.model.rows import CAPACITY as CAPACITY_ROWS
from apportion.model.rows import USAGE, WORKLOADS
from apportion.model.times import Interval, instant_text, months
from apportion.sources.storage.held import CAPACITY, Held, Key, View, holding, sampled, silences
from apportion.sources.storage.reading import Read, one_view
from apportion.sources.storage.settings import How

LONGEST_MONTHS = 120
METER = "storage"
Row = dict[str, Any]


@dataclass
class Rows:
    usage: list[Row] = field(default_factory=list)
    workloads: list[Row] = field(default_factory=list)
    capacity: list[Row] = field(default_factory=list)
    problems: list[tuple[int, Problem]] = field(default_factory=list)


def deliveries(read: Read, how: How, asked: Interval | None) -> Iterator[Delivery]:
    """One for the window asked for, else one for each month in which there is a report."""
    one_view(read.reports, how)
    rows = all_rows(read, how)
    if (
        asked
        and how.command
        and not any(holds(asked, Interval(one.at_s, one.at_s + how.patience.bridge_s)) for one in read.reports)
    ):
        text = f"no report was kept of the time from {instant_text(asked.start_s)} to {instant_text(asked.end_s)}"
        rows.problems.append((asked.start_s, Problem(how.where, "not-measured", text)))
    for window in [asked] if asked else month_windows(read, how):
        tables = {
            "usage": pa.Table.from_pylist(cut(rows.usage, window), USAGE),
            "workloads": pa.Table.from_pylist(within(rows.workloads, window), WORKLOADS),
            "capacity": pa.Table.from_pylist(cut(rows.capacity, window), CAPACITY_ROWS),
        }
        reach = Interval(
            window.start_s - how.patience.bridge_s, window.end_s
        )  # what an earlier report says may hold in it
        problems = [
            problem for at_s, problem in (*read.problems, *rows.problems) if holds(window, Interval(at_s, at_s))
        ]
        files = [digest for span, digest in read.files if holds(reach, span)]
        yield Delivery(how.source, window, tables, tuple(problems), tuple(files))


def holds(window: Interval, span: Interval) -> bool:
    return span.start_s < window.end_s and span.end_s >= window.start_s


def all_rows(read: Read, how: How) -> Rows:
    rows = Rows()
    for view, samples in sorted(sampled(read.reports).items()):
        rows.problems += silences(view, samples, how.patience)
        for key, spans in holding(samples, how.patience):
            if view[1] == CAPACITY:
                rows.capacity += [capacity_row(view[0], span, how) for span in spans]
            else:
                rows.usage += [usage_row(view, key, span, how) for span in spans]
                rows.workloads.append(workload_row(view, key, spans, how))
    return rows


def usage_row(view: View, key: Key, span: Held, how: How) -> Row:
    level = span.level
    held = level.used if how.held == "used" or level.quota is None else max(level.used, level.quota)
    return {
        "source": how.source,
        "workload": workload_id(view, key),
        "meter": METER,
        "resource": "/".join(part for part in ("storage", view[0], key[1]) if part),
        "start_s": span.start_s,
        "end_s": span.end_s,
        "allocated": held,
        "used": level.used,
    }


def workload_id(view: View, key: Key) -> str:
    volume, kind = view
    name, tier = key
    return f"storage/{volume}/{kind}/{name}" + (f"@{tier}" if tier else "")


def workload_row(view: View, key: Key, spans: Sequence[Held], how: How) -> Row:
    volume, kind = view
    name, tier = key
    labels = {"storage.volume": volume, f"storage.{kind}": name} | ({"storage.class": tier} if tier else {})
    found = workload_id(view, key)
    return {
        "source": how.source,
        "workload": found,
        "run": found,
        "name": name,
        "start_s": spans[0].start_s,
        "end_s": spans[-1].end_s,
        "outcome": "running" if spans[-1].last else "completed",
        "labels": sorted(labels.items()),
    }


def capacity_row(volume: str, span: Held, how: How) -> Row:
    return {
        "source": how.source,
        "resource": f"storage/{volume}",
        "meter": METER,
        "start_s": span.start_s,
        "end_s": span.end_s,
        "amount": span.level.used,
        "state": "up",
        "labels": [("storage.volume", volume)],
    }


def within(rows: Sequence[Row], window: Interval) -> list[Row]:
    return [row for row in rows if row["start_s"] < window.end_s and row["end_s"] > window.start_s]


def cut(rows: Sequence[Row], window: Interval) -> list[Row]:
    """As the books would, so that a report of a later month leaves this one's delivery as it was."""
    return [
        {**row, "start_s": max(row["start_s"], window.start_s), "end_s": min(row["end_s"], window.end_s)}
        for row in within(rows, window)
    ]


def month_windows(read: Read, how: How) -> list[Interval]:
    times = [report.at_s for report in read.reports]
    if not times:
        raise InputError(
            "no-rows",
            "the reports list nothing that could be taken",
            where=how.where,
            hint="see the lines that were left out",
        )
    found = list(islice(months(Interval(min(times), max(times) + 1), how.zone), LONGEST_MONTHS + 1))
    if len(found) > LONGEST_MONTHS:
        raise InputError(
            "window-too-wide",
            f"the reports are of more than {LONGEST_MONTHS} months",
            where=how.where,
            hint="correct the stray date in a file's name",
        )
    return found
