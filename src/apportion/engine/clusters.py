"""A resource is a cluster and a name. On the way in, before anything is keyed by resource, each pair gets one text of its own.

A row that states no cluster means the one named cluster that has a resource of its name, if exactly one has. Otherwise it belongs to the
default cluster, which all such rows share. The text is the plain name where one cluster alone has it, and `cluster/name` where several
do (`/name` for the default one), so that worlds of one cluster keep every name.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.backend import Backend, exact
from apportion.model.findings import Finding
from apportion.model.meters import METERS
from apportion.model.money import for_reading
from apportion.model.rows import USAGE

DEFAULT = ""  # the cluster of rows that state none
CLUSTER = "cluster"
KINDS = ("slurm.cluster", "k8s.cluster")  # what sources call a workload's cluster, and pools ask for
PAIR = [CLUSTER, "resource"]
LEVELS = tuple(name for name, meter in METERS.items() if not meter.flow)
HOUR_S = 3600
FEW = 3  # names that a sentence lists
NULLABLE = pa.schema([column.with_nullable(True) for column in USAGE])  # files promise nothing about nulls
Pair = tuple[str, str]  # cluster and name


@dataclass(frozen=True, slots=True)
class Place:
    """What a resource is: its cluster ("": the default one) and its plain name."""

    cluster: str
    node: str


Places = Mapping[str, Place]


@dataclass(frozen=True, slots=True)
class Names:
    """`keys` has the text of every pair that rows state, `places` what each text stands for. `open` are names that several clusters have
    and some rows state no cluster of.
    """

    keys: Mapping[Pair, str]
    places: Places
    open: tuple[str, ...] = ()

    @property
    def renamed(self) -> dict[Pair, str]:
        return {pair: key for pair, key in self.keys.items() if key != pair[1]}


@dataclass(frozen=True, slots=True)
class Located:
    """Usage and capacity whose `resource` is a text of its own for each cluster and name."""

    usage: Any
    capacity: pa.Table
    places: Places
    findings: tuple[Finding, ...] = field(default=())


def locate(usage: Any, capacity: pa.Table, backend: Backend) -> Located:
    """Rows stay as they are where no two clusters have a resource of one name, which is the usual case."""
    names = name_resources({*stated_pairs(usage), *stated_pairs(capacity)})
    found = not_stated(usage, capacity, names.open, backend) if names.open else ()
    if not names.renamed:
        return Located(usage, capacity, names.places, found)
    return Located(rename_usage(usage, names, backend), rename(capacity, names), names.places, found)


def stated_pairs(rows: Any) -> set[Pair]:
    """Every cluster and name that rows state; "" where they state no cluster."""
    whole = rows.select(PAIR).group_by(PAIR).aggregate([]) if isinstance(rows, pa.Table) else distinct_pairs(rows)
    return {
        (cluster or DEFAULT, name) for cluster, name in zip(*(whole[part].to_pylist() for part in PAIR), strict=True)
    }


def distinct_pairs(rows: Any) -> pa.Table:
    return rows.select(*PAIR).distinct().to_pyarrow()


def name_resources(stated: Iterable[Pair]) -> Names:
    """A text for every pair."""
    pairs = sorted(set(stated))
    named: dict[str, list[str]] = defaultdict(list)
    for cluster, name in pairs:
        if cluster:
            named[name].append(cluster)
    cluster_of = {
        (cluster, name): named[name][0] if not cluster and len(named.get(name, ())) == 1 else cluster
        for cluster, name in pairs
    }
    owners: dict[str, set[str]] = defaultdict(set)
    for (_, name), cluster in cluster_of.items():
        owners[name].add(cluster)
    taken = set(owners)
    texts: dict[Pair, str] = {}
    for name in sorted(owners):
        for cluster in sorted(owners[name]):
            text = name if len(owners[name]) == 1 else free_text(cluster, name, taken)
            texts[cluster, name] = text
            taken.add(text)
    return Names(
        {pair: texts[cluster, pair[1]] for pair, cluster in cluster_of.items()},
        {text: Place(cluster, name) for (cluster, name), text in texts.items()},
        tuple(name for name in sorted(owners) if DEFAULT in owners[name] and len(named.get(name, ())) > 1),
    )


def locate_tables(*tables: pa.Table) -> tuple[pa.Table, ...]:
    """Tables in memory, each resource of all of them under its own text."""
    names = name_resources({pair for table in tables for pair in stated_pairs(table)})
    return tuple(rename(table, names) if names.renamed else table for table in tables)


def free_text(cluster: str, name: str, taken: set[str]) -> str:
    """`cluster/name`, with as many strokes as it needs to be nobody else's."""
    stroke = "/"
    while f"{cluster}{stroke}{name}" in taken:
        stroke += "/"
    return f"{cluster}{stroke}{name}"


def rename(rows: pa.Table, names: Names) -> pa.Table:
    """Rows in memory, under their texts."""
    pairs = zip(*(rows[part].to_pylist() for part in PAIR), strict=True)
    keys = [names.keys[cluster or DEFAULT, name] for cluster, name in pairs]
    place = rows.column_names.index("resource")
    return rows.set_column(place, rows.schema.field("resource"), pa.array(keys, pa.string()))


def rename_usage(usage: Any, names: Names, backend: Backend) -> Any:
    """All rows, under their texts; where the engine has them, wherever they lie."""
    rows = lend_rows(usage, backend)
    renamed = sorted(names.renamed.items())
    lent = backend.lend(pa.table({
        "of": pa.array([cluster for (cluster, _), _ in renamed], pa.string()),
        "resource": pa.array([name for (_, name), _ in renamed], pa.string()),
        "key": pa.array([key for _, key in renamed], pa.string()),
    }))  # fmt: skip
    joined = rows.mutate(of=ibis.coalesce(rows.cluster, DEFAULT)).left_join(lent, ["of", "resource"])
    columns = {name: joined[name] for name in rows.columns}
    return joined.select(**columns | {"resource": ibis.coalesce(joined.key, joined.resource)})


def lend_rows(usage: Any, backend: Backend) -> Any:
    return backend.lend(usage.cast(NULLABLE)) if isinstance(usage, pa.Table) else usage


def not_stated(usage: Any, capacity: pa.Table, names: tuple[str, ...], backend: Backend) -> tuple[Finding, ...]:
    """For each source, the rows that could mean a resource of several clusters: they belong to none of them."""
    rows = lend_rows(usage, backend)
    rows = rows.mutate(
        is_open=rows.cluster.isnull() & rows.resource.isin(list(names)),
        units=exact(ibis.coalesce(rows.allocated, rows.used, 0)) * (rows.end_s - rows.start_s),
    )
    found = rows.group_by("source", "meter", "is_open").aggregate(rows=rows.count(), units=rows.units.sum())
    counts = [*found.to_pyarrow().to_pylist(), *open_capacity(capacity, names)]
    sources = sorted({row["source"] for row in counts if row["is_open"]})
    return tuple(finding_of(source, names, [row for row in counts if row["source"] == source]) for source in sources)


def open_capacity(capacity: pa.Table, names: tuple[str, ...]) -> Iterable[dict[str, Any]]:
    """Rows alone: the hours of a source are those that were used."""
    mine = pc.and_(pc.is_null(capacity[CLUSTER]), pc.is_in(capacity["resource"], pa.array(names, pa.string())))
    for row in capacity.filter(mine).group_by(["source", "meter"]).aggregate([([], "count_all")]).to_pylist():
        yield {"source": row["source"], "meter": row["meter"], "is_open": True, "rows": row["count_all"], "units": 0}


def finding_of(source: str, names: tuple[str, ...], counts: list[dict[str, Any]]) -> Finding:
    """Its hours are those of the first meter that has any; a source that says nothing but capacity is touched whole."""
    mine: Counter[str] = Counter()
    whole: Counter[str] = Counter()
    for row in counts:
        whole[row["meter"]] += int(row["units"])
        mine[row["meter"]] += int(row["units"]) if row["is_open"] else 0
    meter = next((name for name in LEVELS if mine[name]), LEVELS[0])
    share = max((Fraction(mine[name], whole[name]) for name in LEVELS if whole[name]), default=Fraction(1))
    some = ", ".join(names[:FEW]) + (", ..." if len(names) > FEW else "")
    return Finding(
        "cluster-not-stated",
        f"rows of {source} name {some} and no cluster, and several clusters have a node of that name: they count in none of these clusters",
        f'say `cluster = "..."` in the stanza of {source} and ingest it again',
        source=source,
        rows=sum(row["rows"] for row in counts if row["is_open"]),
        hours=for_reading(Fraction(mine[meter], METERS[meter].base * HOUR_S)),
        unit=METERS[meter].unit,
        share=for_reading(share),
    )


def kinds_of_clusters(labels: Iterable[Mapping[str, str]]) -> dict[str, set[str]]:
    """By which labels resources name each cluster, such as `slurm.cluster`."""
    found: dict[str, set[str]] = defaultdict(set)
    for own in labels:
        for key, value in own.items():
            if key.endswith(f".{CLUSTER}"):
                found[value].add(key)
    return found


def with_cluster(labels: Mapping[str, str], cluster: str, kinds: Mapping[str, set[str]]) -> dict[str, str]:
    """Labels with the cluster, also as other resources of that cluster name it; where none does, as any source might."""
    found = {**labels, CLUSTER: cluster}
    if not any(key.endswith(f".{CLUSTER}") for key in labels):
        found |= dict.fromkeys(kinds.get(cluster) or KINDS, cluster)
    return found


def named_cluster(labels: Mapping[str, str]) -> Mapping[str, str]:
    """Labels of a reservation, in which `cluster` is what any source might call it."""
    return with_cluster(labels, labels[CLUSTER], {}) if labels.get(CLUSTER) else labels
