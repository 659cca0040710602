"""Answers of `POST /api/v2/query/timeseries` (API v2, 2026): series of groups over buckets.

The interval may be larger than the one asked for, so it is read from `times`; a null is a bucket without a measurement.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Any

from apportion.errors import InputError
from apportion.model.times import Interval

METRIC = re.compile(r"(?:[\w.]+\()*(?:\w+:)?([A-Za-z][\w.]*)\{")
ABSENT = frozenset({"", "N/A", "null"})
POINTS = 960  # of a series in one request; Datadog makes the interval larger beyond some 1,500
Tags = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Series:
    """One group of one query: what was measured in the bucket that begins at each second."""

    metric: str
    tags: Tags
    unit: str
    interval_s: int
    values: Mapping[int, Decimal]
    seconds: tuple[int, ...]  # all buckets, those without a value too


def requests(
    queries: Sequence[str], window: Interval, interval_s: int, source: str = "metrics"
) -> Iterator[dict[str, Any]]:
    """Bodies, one after the other in time: the endpoint has no pages. Buckets are whole, so that none is asked for twice."""
    start, end = window.start_s // interval_s * interval_s, -(-window.end_s // interval_s) * interval_s
    span = POINTS * interval_s
    names = [f"q{number}" for number in range(len(queries))]
    edges = sorted({start, end, *range(start // span * span + span, end, span)})
    for first, last in pairwise(edges):
        attributes = {
            "from": first * 1000,
            "to": last * 1000,
            "interval": interval_s * 1000,
            "queries": [{"data_source": source, "name": name, "query": query} for name, query in zip(names, queries, strict=True)],
            "formulas": [{"formula": name} for name in names],
        }  # fmt: skip
        yield {"data": {"type": "timeseries_request", "attributes": attributes}}


def series_of(request: Mapping[str, Any], answer: Mapping[str, Any], where: str) -> list[Series]:
    """Refused whole where its parts do not fit together: half an answer must not read as little usage."""
    try:
        asked = request["data"]["attributes"]
        told = answer["data"]["attributes"]
        seconds = tuple(int(at) // 1000 for at in told["times"])
        rows = list(zip(told["series"], told["values"], strict=True))
        interval = min((after - before for before, after in pairwise(seconds)), default=int(asked["interval"]) // 1000)
        return [one(asked, series, values, (seconds, interval)) for series, values in rows]
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise InputError(
            "bad-response",
            f"the answer is not one of /api/v2/query/timeseries: {type(error).__name__} {error}",
            where=where,
            hint="see url and site of the source",
        ) from error


def one(
    asked: Mapping[str, Any], series: Mapping[str, Any], values: Sequence[Any], times: tuple[tuple[int, ...], int]
) -> Series:
    seconds, interval = times
    query = asked["queries"][int(series.get("query_index") or 0)]["query"]
    found = METRIC.match(query)
    units = series.get("unit") or [None]
    unit = str(units[0]["name"]) if units[0] else ""
    points = {at: Decimal(value) for at, value in zip(seconds, values, strict=True) if value is not None}
    pairs = (str(tag).partition(":") for tag in series.get("group_tags") or [])
    tags = tuple(sorted((name, value) for name, _, value in pairs if value not in ABSENT))
    return Series(found[1] if found else query, tags, unit, interval, points, seconds)


def joined(parts: Sequence[Series]) -> list[Series]:
    """The series of several requests, each group of each metric once, in order."""
    found: dict[tuple[str, Tags, int], list[Series]] = {}
    for part in parts:
        found.setdefault((part.metric, part.tags, part.interval_s), []).append(part)
    whole = []
    for (metric, tags, interval), same in sorted(found.items()):
        values = {at: value for part in same for at, value in part.values.items()}
        seconds = tuple(sorted({at for part in same for at in part.seconds}))
        unit = next((part.unit for part in same if part.unit), "")
        whole.append(Series(metric, tags, unit, interval, values, seconds))
    return whole
