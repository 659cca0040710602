"""One row a workload, however many log rows speak of it: it starts with the first and ends with the last, which also gives its outcome and labels."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import WORKLOADS
from apportion.sources.cells.labels import labels_from_columns, no_labels
from apportion.sources.files.sheet import STEP
from apportion.sources.usage.logs import LABEL, MAP

FACTS = ("source", "workload", "run", "name", "outcome")


def workloads(logs: list[pa.Table]) -> pa.Table:
    """`logs` have whole ends by now."""
    whole = pa.concat_tables(logs, promote_options="default")
    known = pc.dictionary_encode(whole["workload"]).combine_chunks()
    if len(known.dictionary) < whole.num_rows:
        whole = last_rows(whole, np.asarray(known.indices))
    parts = [with_labels(whole.slice(first, STEP).combine_chunks()) for first in range(0, whole.num_rows, STEP)]
    return pa.concat_tables(parts) if parts else WORKLOADS.empty_table()


def last_rows(whole: pa.Table, which: np.ndarray) -> pa.Table:
    """Of each workload's rows the last by end and start; where those tie, the one whose text comes last, so that order does not matter."""
    start, end = np.asarray(whole["start_s"]), np.asarray(whole["end_s"])
    order = np.lexsort((content_rank(whole), start, end, which))
    first = np.flatnonzero(np.diff(which[order], prepend=-1))
    last = np.append(first[1:], len(order)) - 1
    chosen = whole.take(pa.array(order[last]))
    earliest = pa.array(np.minimum.reduceat(start[order], first))
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
    return (
        part.select([name for name in WORKLOADS.names if name != "labels"])
        .append_column("labels", labels)
        .cast(WORKLOADS)
    )
