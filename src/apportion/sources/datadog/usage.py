"""Series to usage: each value holds for its bucket; power becomes energy; gaps that are short are bridged, and all are listed."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pyarrow as pa

from apportion.errors import Problem
from apportion.model.meters import METERS
from apportion.model.rows import USAGE, WORKLOADS
from apportion.model.times import Interval, instant_text
from apportion.sources.datadog.answers import Series
from apportion.sources.datadog.groups import Group, group_of
from apportion.sources.datadog.metrics import Measure
from apportion.sources.datadog.settings import How

Row = dict[str, Any]
Levels = dict[tuple[int, int], int]  # of buckets: first second and length, to base units


@dataclass
class Meter:
    """What one group holds and uses of one meter."""

    held: Levels = field(default_factory=dict)
    used: Levels = field(default_factory=dict)


def tables(series: Sequence[Series], how: How) -> tuple[dict[str, pa.Table], tuple[Problem, ...]]:
    problems: list[Problem] = []
    found: dict[tuple[Group, str], Meter] = defaultdict(Meter)
    for one in series:
        measure = how.measure(one.metric)
        scale = measure.scale(one.unit) if measure else None
        if measure is None or scale is None:
            why = f"its unit {one.unit!r} is not known" if measure else "the stanza does not say what it measures"
            problems.append(Problem(how.where, "unknown-metric", f"{one.metric} is left out: {why}"))
            continue
        group = group_of(one.tags, how.cluster)
        if measure.role == "held" and not group.kind:
            continue  # a board that no pod or job has is nobody's
        levels, gaps = bridged(one, how.bridge_s)
        problems += (gap_problem(one, group, gap, how) for gap in gaps)
        add(getattr(found[group, measure.meter], measure.role), levels, measure, scale, one)
    usage = [row for (group, meter), both in found.items() for row in rows(group, meter, both, how)]
    return {
        "usage": pa.Table.from_pylist(
            sorted(usage, key=lambda row: (row["workload"], row["meter"], row["start_s"])), USAGE
        ),
        "workloads": pa.Table.from_pylist(list(workloads(usage, [group for group, _ in found], how)), WORKLOADS),
    }, tuple(dict.fromkeys(problems))


def add(
    into: Levels, levels: Mapping[tuple[int, int], Fraction], measure: Measure, scale: Fraction, series: Series
) -> None:
    """Levels are rounded to base units; of a rate (watts) the amount is what it makes in its bucket."""
    flow = METERS[measure.meter].flow and not measure.is_amount(series.unit)
    for (at, length), value in levels.items():
        amount = round(max(Fraction(0), value) * scale * (length if flow else 1))
        into[at, length] = into.get((at, length), 0) + amount


def bridged(series: Series, bridge_s: int) -> tuple[dict[tuple[int, int], Fraction], list[tuple[Interval, bool]]]:
    """Values by bucket, short gaps filled with the value before; and the gaps, with whether they were filled."""
    length = series.interval_s
    found = {(at, length): Fraction(value) for at, value in series.values.items()}
    gaps = []
    for before, after in pairwise(sorted(series.values)):
        gap = Interval(before + length, after)
        if gap.seconds <= 0:
            continue
        filled = gap.seconds <= bridge_s
        gaps.append((gap, filled))
        if filled:
            found |= {(at, length): Fraction(series.values[before]) for at in range(gap.start_s, gap.end_s, length)}
    return found, gaps


def gap_problem(series: Series, group: Group, gap: tuple[Interval, bool], how: How) -> Problem:
    span, filled = gap
    what = "held at the value before" if filled else "not counted"
    text = f"{series.metric} of {group.workload} is missing from {instant_text(span.start_s)} to {instant_text(span.end_s)}: {what}"
    return Problem(how.where, "estimated" if filled else "not-measured", text)


def rows(group: Group, meter: str, both: Meter, how: How) -> Iterator[Row]:
    """A row for each bucket, equal ones that follow each other as one. Without a held amount, what is held is somebody else's to say."""
    before: Row | None = None
    for at, length in sorted({*both.held, *both.used}):
        held, used = both.held.get((at, length)), both.used.get((at, length))
        row = {
            "source": how.source,
            "workload": group.workload,
            "meter": meter,
            "resource": group.resource,
            "start_s": at,
            "end_s": at + length,
            "allocated": (used if METERS[meter].flow else 0) if held is None else held,
            "used": used,
            "cluster": group.cluster,
        }
        if before and not METERS[meter].flow and follows(before, row):
            before["end_s"] = row["end_s"]
            continue
        if before:
            yield before
        before = row
    if before:
        yield before


def follows(before: Row, row: Row) -> bool:
    return before["end_s"] == row["start_s"] and all(before[name] == row[name] for name in ("allocated", "used"))


def workloads(usage: Sequence[Row], groups: Sequence[Group], how: How) -> Iterator[Row]:
    spans: dict[str, tuple[int, int]] = {}
    for row in usage:
        start, end = spans.get(row["workload"], (row["start_s"], row["end_s"]))
        spans[row["workload"]] = (min(start, row["start_s"]), max(end, row["end_s"]))
    for group in sorted({group.workload: group for group in groups}.values(), key=lambda one: one.workload):
        if group.workload in spans:
            start, end = spans[group.workload]
            yield {
                "source": how.source,
                "workload": group.workload,
                "run": group.workload,
                "name": group.name or None,
                "start_s": start,
                "end_s": end,
                "outcome": "running",
                "labels": list(group.labels),
            }
