"""One row a workload, however many log rows speak of it: it starts with the first and ends with the last, which also gives its outcome and labels."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.kinds import kinds
from apportion.model.rows import WORKLOADS
from apportion.sources.cells.labels import labels_from_columns, no_labels
from apportion.sources.files.sheet import STEP
from apportion.sources.usage.logs import LABEL, MAP

FACTS = ("source", "workload", "run", "name", "outcome")


def workloads(logs: list[pa.Table], *, by_set: bool) -> pa.Table:
    """`logs` have whole ends by now. `by_set`: a row for each set of labels of a workload, since those of a usage row own it."""
    whole = pa.concat_tables(logs, promote_options="default")
    bare = whole["label_set"].is_null().to_numpy()
    whole = with_sets(whole, by_set=by_set)
    known = kinds([whole["workload"], whole["label_set"]], len(whole))
    if len(known.first) < whole.num_rows:
        whole = last_rows(whole, known.of, bare if by_set else None)
    parts = [with_labels(whole.slice(first, STEP).combine_chunks()) for first in range(0, whole.num_rows, STEP)]
    return pa.concat_tables(parts) if parts else WORKLOADS.empty_table()


def with_sets(whole: pa.Table, *, by_set: bool) -> pa.Table:
    """A row without labels belongs to the only set that its workload has; its labels are those of the set."""
    place, sets = whole.column_names.index("label_set"), whole["label_set"]
    if not by_set or sets.null_count == len(whole):
        return whole.set_column(place, "label_set", pa.nulls(len(whole), pa.string()))
    if not sets.null_count:
        return whole
    pairs = (
        whole.select(["workload", "label_set"])
        .filter(sets.is_valid())
        .group_by(["workload", "label_set"])
        .aggregate([])
    )
    counts = pairs.group_by("workload").aggregate([("label_set", "min"), ([], "count_all")])
    single = counts.filter(pc.equal(counts["count_all"], 1))
    only = single["label_set_min"].take(pc.index_in(whole["workload"], value_set=single["workload"].combine_chunks()))
    return whole.set_column(place, "label_set", pc.coalesce(sets, only))


def last_rows(whole: pa.Table, which: np.ndarray, bare: np.ndarray | None) -> pa.Table:
    """Of each workload's rows the last by end and start; where those tie, the one whose text comes last, so that order does not matter.

    `bare` rows have no labels: those of the others, which are of one set, stand for them.
    """
    start, end = np.asarray(whole["start_s"]), np.asarray(whole["end_s"])
    rank = content_rank(whole)
    order = np.lexsort((rank, start, end, which))
    first = np.flatnonzero(np.diff(which[order], prepend=-1))
    last = np.append(first[1:], len(order)) - 1
    chosen = whole.take(pa.array(order[last]))
    earliest = pa.array(np.minimum.reduceat(start[order], first))
    if bare is not None and bare.any():
        telling = whole.take(pa.array(np.lexsort((rank, start, end, ~bare, which))[last]))
        for name in (name for name in whole.column_names if name.startswith(LABEL) or name == MAP):
            chosen = chosen.set_column(chosen.column_names.index(name), name, telling[name])
    return chosen.set_column(chosen.column_names.index("start_s"), "start_s", earliest)


def content_rank(whole: pa.Table) -> np.ndarray:
    """Numbers that sort as the rest of the row's text does."""
    names = [name for name in whole.column_names if name in FACTS or name.startswith(LABEL)]
    texts = pc.binary_join_element_wise(*(pc.fill_null(whole[name], "") for name in names), "\x1f")
    if MAP in whole.column_names:
        texts = pc.binary_join_element_wise(texts, map_texts(whole[MAP]), "\x1f")
    encoded = pc.dictionary_encode(texts).combine_chunks()
    rank = np.empty(len(encoded.dictionary), np.int64)
    rank[np.asarray(pc.sort_indices(encoded.dictionary))] = np.arange(len(encoded.dictionary))
    ranks: np.ndarray = rank[np.asarray(encoded.indices)]
    return ranks


def map_texts(maps: pa.ChunkedArray) -> pa.ChunkedArray:
    def one(chunk: pa.Array) -> pa.Array:
        pairs = pc.binary_join_element_wise(chunk.keys, chunk.items, "\x1d")
        return pc.fill_null(pc.binary_join(pa.ListArray.from_arrays(chunk.offsets, pairs), "\x1e"), "")

    return pa.chunked_array([one(pa.concat_arrays([chunk])) for chunk in maps.chunks], pa.string())


def with_labels(part: pa.Table) -> pa.Table:
    def column(name: str) -> pa.Array:
        found = part[name]
        return found.chunk(0) if found.num_chunks == 1 else found.combine_chunks()

    columns = {name.removeprefix(LABEL): column(name) for name in part.column_names if name.startswith(LABEL)}
    maps = column(MAP) if MAP in part.column_names else None
    labels = (
        labels_from_columns(part.num_rows, columns, maps) if columns or maps is not None else no_labels(part.num_rows)
    )
    names = [name for name in WORKLOADS.names if name in part.column_names and name != "labels"]
    return part.select(names).append_column("labels", labels).select(WORKLOADS.names).cast(WORKLOADS)
