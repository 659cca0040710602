"""Spans to usage: a row for each workload, node and hour (UTC). Whole joules that add up to each board's counter, and the boards' use.

Energy is counted in joules: an hour of a board has as many as its counter passed whole joules, divided among the workloads by
largest remainder of their millijoules. So neither hours nor workloads lose or gain one.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import pyarrow as pa

from apportion.model.meters import GPU
from apportion.model.rows import ADDED_LATER, USAGE, WORKLOADS, complete_columns
from apportion.sources.agent.batches import Found, Part, Span
from apportion.sources.agent.owners import NO_CLUSTER
from apportion.sources.agent.split import apportioned

HOUR_MS = 3_600_000
SECOND_US = 10**6


@dataclass(slots=True)
class Stay:
    """One workload on one node in one hour, over all boards."""

    millijoules: int = 0
    busy_us: int | None = None
    start_ms: int = 2**62
    end_ms: int = 0

    def add(self, part: Part) -> None:
        self.millijoules += part.millijoules
        if part.busy_us is not None:
            self.busy_us = (self.busy_us or 0) + part.busy_us
        self.start_ms, self.end_ms = min(self.start_ms, part.start_ms), max(self.end_ms, part.end_ms)


@dataclass(slots=True)
class Hour:
    joules: int = 0
    stays: defaultdict[str, Stay] = field(default_factory=lambda: defaultdict(Stay))


Hours = dict[tuple[str, int], Hour]  # by node and number of the hour


def add_spans(hours: Hours, spans: Iterable[Span]) -> None:
    for span in spans:
        counted = span.from_mj
        pieces = sorted(
            ((piece.start_ms // HOUR_MS, piece) for part in span.parts for piece in cut(part)),
            key=lambda found: found[0],
        )
        for number, piece in pieces:
            hour = hours.setdefault((span.node, number), Hour())
            hour.joules += (counted + piece.millijoules) // 1000 - counted // 1000
            counted += piece.millijoules
            hour.stays[piece.workload].add(piece)


def cut(part: Part) -> Iterator[Part]:
    """At full hours; each piece gets what has passed by its end less what had by its start, so that they add up."""
    first, length = part.start_ms, part.end_ms - part.start_ms
    if part.start_ms // HOUR_MS == (part.end_ms - 1) // HOUR_MS:
        yield part
        return
    edges = [first, *range((first // HOUR_MS + 1) * HOUR_MS, part.end_ms, HOUR_MS), part.end_ms]
    for start, end in pairwise(edges):

        def share(total: int, start: int = start, end: int = end) -> int:
            return total * (end - first) // length - total * (start - first) // length

        busy = None if part.busy_us is None else share(part.busy_us)
        yield Part(part.workload, share(part.millijoules), busy, start, end)


def usage_table(hours: Hours, found: Found, source: str) -> pa.Table:
    rows: list[tuple[object, ...]] = []
    for (node, _), hour in sorted(hours.items()):
        names = sorted(hour.stays)
        weights = [hour.stays[name].millijoules for name in names]
        joules = apportioned(hour.joules, weights) if sum(weights) else [0] * len(names)
        for name, mine in zip(names, joules, strict=True):
            stay = hour.stays[name]
            when = (stay.start_ms // 1000, max(-(-stay.end_ms // 1000), stay.start_ms // 1000 + 1))
            if mine:
                rows.append((source, name, "energy", node, *when, mine, None, cluster_of(name, found)))
            if stay.busy_us is not None and not name.rpartition("/")[2].startswith("_"):
                seconds = when[1] - when[0]
                used = (2 * stay.busy_us * GPU + seconds * SECOND_US) // (2 * seconds * SECOND_US)
                rows.append((source, name, "gpu", node, *when, 0, used, cluster_of(name, found)))
    return table(rows, USAGE)


def cluster_of(workload: str, found: Found) -> str | None:
    """As its labels say; the name of a cluster that nobody named is none."""
    owner = found.owners.get(workload)
    named = dict(owner[0].labels) if owner else {}
    cluster = named.get("slurm.cluster") or named.get("k8s.cluster")
    return None if cluster == NO_CLUSTER else cluster


def workload_table(hours: Hours, found: Found, source: str) -> pa.Table:
    """The agent knows who it was and when, not how it ended: `completed` gives way to what a scheduler says."""
    ends: dict[str, int] = defaultdict(int)
    for hour in hours.values():
        for name, stay in hour.stays.items():
            ends[name] = max(ends[name], -(-stay.end_ms // 1000))
    rows = []
    for name, end in sorted(ends.items()):
        owner, started = found.owners[name]
        labels = dict(owner.labels) | ({"gpu.model": found.models[name]} if name in found.models else {})
        rows.append((source, name, name, None, min(started, end), end, "completed", sorted(labels.items())))
    return table(rows, WORKLOADS)


def table(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    fields = [field for field in schema if field.name not in ADDED_LATER or field.name == "cluster"]
    columns = list(zip(*rows, strict=True)) or [()] * len(fields)
    made = {field.name: pa.array(cells, field.type) for cells, field in zip(columns, fields, strict=True)}
    return complete_columns(pa.table(made), schema).cast(schema)
