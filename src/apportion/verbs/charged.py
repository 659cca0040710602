"""What each run was charged in a month, from the charges behind the postings."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import MONEY, TEXT, table
from apportion.model.times import Period
from apportion.verbs.project import Project
from apportion.verbs.stating.working import mapped

OWNER = ("team", "project", "user")
RUNS = table(
    ("run", TEXT), ("name", TEXT, True), *((name, TEXT) for name in OWNER), ("currency", TEXT), ("amount", MONEY), ("waste", MONEY, True),
)  # fmt: skip


def charged_runs(project: Project, period: Period, bills: Mapping[str, str], until_s: int | None = None) -> pa.Table:
    """Sums by run and owner, now or as they were at some second; what is of no workload is left out. `bills`: the currency of each."""
    books = project.books
    at = None if until_s is None else books.charges_then(until_s)
    columns = ["bill", *OWNER, "workload", "amount", "waste"]
    rows = books.scan("charges", at, columns=columns, where=pc.field("period") == str(period))
    rows = rows.filter(pc.not_equal(rows["workload"], ""))
    if not len(rows) or not bills:
        return RUNS.empty_table()
    rows = rows.append_column("currency", mapped(rows["bill"], bills))
    joined = rows.join(runs_of(project, rows["workload"]), "workload")
    keys = ["run", "name", *OWNER, "currency"]
    sums = joined.group_by(keys).aggregate([("amount", "sum"), ("waste", "sum")])
    return sums.rename_columns([name.removesuffix("_sum") for name in sums.column_names]).select(RUNS.names).cast(RUNS)


def runs_of(project: Project, workloads: pa.ChunkedArray) -> pa.Table:
    """Workload, run and name, once each: where sources differ the first, by name, is heard."""
    known = project.books.scan(
        "workloads",
        columns=["workload", "run", "name", "source"],
        where=pc.field("workload").isin(pc.unique(workloads)),
    )
    order = known.sort_by([("workload", "ascending"), ("source", "ascending")])
    first = order.group_by("workload", use_threads=False).aggregate([("run", "first"), ("name", "first")])
    return first.rename_columns([name.removesuffix("_first") for name in first.column_names])
