"""Rows that tell of one attempt, from several files or twice in one: it counts once. Rows that share its id and contradict each other are not taken.

Tasks of an array have ids of their own, `5_1` and `5_2`, and each counts, also where an export gives both the same raw id.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import SECOND, TEXT
from apportion.sources.slurm.attempts import column

FOREVER = 2**62
CONFLICT = "conflicting-rows"
WHO = ("account", "user", "nodelist")


def settled(whole: pa.Table) -> pa.Table:
    """Each attempt once, and no two of a job at the same time."""
    keys = pc.dictionary_encode(pc.binary_join_element_wise(whole["cluster"], whole["job"], "/")).combine_chunks()
    if len(keys.dictionary) == whole.num_rows:
        return whole
    return unfolded(once(contradicted(told_apart(whole))))


def several(whole: pa.Table, name: str) -> set[str]:
    """Ids whose rows say different things in a field; an empty cell says nothing."""
    said = pa.table({"id": whole["id"], name: column(whole, name)})
    said = said.filter(said[name].is_valid()).group_by(["id", name]).aggregate([])
    counts = said.group_by("id").aggregate([([], "count_all")])
    return set(counts.filter(pc.greater(counts["count_all"], 1))["id"].to_pylist())


def told_apart(whole: pa.Table) -> pa.Table:
    """Rows of one raw id and submission with different JobIDs are different tasks: the JobID is their id. A row without one may be any of them."""
    shared = several(whole, "task")
    if not shared:
        return whole
    which = pc.is_in(whole["id"], pa.array(sorted(shared)))
    task = whole["task"]
    submit = pc.cast(whole["submit_s"], pa.string())
    own = pc.binary_join_element_wise("slurm/", whole["cluster"], "/", task, "@", submit, "")
    whole = put(whole, "id", pc.if_else(which, pc.coalesce(own, whole["id"]), whole["id"]))
    whole = put(whole, "job", pc.if_else(which, pc.coalesce(task, whole["job"]), whole["job"]))
    return withhold(whole, pc.and_(which, task.is_null()))


def contradicted(whole: pa.Table) -> pa.Table:
    """Withholds attempts of which rows name different accounts or users, or different nodes at the same time."""
    where = several(whole, "nodelist")
    wrong = several(whole, "account") | several(whole, "user") | (elsewhere(whole, where) if where else set())
    return withhold(whole, pc.is_in(whole["id"], pa.array(sorted(wrong)))) if wrong else whole


def elsewhere(whole: pa.Table, ids: set[str]) -> set[str]:
    """Of attempts with several lists of nodes those that are on two of them at once: one that was requeued in the second of its submission is not."""
    rows = whole.filter(pc.is_in(whole["id"], pa.array(sorted(ids)))).select(["id", "nodelist", "start_s", "end_s"])
    found, last = set(), ("", "", 0)
    for row in rows.sort_by([("id", "ascending"), ("start_s", "ascending")]).to_pylist():
        own, nodes, end = row["id"], row["nodelist"] or "", row["end_s"] or FOREVER
        if own == last[0] and nodes != last[1] and row["start_s"] < last[2]:
            found.add(own)
        last = (own, nodes, max(end, last[2]) if own == last[0] else end)
    return found


def put(whole: pa.Table, name: str, values: pa.Array) -> pa.Table:
    return whole.set_column(whole.column_names.index(name), name, values)


def withhold(whole: pa.Table, mask: pa.Array) -> pa.Table:
    return put(whole, "withheld", pc.if_else(mask, pa.scalar(CONFLICT, TEXT), whole["withheld"]))


def once(whole: pa.Table) -> pa.Table:
    """An attempt that two files tell of counts once: as the row knows it that saw it longest, an ended one before a running one."""
    keys = pc.binary_join_element_wise(whole["id"], pc.cast(whole["start_s"], pa.string()), "@")
    if pc.any(whole["withheld"].is_valid(), min_count=0).as_py():  # of those that contradict each other, each is listed
        said = pc.binary_join_element_wise(*(pc.fill_null(column(whole, name), "") for name in WHO), "\x1f")
        keys = pc.if_else(whole["withheld"].is_valid(), pc.binary_join_element_wise(keys, said, "\x1f"), keys)
    encoded = pc.dictionary_encode(keys).combine_chunks()
    which = np.asarray(encoded.indices)
    ended = np.asarray(whole["end_s"].is_valid())
    longest = np.asarray(pc.fill_null(pc.coalesce(whole["end_s"], whole["told_s"]), 0))
    order = np.lexsort((longest, ended, which))
    last = np.append(np.flatnonzero(np.diff(which[order])), len(order) - 1)
    return whole.take(pa.array(np.sort(order[last])))


def unfolded(whole: pa.Table) -> pa.Table:
    """Until 22.05 the row after a resize keeps the job's first start and overlaps the row before it: it begins where that one ended."""
    jobs = pc.dictionary_encode(pc.binary_join_element_wise(whole["cluster"], whole["job"], "/")).combine_chunks()
    which = np.asarray(jobs.indices)
    start = np.asarray(whole["start_s"]).copy()
    end = np.asarray(pc.fill_null(whole["end_s"], FOREVER))
    order = np.lexsort((np.asarray(whole["submit_s"]), which))
    later, before = order[1:], order[:-1]
    known = (which[later] == which[before]) & (end[before] < FOREVER) & np.asarray(whole["withheld"].is_null())[later]
    start[later] = np.where(
        known, np.minimum(np.maximum(start[later], end[before]), np.maximum(end[later], start[later])), start[later]
    )
    return put(whole, "start_s", pa.array(start, SECOND))
