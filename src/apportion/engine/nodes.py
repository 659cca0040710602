"""What nodes are called: every key by which a bill may mean a node of the cluster, and when the node had it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.clusters import DEFAULT, Place, Places
from apportion.engine.labels import keys_of, label_column
from apportion.engine.spellings import address_key, host_key, instance_key, provider_key
from apportion.model.times import Interval

PROVIDER, INSTANCE, ADDRESS, HOST = KINDS = ("provider id", "instance id", "ip", "hostname")
# What capacity says of a node, by the endings of its labels: `k8s.provider_id` is one. Several values stand with commas between them.
TELLING = {
    "provider_id": ((PROVIDER, provider_key), (INSTANCE, instance_key)),
    "instance_id": ((INSTANCE, instance_key),),
    "instance_number": ((INSTANCE, instance_key),),
    "ip": ((ADDRESS, address_key),),
    "hostname": ((HOST, host_key), (ADDRESS, address_key)),
}
MACHINES = ("provider_id", "instance_id")  # of these a machine has one of each
OF_ITS_NAME = ((HOST, host_key), (ADDRESS, address_key))


@dataclass(frozen=True, slots=True)
class Holder:
    """A node that had a key while `span` lasted (None: nobody says when). `was_replaced`: its name went on to another machine, or came from one."""

    node: str
    span: Interval | None = None
    was_replaced: bool = False

    def lived_in(self, span: Interval) -> bool:
        return self.span is None or (self.span.start_s < span.end_s and span.start_s < self.span.end_s)


@dataclass(frozen=True, slots=True)
class Known:
    """Resources by what they are called (`name`, `cluster/name`), by kind and key the nodes that had it, and the cluster of each."""

    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    holders: Mapping[tuple[str, str], tuple[Holder, ...]] = field(default_factory=dict)
    clusters: Mapping[str, str] = field(default_factory=dict)
    members: frozenset[str] | None = None  # nodes that the lines' pool counts; None: nobody says
    stated: frozenset[str] = frozenset()  # clusters that some node states, without regard to case

    @property
    def tells_clusters(self) -> bool:
        """Whether nodes are of several clusters."""
        return len(set(self.clusters.values())) > 1

    def called(self, name: str) -> tuple[Holder, ...]:
        """Nodes of that very name."""
        return tuple(Holder(node) for node in self.names.get(name, ()))

    def within(self, holders: tuple[Holder, ...], clusters: Iterable[str]) -> tuple[Holder, ...]:
        """Of nodes of several clusters those of the clusters that a line names, where it names any of theirs; of these those that its pool counts.

        Where the pool counts none, the money stays outside of it, whichever of them it is: the first.
        """
        if len({self.clusters.get(holder.node, "") for holder in holders}) < 2:
            return holders
        wanted = {cluster.casefold() for cluster in clusters}
        mine = tuple(holder for holder in holders if self.clusters.get(holder.node, "").casefold() in wanted) or holders
        if self.members is None or len(mine) < 2:
            return mine
        return tuple(holder for holder in mine if holder.node in self.members) or mine[:1]

    def elsewhere(self, holders: tuple[Holder, ...], clusters: Iterable[str]) -> str:
        """The cluster that a line names, where these nodes are all of others. One of no stated cluster may be of any."""
        named = [cluster for cluster in clusters if cluster.casefold() in self.stated]
        own = {self.clusters.get(holder.node, "").casefold() for holder in holders}
        apart = holders and "" not in own and own.isdisjoint(cluster.casefold() for cluster in named)
        return named[0] if named and apart else ""

    def of(self, kind: str, keys: Iterable[str]) -> tuple[Holder, ...]:
        """Each node once."""
        found: dict[str, Holder] = {}
        for key in keys:
            for holder in self.holders.get((kind, key), ()):
                found.setdefault(holder.node, holder)
        return tuple(found.values())


Machine = tuple[str, str, Interval]  # label, key and when it was said
Spans = dict[tuple[str, str, str], Interval | None]  # by kind, key and node


def read_known(resources: Iterable[str], capacity: pa.Table, places: Places) -> Known:
    """Of the resources that usage or capacity name."""
    of = {key: places.get(key) or Place(DEFAULT, key) for key in sorted(resources)}
    of = {key: place for key, place in of.items() if place.node}
    lives = dict(spans_of(capacity, capacity["resource"]))
    spans: Spans = {}
    names: dict[str, set[str]] = defaultdict(set)
    for key, place in of.items():
        for name in (key, place.node, *([f"{place.cluster}/{place.node}"] if place.cluster else ())):
            names[name].add(key)
        for kind, key_of in OF_ITS_NAME:
            widen(spans, (kind, key_of(place.node), key), lives.get((key, key)))
    machines: dict[str, set[Machine]] = defaultdict(set)
    for label, node, text, span in told(capacity):
        for kind, key_of in TELLING[label]:
            widen(spans, (kind, key_of(text), node), span)
        if label in MACHINES:
            machines[node].add((label, instance_key(text), span))
    replaced = {node for node, ids in machines.items() if any(differ(*pair) for pair in combinations(ids, 2))}
    holders: dict[tuple[str, str], list[Holder]] = defaultdict(list)
    for kind, key, node in sorted(spans):
        own = kind in (PROVIDER, INSTANCE) and node in replaced
        holders[kind, key].append(Holder(node, spans[kind, key, node], own))
    return Known(
        {name: tuple(sorted(keys)) for name, keys in names.items()},
        {place: tuple(found) for place, found in holders.items()},
        {key: place.cluster for key, place in of.items()},
        stated=frozenset(place.cluster.casefold() for place in of.values() if place.cluster),
    )


def node_names(capacity: pa.Table) -> frozenset[str]:
    """Every name that capacity has for a node: its own, and the ids of its machines."""
    machines = {instance_key(text) for label, _, text, _ in told(capacity) if label in MACHINES}
    return frozenset({*pc.unique(capacity["resource"]).to_pylist(), *machines} - {"", None})


def told(capacity: pa.Table) -> Iterator[tuple[str, str, str, Interval]]:
    """Label, node, value and when it was said."""
    labels = keys_of(capacity["labels"])
    for label in TELLING:
        for (node, value), span in spans_of(capacity, label_column(capacity["labels"], labels, label)):
            yield from ((label, node, text, span) for text in value.split(","))


def differ(one: Machine, two: Machine) -> bool:
    """Two machines, not two names of one: the same label says so, or they lived one after the other."""
    apart = one[2].end_s <= two[2].start_s or two[2].end_s <= one[2].start_s
    return bool(one[1] and two[1]) and one[1] != two[1] and (apart or one[0] == two[0])


def spans_of(capacity: pa.Table, values: pa.ChunkedArray | None) -> Iterator[tuple[tuple[str, str], Interval]]:
    """From the first to the last second in which capacity says each value of each resource."""
    if values is None or not len(capacity):
        return
    said = pa.table({"node": capacity["resource"], "value": values} | {n: capacity[n] for n in ("start_s", "end_s")})
    said = said.filter(pc.is_valid(said["value"]))
    found = said.group_by(["node", "value"], use_threads=False).aggregate([("start_s", "min"), ("end_s", "max")])
    for row in found.to_pylist():
        yield (row["node"], row["value"]), Interval(row["start_s_min"], row["end_s_max"])


def widen(spans: Spans, place: tuple[str, str, str], span: Interval | None) -> None:
    """No key is no name; what is said twice lasted from the first to the last."""
    before = spans.get(place)
    if not place[1]:
        return
    if before is not None and span is not None:
        span = Interval(min(before.start_s, span.start_s), max(before.end_s, span.end_s))
    spans[place] = span or before
