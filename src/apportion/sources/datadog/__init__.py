"""Datadog: GPU and other metrics as usage, or Cloud Cost as a reference, from the timeseries API or from saved answers."""

import json
import time
from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

from apportion.errors import ApportionError, InputError
from apportion.model.delivery import Delivery, FileDigest
from apportion.model.times import DAY_S, Interval
from apportion.sources.datadog.answers import Series, joined, requests, series_of
from apportion.sources.datadog.asking import asking
from apportion.sources.datadog.costs import cost_delivery, cost_query, whole_days
from apportion.sources.datadog.settings import How, how_of, server_of
from apportion.sources.datadog.usage import tables
from apportion.sources.files.paths import input_files
from apportion.sources.files.stream import Stream, corrupt
from apportion.sources.live import Live, Progress, Sign
from apportion.sources.settings import Stanza

STANZA = """\
[[sources]]
name = "datadog"
kind = "datadog"
site = "datadoghq.com"            # or datadoghq.eu, us3.datadoghq.com, ...
api_key = "env:DD_API_KEY"
app_key = "env:DD_APP_KEY"
# cluster = "train-1"             # where the tags do not name it
# filter = "kube_cluster_name:train-1"
# metrics = "dcgm"                # the older DCGM check, unless GPU Monitoring is on
# records = "costs"               # Cloud Cost, as a reference
"""


def read(settings: Mapping[str, Any], base: Path, window: Interval | None = None) -> Iterator[Delivery | Progress]:
    """One delivery, when everything of the window was read; in between, how far it is."""
    how, found = how_of(settings)
    if how.path:
        series, files = saved(how, base)
        yield from delivered(series, window or covered(series, how), how, files)
        return
    if window is None:
        raise InputError(
            "no-period", "Datadog is asked for a window, and none was given", where=how.where, hint="give a period"
        )
    asked = whole_days(window) if how.records == "costs" else window
    bodies = list(bodies_of(how, asked)) if asked.seconds > 0 else []
    parts: list[Series] = []
    if bodies:
        with asking(server_of(found), how.where) as ask:
            for number, body in enumerate(bodies):
                yield Progress(number, len(bodies))
                parts += series_of(body, ask(body), how.where)
        yield from delivered(joined(parts), asked, how, ())


def bodies_of(how: How, window: Interval) -> Iterator[dict[str, Any]]:
    if how.records == "costs":
        return requests([cost_query(how)], window, DAY_S, "cloud_cost")
    return requests([measure.query(how.filter, how.by) for measure in how.measures], window, how.interval_s)


def delivered(series: list[Series], window: Interval, how: How, files: tuple[FileDigest, ...]) -> Iterator[Delivery]:
    if how.records == "costs":
        days = whole_days(window)
        if days.seconds > 0:
            yield cost_delivery(series, days, how, files)
        return
    made, problems = tables(series, how)
    yield Delivery(how.source, window, made, problems, files)


def saved(how: How, base: Path) -> tuple[list[Series], tuple[FileDigest, ...]]:
    """Files of `{"request": ..., "response": ...}`, both as the API takes and gives them."""
    parts: list[Series] = []
    digests = []
    for file in input_files(how.path, base, ("json",), how.where):
        with Stream(file) as stream:
            data = stream.read_all()
            digest = stream.sha256
        try:
            found = json.loads(data, parse_float=Decimal)
            request, response = found["request"], found["response"]
        except (ValueError, RecursionError, KeyError, TypeError) as error:
            raise corrupt(
                file, f"it is no saved request with its response ({type(error).__name__}: {error})"
            ) from error
        own = series_of(request, response, file.name)
        parts += own
        digests.append(FileDigest(file.name, digest, sum(len(one.values) for one in own), str(len(own))))
    return joined(parts), tuple(digests)


def covered(series: list[Series], how: How) -> Interval:
    """Of saved answers: from their first bucket to the end of their last."""
    edges = [(one.seconds[0], one.seconds[-1] + one.interval_s) for one in series if one.seconds]
    if not edges:
        raise InputError("no-rows", "the saved answers hold no bucket", where=how.where, hint="see path of the source")
    return Interval(min(first for first, _ in edges), max(last for _, last in edges))


def probe(settings: Mapping[str, Any], base: Path) -> Iterator[Sign]:
    """Whether the keys are accepted, and which of the metrics say anything in the last hour of the saved or live data."""
    try:
        how, found = how_of(settings)
        series = saved(how, base)[0] if how.path else latest(how, found)
    except ApportionError as error:
        yield Sign("wrong", error.message, error.hint)
        return
    yield Sign("ok", f"{len(series)} series answer")
    seen = {one.metric for one in series if one.values}
    for measure in how.measures if how.records == "usage" else ():
        if measure.metric not in seen:
            yield Sign(
                "note",
                f"{measure.metric} ({measure.meter}, {measure.role}) says nothing",
                'see metrics = "gpu" or "dcgm", and filter',
            )


def latest(how: How, found: Stanza) -> list[Series]:
    """Probing is about now, so it looks at the clock."""
    now = int(time.time())
    span = 3 * DAY_S if how.records == "costs" else 3600
    bodies = list(islice(bodies_of(how, Interval(now - span, now)), 1))
    with asking(server_of(found), how.where) as ask:
        return [series for body in bodies for series in series_of(body, ask(body), how.where)]


SOURCE = Live(read=read, probe=probe, stanza=STANZA)
