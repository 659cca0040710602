"""What there is: the resources, the labels they carry, and the capacity that was paid for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.amounts import held_units
from apportion.engine.clusters import CLUSTER, DEFAULT, Place, Places, kinds_of_clusters, with_cluster
from apportion.engine.nodes import Known, read_known
from apportion.model.meters import GPU
from apportion.model.rows import CAPACITY
from apportion.policy.match import Selector, find_label
from apportion.policy.pools import Pool

SHARED = "gpu"  # the meter of boards that are handed out in parts


@dataclass(frozen=True, slots=True)
class Resources:
    """Every resource that usage or capacity names, sorted, with its labels: its plain name as `node`, its own text as `resource`, its `cluster`
    where one is stated, and its capacity's.
    """

    labels: Mapping[str, Mapping[str, str]]
    shared: frozenset[str] = frozenset()  # of which some row holds a part of a GPU
    known: Known = field(default_factory=Known)  # by what a bill may mean them
    places: Places = field(default_factory=dict)  # what each of them is

    def carries(self, key: str) -> bool:
        """Whether any resource has this label: then selectors read it from resources, else from workloads."""
        return any(key in labels or any(name.endswith("." + key) for name in labels) for labels in self.labels.values())

    def members(self, pools: Mapping[str, Pool]) -> dict[str, frozenset[str]]:
        """Of pools with a `usage`, the resources that it may mean by what resources say; asked only where clusters have names in common."""
        if not self.known.tells_clusters:
            return {}
        return {name: self.matching(pool.usage) for name, pool in pools.items() if pool.usage is not None}

    def matching(self, selector: Selector) -> frozenset[str]:
        keys = {key for key in selector.keys if self.carries(key)}
        own = Selector(
            tuple(condition for condition in selector.conditions if condition.key in keys),
            tuple(excluded for excluded in selector.excluded if excluded.keys <= keys),
        )
        return frozenset(name for name, labels in self.labels.items() if own.matches(labels))

    def meant(self, labels: Mapping[str, str]) -> set[str]:
        """The resources that a reservation's labels name. Of several clusters those of the one it says; where it says none, the default one's."""
        found: set[str] = set()
        for node in filter(None, (labels.get("node"), labels.get("resource"))):
            known = [holder.node for holder in self.known.called(node)] or [node]
            cluster = find_label(labels, CLUSTER) or DEFAULT
            found |= {node, *(key for key in known if len(known) == 1 or self.known.clusters[key] == cluster)}
        return found


def read_resources(usage: Any, capacity: pa.Table, places: Places) -> Resources:
    used = usage.select("resource").distinct().to_pyarrow()["resource"].to_pylist()
    labels = label_resources(used, capacity, places)
    return Resources(labels, shared_of(usage, capacity), read_known(labels, capacity, places), places)


def label_resources(used: Iterable[str], capacity: pa.Table, places: Places) -> dict[str, dict[str, str]]:
    """Of those that usage names and those that capacity describes, sorted."""
    said: dict[str, dict[str, str]] = {name: {} for name in used}
    for row in capacity.select(["resource", "labels"]).to_pylist():
        said.setdefault(row["resource"], {}).update(row["labels"] or ())
    kinds = kinds_of_clusters(said.values())
    found = {}
    for key in sorted(said):
        place = places.get(key) or Place(DEFAULT, key)
        own = {"node": place.node, "resource": key} | said[key]
        found[key] = with_cluster(own, place.cluster, kinds) if place.cluster else own
    return found


def shared_of(usage: Any, capacity: pa.Table) -> frozenset[str]:
    """Asked by resource only where there is any: one look at every row is all that the others pay."""
    if not pc.any(pc.equal(capacity["meter"], SHARED)).as_py():
        return frozenset()
    parts = usage.filter(held_units(usage) % GPU != 0, usage.meter == SHARED)
    if not parts.count().to_pyarrow().as_py():
        return frozenset()
    return frozenset(parts.select("resource").distinct().to_pyarrow()["resource"].to_pylist())


def capacity_rows(capacity: pa.Table, meters: Iterable[str]) -> list[dict[str, Any]]:
    """Capacity of some meters, without the labels."""
    if not len(capacity):
        return []
    columns = [name for name in CAPACITY.names if name != "labels"]
    wanted = set(meters)
    return [
        row for row in capacity.select(columns).to_pylist() if row["meter"] in wanted and row["end_s"] > row["start_s"]
    ]
