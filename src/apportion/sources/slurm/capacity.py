"""Capacity over time: what nodes have, from when to when they were part of the cluster, and when they were down, drained or in maintenance.

Downtime comes from the events themselves. sreport's own figure is wrong by orders of magnitude where a reservation lies in the same hour as an outage.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from zoneinfo import ZoneInfo

import pyarrow as pa

from apportion.model.meters import METERS
from apportion.model.rows import ADDED_LATER, CAPACITY, complete_columns
from apportion.model.times import Interval, instant_text
from apportion.sources.slurm.faults import Faults
from apportion.sources.slurm.hostlists import nodes_of
from apportion.sources.slurm.nodes import Node
from apportion.sources.slurm.settings import How
from apportion.sources.slurm.tables import instant, rows_of
from apportion.sources.slurm.tres import Tres, tres_of

FOREVER = 2**62
WORST = ("up", "starting", "drained", "down")


@dataclass(frozen=True, slots=True)
class Event:
    """A node out of service, or (without a node) what the cluster was made of."""

    cluster: str
    node: str
    members: tuple[str, ...]
    span: Interval
    state: str
    has: Tres


def events_of(text: str, zone: ZoneInfo) -> list[Event]:
    """`sacctmgr -P show event format=Cluster,ClusterNodes,NodeName,Start,End,State,TRES,Reason`."""
    found = []
    for row in rows_of(text, "reason"):
        start = instant(row.get("timestart", row.get("start", "")), zone)
        end = instant(row.get("timeend", row.get("end", "")), zone)
        if start is None:
            continue
        members = nodes_of(row.get("clusternodes", ""))
        span = Interval(start, FOREVER if end is None else end)
        found.append(
            Event(
                row.get("cluster", ""),
                row.get("nodename", ""),
                members,
                span,
                state_of(row.get("state", "")),
                tres_of(row.get("tres", "")),
            )
        )
    return found


def state_of(word: str) -> str:
    """In our words; a node that answers and takes jobs has no event."""
    flags = word.upper()
    if any(flag in flags for flag in ("DOWN", "FAIL", "ERROR", "NO_RESPOND", "NOT_RESPONDING", "UNKNOWN")):
        return "down"
    if any(flag in flags for flag in ("POWERING_UP", "BOOT", "REBOOT")):
        return "starting"
    return "drained" if any(flag in flags for flag in ("DRAIN", "MAINT", "DRNG", "BLOCKED")) else "up"


@dataclass(frozen=True, slots=True)
class Offered:
    """What the capacity of a window is made from. `maintained` are spans in which nodes are set aside for maintenance."""

    nodes: Mapping[str, Node]
    events: Sequence[Event]
    maintained: Sequence[tuple[str, Interval]]
    window: Interval
    cluster: str


def capacity(offered: Offered, how: How, faults: Faults) -> pa.Table:
    """One row for each node, meter and stretch of one state."""
    registered = [event for event in offered.events if event.members]
    nodes = {**known_by_events(offered.events), **offered.nodes}
    members = {name for event in registered for name in event.members}
    unknown = sorted(members - set(nodes))
    if unknown:
        faults.note(
            "unknown-capacity",
            f"nothing says what {len(unknown)} nodes have ({', '.join(unknown[:3])}...); save the output of scontrol show node too",
        )
    compare(registered, nodes, offered.window, faults)
    rows: list[tuple[object, ...]] = []
    for name in sorted(nodes):
        spans = [event.span for event in registered if name in event.members] if registered else [offered.window]
        for span in joined(spans, offered.window):
            for part, state in stretches(name, span, offered):
                rows += rows_for(nodes[name], part, state, offered.cluster, how)
    rows += licence_rows(registered, offered, how)
    names = [name for name in CAPACITY.names if name not in ADDED_LATER]
    made = pa.table(
        {name: pa.array([row[place] for row in rows], CAPACITY.field(name).type) for place, name in enumerate(names)}
    )
    clusters = pa.array([offered.cluster or None] * len(rows), pa.string())
    return complete_columns(made.append_column("cluster", clusters), CAPACITY).cast(CAPACITY)


def compare(registered: Iterable[Event], nodes: Mapping[str, Node], window: Interval, faults: Faults) -> None:
    """Nodes are known as they are now. What the cluster had in all was written down at the time: where that differs, it is said."""
    for event in registered:
        now = sum((nodes[name].has.boards for name in event.members if name in nodes), Fraction(0))
        if event.has.boards and event.has.boards != now and event.span.clip(window).seconds > 0:
            faults.note(
                "capacity-differs",
                f"from {instant_text(event.span.start_s)} on the cluster had {event.has.boards} GPUs; its nodes as they are now have {now}, which is taken",
            )


def known_by_events(events: Iterable[Event]) -> dict[str, Node]:
    """A node that is gone by now is known from its own events."""
    return {event.node: Node(event.node, event.has) for event in events if event.node and event.has.cpus}


def joined(spans: Iterable[Interval], window: Interval) -> list[Interval]:
    """Spans inside the window, those that touch as one."""
    found: list[Interval] = []
    for span in sorted(one.clip(window) for one in spans):
        if span.seconds <= 0:
            continue
        if found and span.start_s <= found[-1].end_s:
            found[-1] = Interval(found[-1].start_s, max(found[-1].end_s, span.end_s))
        else:
            found.append(span)
    return found


def stretches(name: str, span: Interval, offered: Offered) -> list[tuple[Interval, str]]:
    """The span cut where the node's state changes; of several states at once the worst counts."""
    spans = [(event.span.clip(span), event.state) for event in offered.events if event.node == name]
    spans += [(kept.clip(span), "drained") for own, kept in offered.maintained if own == name]
    edges = sorted({span.start_s, span.end_s, *(edge for one, _ in spans for edge in (one.start_s, one.end_s))})
    found: list[tuple[Interval, str]] = []
    for start, end in pairwise(edges):
        states = [state for one, state in spans if one.start_s <= start and end <= one.end_s]
        state = max(["up", *states], key=WORST.index)
        if found and found[-1][1] == state:
            found[-1] = (Interval(found[-1][0].start_s, end), state)
        else:
            found.append((Interval(start, end), state))
    return found


def rows_for(node: Node, span: Interval, state: str, cluster: str, how: How) -> list[tuple[object, ...]]:
    labels = list(labels_of(node, cluster).items())
    return [
        (how.source, node.name, meter, span.start_s, span.end_s, amount, state, labels)
        for meter, amount in amounts_of(node).items()
        if amount
    ]


def labels_of(node: Node, cluster: str) -> dict[str, str]:
    labels = {"slurm.cluster": cluster, "slurm.partition": ",".join(node.partitions), "gpu.model": node.model}
    return {name: value for name, value in labels.items() if value} | dict(node.machine)


def amounts_of(node: Node) -> dict[str, int]:
    return {
        "gpu": round(node.has.boards * METERS["gpu"].base),
        "cpu": round(node.has.cpus * METERS["cpu"].base),
        "memory": node.has.memory,
        "node": 1,
    }


def licence_rows(registered: Iterable[Event], offered: Offered, how: How) -> list[tuple[object, ...]]:
    labels = [("slurm.cluster", offered.cluster)]
    return [
        (how.source, f"licence/{name}", "licence", span.start_s, span.end_s, count, "up", labels)
        for event in registered
        for name, count in event.has.licences
        if (span := event.span.clip(offered.window)).seconds > 0
    ]
