"""What each run was charged in a month, from the charges behind the postings."""

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.label_sets import rows_named
from apportion.model.kinds import Codes, kinds, summed
from apportion.model.rows import MONEY, TEXT, table
from apportion.model.times import Period
from apportion.verbs.job_clusters import cluster_names
from apportion.verbs.project import Project
from apportion.verbs.stating.working import mapped

OWNER = ("team", "project", "user")
RUNS = table(
    ("run", TEXT), ("name", TEXT, True), *((name, TEXT) for name in OWNER), ("currency", TEXT), ("amount", MONEY), ("waste", MONEY, True),
)  # fmt: skip


def charged_runs(project: Project, period: Period, bills: Mapping[str, str], snapshot: int | None = None) -> pa.Table:
    """Sums by run and owner, now or by a snapshot of the charges; what is of no workload is left out. `bills`: the currency of each."""
    columns = ["bill", *OWNER, "workload", "amount", "waste"]
    rows = project.books.scan("charges", snapshot, columns=columns, where=pc.field("period") == str(period))
    rows = rows.filter(pc.not_equal(rows["workload"], ""))
    if not len(rows) or not bills:
        return RUNS.empty_table()
    rows = rows.append_column("currency", mapped(rows["bill"], bills))
    joined = rows.join(runs_of(project, rows["workload"], period), "workload")
    keys = ["run", "name", *OWNER, "currency"]
    return summed(joined, keys, ("amount", "waste")).select(RUNS.names).cast(RUNS)


def runs_of(project: Project, workloads: pa.ChunkedArray, period: Period | None = None) -> pa.Table:
    """Workload, run and name, once each; `period` where they were charged, if it was one."""
    known = project.books.scan("workloads", columns=["workload", "run", "name", "source", "label_set"])
    runs = told(rows_named(known, workloads))  # quicker than where it is read
    names = cluster_names(project, period)
    if not names:
        return runs
    pairs = zip(runs["workload"].to_pylist(), runs["run"].to_pylist(), strict=True)
    return runs.set_column(1, "run", pa.array([names.get(workload, run) for workload, run in pairs], TEXT))


def told(known: pa.Table) -> pa.Table:
    """Where several sources saw a workload, the first by name that says more than its number is heard, as in a plan."""
    if len(pc.unique(known["source"])) > 1:
        known = known.sort_by("source")
    runs = first_of(known, pc.not_equal(known["run"], known["workload"]))
    names = first_of(known, pc.is_valid(known["name"]))
    named = names["name"].take(pc.index_in(runs["workload"], names["workload"].combine_chunks()))
    return pa.table([runs["workload"], runs["run"], named], names=["workload", "run", "name"])


def first_of(rows: pa.Table, telling: pa.ChunkedArray) -> pa.Table:
    """A row of each workload: the first that tells something, else the first."""
    order = pa.concat_tables([rows.filter(telling), rows.filter(pc.invert(telling))])
    return order.take(pa.array(kinds([order["workload"]], len(order)).first))


def leading(runs: pa.Table, most: int) -> pa.Table:
    """Those among the `most` that were charged most to their team, their project or their user: all that a page shows of many."""
    order = runs.sort_by([("amount", "descending"), ("run", "ascending")])
    kept = np.zeros(len(order), np.bool_)
    for keys in (("team",), ("team", "project"), ("team", "user")):
        kept |= places(kinds((order[name] for name in ("currency", *keys)), len(order)).of) < most
    return order.filter(pa.array(kept))


def places(of: Codes) -> Codes:
    """Of each row how many of its kind stand before it."""
    order = np.argsort(of, kind="stable")
    inside = of[order]
    found = np.empty(len(of), np.int64)
    found[order] = np.arange(len(of)) - np.searchsorted(inside, inside)
    return found
