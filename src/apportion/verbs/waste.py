"""The runs that held the most without using it, from the charges of a month."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.compute as pc

from apportion.model.kinds import summed
from apportion.model.times import Period
from apportion.reports.groups import NOBODY
from apportion.reports.held import QUANTITIES
from apportion.reports.report import Record, Report
from apportion.reports.waste import Held
from apportion.reports.waste import waste as make_report
from apportion.verbs.asked import Months, posted_months
from apportion.verbs.charged import runs_of
from apportion.verbs.periods import label
from apportion.verbs.project import Project
from apportion.verbs.report import Reading, only, read_filters, read_record

KEYS = ("period", "workload", "bill", "pool", "team", "project", "user", "unit", "per_unit")
SUMS = (*QUANTITIES, "waste")


def waste(project: Project, periods: Months = None, where: Sequence[str] = (), read: Reading = read_record) -> Report:
    """The runs that held the most without using it, and what that cost. `where` as in other reports; `read` for those who see only a part of the record."""
    months = posted_months(project, periods)
    record = read(project, months, None)
    filters = read_filters(where)
    some = only(with_workloads(project, record, months), filters, "held")
    return make_report(label(months), held_by_runs(project, some), record.head, record.policies)


def with_workloads(project: Project, record: Record, months: Sequence[Period]) -> Record:
    """The charges of the owners in a record, with their workloads."""
    teams = pc.unique(record.posted["team"])
    where = pc.field("period").isin([str(month) for month in months]) & pc.field("team").isin(teams)
    charges = project.books.scan("charges", columns=[*KEYS, *SUMS], where=where & pc.field("waste").is_valid())
    return Record(record.period, record.posted, record.head, record.policies, charges)


def held_by_runs(project: Project, record: Record) -> list[Held]:
    if record.charges is None or not len(record.charges):
        return []
    rows = summed(record.charges, KEYS, SUMS).to_pylist()
    currencies = dict(zip(*(record.posted[name].to_pylist() for name in ("bill", "currency")), strict=True))
    runs = {
        row["workload"]: (row["run"], row["name"] or "")
        for row in runs_of(project, record.charges["workload"]).to_pylist()
    }
    units = {row["pool"]: (row["unit"], row["per_unit"]) for row in rows if row["unit"] is not None}
    groups: dict[tuple[str, str, str, str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        if row["pool"] not in units:
            continue
        row["unit"], row["per_unit"] = units[row["pool"]]  # another bill or component of its pool has no hours
        run, name = runs.get(row["workload"], (row["workload"], ""))
        owner = "/".join(filter(None, (row["team"], row["project"] or NOBODY, row["user"])))
        groups[run, name, owner, currencies[row["bill"]], row["unit"]].append(row)
    return [Held(*key, tuple(found)) for key, found in groups.items()]
