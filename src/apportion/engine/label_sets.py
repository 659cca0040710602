"""Labels on a row own that row: where rows of one id carry several sets of labels, each set is a workload with a name of its own.

`1` of a and later of b becomes `1~3f9a...` and `1~77c0...`, both of the run `1`. An id with one set of labels keeps its name.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ibis
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.backend import Backend
from apportion.engine.labels import labelled
from apportion.model.rows import USAGE, set_of_labels

if TYPE_CHECKING:
    from apportion.engine.plan import World

MARK = "~"
QUALIFIED = r"^(?P<plain>.*[^~])~+(?P<set>[0-9a-f]{16})$"
NAMES = pa.schema([("workload", pa.string()), ("label_set", pa.string()), ("name", pa.string())])
LENT = pa.schema([field.with_nullable(True) for field in USAGE])  # files promise nothing about nulls


def split_by_labels(world: "World", backend: Backend) -> "World":
    """The world with a workload for each set of labels. Where no id has two from one source, which is the usual case, nothing is touched."""
    if world.workloads["label_set"].null_count == len(world.workloads):
        return world
    usage = backend.lend(world.usage.cast(LENT)) if isinstance(world.usage, pa.Table) else world.usage
    sets = several_sets(world.workloads, ids_of_clusters(usage, told_by_several(world.workloads), backend))
    if not len(sets):
        return world
    names = named_apart(sets, world.workloads, usage, backend)
    usage = rename_usage(usage, names, backend)
    ids = pc.unique(names["workload"].combine_chunks())
    rest = usage.join(backend.lend(pa.table({"workload": ids})), "workload").select("workload").distinct().to_pyarrow()
    return replace(world, usage=usage, workloads=rename_workloads(world.workloads, names, rest["workload"]))


def told_by_several(workloads: pa.Table) -> pa.Array:
    """Ids of which more than one source speaks."""
    if len(pc.unique(workloads["source"])) < 2:
        return pa.array([], pa.string())
    pairs = workloads.select(["workload", "source"]).group_by(["workload", "source"]).aggregate([])
    counts = pairs.group_by("workload").aggregate([([], "count_all")])
    return counts.filter(pc.greater(counts["count_all"], 1))["workload"].combine_chunks()


def ids_of_clusters(usage: Any, ids: pa.Array, backend: Backend) -> pa.Array:
    """Of some ids those that rows of several clusters have: each cluster's is another workload."""
    none = pa.array([], pa.string())
    if not len(ids) or pc.count(usage.select("cluster").distinct().to_pyarrow()["cluster"]).as_py() < 2:
        return none
    own = usage.join(backend.lend(pa.table({"workload": ids})), "workload")
    pairs = own.filter(own.cluster.notnull()).select("workload", "cluster").distinct().to_pyarrow()
    counts = pairs.group_by("workload").aggregate([([], "count_all")])
    return counts.filter(pc.greater(counts["count_all"], 1))["workload"].combine_chunks() if len(pairs) else none


def several_sets(workloads: pa.Table, apart: pa.Array | None = None) -> pa.Table:
    """Workload and label set of ids to which one source gives several sets; a row without one counts by the labels that it has.

    `apart`: ids of several clusters, whose sources do not speak of one workload.
    """
    if workloads["label_set"].null_count == len(workloads):
        return NAMES.empty_table().drop_columns("name")
    ids = pc.unique(workloads["workload"].filter(workloads["label_set"].is_valid()))
    own = workloads.filter(pc.is_in(workloads["workload"], ids))
    own = own.filter(labelled(own["labels"])).select(["source", "workload", "labels", "label_set"])
    unnamed = own.filter(own["label_set"].is_null())
    stated = own.filter(own["label_set"].is_valid()).drop_columns("labels")
    hashes = pa.array([set_of_labels(labels) for labels in unnamed["labels"].to_pylist()], pa.string())
    counted = unnamed.drop_columns("labels").set_column(2, stated.schema.field("label_set"), hashes)
    pairs = pa.concat_tables([stated, counted])
    if apart is not None and len(apart):
        whose = pc.if_else(pc.is_in(pairs["workload"], value_set=apart), "", pairs["source"])
        pairs = pairs.set_column(0, "source", whose)
    pairs = pairs.group_by(["source", "workload", "label_set"]).aggregate([])
    counts = pairs.group_by(["source", "workload"]).aggregate([([], "count_all")])
    several = pc.unique(counts.filter(pc.greater(counts["count_all"], 1))["workload"])
    found = stated.filter(pc.is_in(stated["workload"], several)).group_by(["workload", "label_set"]).aggregate([])
    return found.sort_by([("workload", "ascending"), ("label_set", "ascending")])


def named_apart(sets: pa.Table, workloads: pa.Table, usage: Any, backend: Backend) -> pa.Table:
    """With names that no plain id of the world has."""
    mark = MARK
    while True:
        names = pc.binary_join_element_wise(sets["workload"], sets["label_set"], mark)
        told = pc.any(pc.is_in(names, value_set=workloads["workload"].combine_chunks())).as_py()
        used = usage.join(backend.lend(pa.table({"workload": names})), "workload").count().to_pyarrow().as_py()
        if not told and not used:
            return sets.append_column("name", names)
        mark += MARK


def rename_usage(usage: Any, names: pa.Table, backend: Backend) -> Any:
    marked = usage.left_join(backend.lend(names), ["workload", "label_set"]).select(*USAGE.names, "name")
    return marked.mutate(
        workload=ibis.coalesce(marked.name, marked.workload),
        label_set=ibis.ifelse(marked.name.isnull(), marked.label_set, ibis.null("string")),
    ).select(*USAGE.names)


def rename_workloads(workloads: pa.Table, names: pa.Table, plain: pa.ChunkedArray) -> pa.Table:
    """A row for each set, and what other sources say of the id beside it. `plain`: ids of which some usage has no labels of its own."""
    mine = pc.is_in(workloads["workload"], value_set=pc.unique(names["workload"]))
    own = workloads.filter(mine)
    own = own.append_column("place", pa.array(range(len(own)), pa.int64()))
    pairs = own.select(["workload", "label_set", "place"]).join(names, ["workload", "label_set"], join_type="inner")
    order = pairs.sort_by("place")
    sets = renamed_rows(own.drop_columns("place").take(order["place"]), order["name"])
    whole = own.drop_columns("place")
    beside = (
        said_beside(whole, sets, order["workload"].to_pylist()) if len(pc.unique(whole["source"])) > 1 else sets[:0]
    )
    left = own_words(whole.filter(pc.is_in(whole["workload"], value_set=plain.combine_chunks())))
    return pa.concat_tables([workloads.filter(pc.invert(mine)), sets, beside, left])


def renamed_rows(rows: pa.Table, names: pa.ChunkedArray) -> pa.Table:
    nothing = pa.nulls(len(rows), pa.string())
    for column, values in (("workload", names), ("label_set", nothing)):
        rows = rows.set_column(rows.column_names.index(column), rows.schema.field(column), values)
    return rows


def own_words(rows: pa.Table) -> pa.Table:
    """What is said of an id as such: by the rows without a set of their own, else by all."""
    apart = rows.filter(pc.and_(rows["label_set"].is_null(), labelled(rows["labels"])))
    others = rows.filter(pc.invert(pc.is_in(rows["workload"], value_set=pc.unique(apart["workload"]))))
    found = pa.concat_tables([apart, others])
    return renamed_rows(found, found["workload"])


def said_beside(rows: pa.Table, sets: pa.Table, ids: list[str]) -> pa.Table:
    """What a source that knows the id by one description adds to each set of another: labels that the set lacks, and a name."""
    said: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for row in rows.to_pylist():
        said.setdefault(row["workload"], {}).setdefault(row["source"], []).append(row)
    made = []
    for one, plain in zip(sets.to_pylist(), ids, strict=True):
        labels = dict(one["labels"] or ())
        for source, told in said[plain].items():
            if source != one["source"] and len(told) == 1:
                more = [(key, value) for key, value in told[0]["labels"] or () if key not in labels]
                made.append(one | {"source": source, "name": told[0]["name"], "labels": more})
    return pa.Table.from_pylist(made, schema=rows.schema)


def are_named(workloads: pa.ChunkedArray, names: Iterable[str]) -> pa.ChunkedArray:
    """Which ids are some of these, or a set of labels of one. Where names tell sets of an id, its others are not meant."""
    wanted = pa.array(sorted(set(names)), pa.string())
    plain = pc.struct_field(pc.extract_regex(workloads, QUALIFIED), "plain")
    return pc.or_(pc.is_in(workloads, value_set=wanted), pc.is_in(plain, value_set=without_sets(wanted)))


def without_sets(names: pa.Array) -> pa.Array:
    """Those that no other one qualifies."""
    told = pc.struct_field(pc.extract_regex(names, QUALIFIED), "plain").drop_null()
    return names.filter(pc.invert(pc.is_in(names, value_set=told)))


def plain_ids(ids: Iterable[str]) -> pa.Array:
    """The ids, and those that they qualify: what to look for in the books."""
    names = pa.array(sorted(set(ids)), pa.string())
    parts = pc.extract_regex(names, QUALIFIED)
    return pc.unique(pa.concat_arrays([names, pc.struct_field(parts, "plain").drop_null()]))


def rows_named(workloads: pa.Table, ids: pa.Array | pa.ChunkedArray) -> pa.Table:
    """What the books say of some workloads, under the names that a plan has for them."""
    names = pc.unique(ids)
    names = names.combine_chunks() if isinstance(names, pa.ChunkedArray) else names
    found = workloads.filter(pc.is_in(workloads["workload"], value_set=names))
    parts = pc.extract_regex(names, QUALIFIED)
    if parts.null_count == len(parts):
        return found
    asked = pa.table({
        "workload": pc.struct_field(parts, "plain"), "label_set": pc.struct_field(parts, "set"), "name": names,
    }).filter(parts.is_valid())  # fmt: skip
    some = workloads.filter(pc.is_in(workloads["workload"], value_set=asked["workload"].combine_chunks()))
    places = some.select(["workload", "label_set"]).append_column("place", pa.array(range(len(some)), pa.int64()))
    pairs = places.join(asked, ["workload", "label_set"], join_type="inner").sort_by("place")
    return pa.concat_tables([found, renamed_rows(some.take(pairs["place"]), pairs["name"])])


def split_tables(workloads: pa.Table, usage: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The same of rows that are at hand: what belongs to a set of an id that has several is renamed."""
    sets = several_sets(workloads)
    if not len(sets):
        return workloads, usage
    keys = pc.binary_join_element_wise(sets["workload"], sets["label_set"], "\0").combine_chunks()
    names = pc.binary_join_element_wise(sets["workload"], sets["label_set"], MARK).combine_chunks()

    def renamed(rows: pa.Table) -> pa.Table:
        own = pc.binary_join_element_wise(rows["workload"], rows["label_set"], "\0")
        name = names.take(pc.index_in(own, value_set=keys).combine_chunks())
        return rows.set_column(rows.column_names.index("workload"), "workload", pc.coalesce(name, rows["workload"]))

    return renamed(workloads), renamed(usage)


def with_sets(workloads: pa.Table) -> pa.Table:
    """The rows, and each that has a set of labels once more under the name that a plan may have for it."""
    own = workloads.filter(workloads["label_set"].is_valid())
    names = pc.binary_join_element_wise(own["workload"], own["label_set"], MARK)
    return pa.concat_tables([workloads, renamed_rows(own, names)]) if len(own) else workloads
