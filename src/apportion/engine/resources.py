"""What there is: the resources, the labels they carry, and the capacity that was paid for."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.nodes import Known, read_known
from apportion.model.meters import GPU
from apportion.model.rows import CAPACITY

SHARED = "gpu"  # the meter of boards that are handed out in parts


@dataclass(frozen=True, slots=True)
class Resources:
    """Every resource that usage or capacity names, sorted, with its labels: its own id as `node` and `resource`, and its capacity's."""

    labels: Mapping[str, Mapping[str, str]]
    shared: frozenset[str] = frozenset()  # of which some row holds a part of a GPU
    known: Known = field(default_factory=Known)  # by what a bill may mean them

    def carries(self, key: str) -> bool:
        """Whether any resource has this label: then selectors read it from resources, else from workloads."""
        return any(key in labels or any(name.endswith("." + key) for name in labels) for labels in self.labels.values())


def read_resources(usage: Any, capacity: pa.Table) -> Resources:
    used = usage.select("resource").distinct().to_pyarrow()["resource"].to_pylist()
    labels: dict[str, dict[str, str]] = {name: {} for name in used}
    for row in capacity.select(["resource", "labels"]).to_pylist():
        labels.setdefault(row["resource"], {}).update(row["labels"] or ())
    return Resources(
        {name: {"node": name, "resource": name} | labels[name] for name in sorted(labels)},
        shared_of(usage, capacity),
        read_known(labels, capacity),
    )


def shared_of(usage: Any, capacity: pa.Table) -> frozenset[str]:
    """Asked by resource only where there is any: one look at every row is all that the others pay."""
    if not pc.any(pc.equal(capacity["meter"], SHARED)).as_py():
        return frozenset()
    parts = usage.filter(usage.allocated % GPU != 0, usage.meter == SHARED)
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
