"""Of whom and of what rows speak: workloads with their labels, resources with their clusters."""

from collections.abc import Mapping
from typing import Any

from tests.property.worlds import World

Row = Mapping[str, Any]
Labels = dict[str, str]
Resource = tuple[str, str]  # cluster and name
DEFAULT = ""


class Workloads:
    """A workload is an id and a set of labels: each set owns the rows that name it."""

    def __init__(self, world: World) -> None:
        self.rows = world.workloads
        self.seen: dict[tuple[str, str | None], Labels] = {}

    def labels(self, usage: Row) -> Labels:
        """Those of the workload that a usage row belongs to, with its outcome and name; none where nobody describes it."""
        key = (usage["workload"], usage.get("label_set"))
        if key not in self.seen:
            self.seen[key] = self.described(*key)
        return self.seen[key]

    def described(self, workload: str, label_set: str | None) -> Labels:
        """A row that names no set belongs to what is said of its id without one; where nothing is, to all that is said of it."""
        every = [row for row in self.rows if row["workload"] == workload]
        mine = [row for row in every if row.get("label_set") == label_set]
        return united(mine or ([] if label_set else every))

    def every(self) -> list[Labels]:
        return [united([row]) for row in self.rows]


def united(rows: list[Row]) -> Labels:
    """Of several sources the first by name decides, of its several sets the latest; who carries no labels describes nobody."""
    if not rows:
        return {}
    ordered = sorted(rows, key=lambda row: (row["end_s"], row["start_s"], row.get("label_set") or ""), reverse=True)
    ordered.sort(key=lambda row: (not row["labels"], row["source"]))
    labels: Labels = {}
    for row in reversed([row for row in ordered if row["labels"]]):
        labels |= row["labels"]
    return {**labels, "outcome": ordered[0]["outcome"], "name": ordered[0]["name"] or ""}


class Resources:
    """A resource is a cluster and a name. Where a row states no cluster, it is the one that has a resource of that name, if one alone has.

    Otherwise it is the default one, which rows without a cluster share.
    """

    def __init__(self, world: World) -> None:
        self.clusters: dict[str, set[str]] = {}
        for row in (*world.usage, *world.capacity):
            named = {row["cluster"]} if row.get("cluster") else set()
            self.clusters.setdefault(row["resource"], set()).update(named)
        self.labels: dict[Resource, Labels] = {}
        for row in world.usage:
            self.labels.setdefault(self.of(row), self.own_labels(self.of(row)))
        for row in world.capacity:
            self.labels.setdefault(self.of(row), self.own_labels(self.of(row))).update(row["labels"])

    def of(self, row: Row) -> Resource:
        named = self.clusters[row["resource"]]
        only = next(iter(named)) if len(named) == 1 else DEFAULT
        return row.get("cluster") or only, row["resource"]

    def own_labels(self, resource: Resource) -> Labels:
        cluster, name = resource
        return {"node": name, "resource": name, **({"cluster": cluster} if cluster else {})}

    def called(self, name: str) -> list[Resource]:
        return sorted(resource for resource in self.labels if resource[1] == name)

    def every_cluster(self) -> set[str]:
        return {cluster for named in self.clusters.values() for cluster in named}
