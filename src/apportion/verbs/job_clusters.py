"""Jobs whose id several clusters have. Where a log says each row's cluster beside a plain id, the books have one run `1`; here it is a job of each
cluster, `a/1` and `c/1`. Ids, shares and digests stay as they are, and so do runs of one cluster.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.label_sets import MARK, plain_ids, with_sets
from apportion.engine.workloads import unite
from apportion.model.times import Period, day_start
from apportion.policy.match import find_label
from apportion.verbs.project import Project

CLUSTER = "cluster"
OTHERS = "\0"  # before the id of a charge that is another cluster's


@dataclass(frozen=True, slots=True)
class ClusterJob:
    """`rows` are its own in the table of workloads, `others` those of the same run in other clusters; `zone` cuts days."""

    name: str
    run: str
    rows: pa.Table
    others: pa.Table
    zone: tzinfo = UTC

    @property
    def workloads(self) -> list[str]:
        """The ids by which plans may know it, those of its sets of labels among them."""
        return sorted(pc.unique(with_sets(self.rows)["workload"]).to_pylist())

    @property
    def known(self) -> pa.Table:
        """Its rows by the names that it has here."""
        rows = with_sets(self.rows)
        rows = rows.filter(pc.invert(pc.is_in(rows["workload"], self.others["workload"].combine_chunks())))
        return rows.set_column(rows.column_names.index("run"), "run", pa.array([self.name] * len(rows), pa.string()))

    def mark_others(self, charges: pa.Table) -> pa.Table:
        """Charges of its ids, in which another id stands where they are another cluster's.

        A plan that met one cluster alone charged the plain id: by the days that is whoever ran then.
        """
        if not len(self.others) or not len(charges):
            return charges
        plain = pc.unique(self.others["workload"])
        asked = {
            (row["workload"], row["day"])
            for row in charges.select(["workload", "day"]).filter(pc.is_in(charges["workload"], plain)).to_pylist()
        }
        foreign = {one for one in asked if self.ran(self.others, *one) and not self.ran(self.rows, *one)}
        if not foreign:
            return charges
        names = [
            OTHERS + name if (name, day) in foreign else name
            for name, day in zip(charges["workload"].to_pylist(), charges["day"].to_pylist(), strict=True)
        ]
        place = charges.column_names.index("workload")
        return charges.set_column(place, charges.schema.field("workload"), pa.array(names, pa.string()))

    def ran(self, rows: pa.Table, workload: str, day: date) -> bool:
        start, end = day_start(day, self.zone), day_start(day + timedelta(days=1), self.zone)
        mine = rows.filter(pc.equal(rows["workload"], workload))
        here = pc.and_(pc.less(mine["start_s"], end), pc.greater(mine["end_s"], start))
        return bool(pc.any(here, min_count=0).as_py())

    def charged(self, project: Project, period: str = "") -> pa.Table:
        """What was kept of its charges, of one period or all: period, workload, day and team."""
        where = pc.field("workload").isin(self.workloads)
        where = where & (pc.field("period") == period) if period else where
        rows = self.mark_others(
            project.books.scan("charges", columns=["period", "workload", "day", "team"], where=where)
        )
        return rows.filter(pc.is_in(rows["workload"], pa.array(self.workloads, pa.string())))


def jobs_named(project: Project, name: str) -> list[ClusterJob]:
    """What an exact name means: a run, a workload, or a run of one cluster as `cluster/run`; several where several clusters have it."""
    ends = [name[place + 1 :] for place, letter in enumerate(name) if letter == "/"]
    met = pc.field("workload").isin(plain_ids([name])) | pc.field("run").isin([name, *ends])
    found = project.books.scan("workloads", where=met)
    if not len(found):
        return []
    rows = project.books.scan("workloads", where=pc.field("run").isin(pc.unique(found["run"])))
    jobs = list(jobs_of(project, rows))
    run = run_among(found, name)
    return (
        [job for job in jobs if run == job.run and name in (job.name, run, *job.workloads)]
        or [job for job in jobs if name == job.name]
        or [job for job in jobs if name in {f"{cluster}/{job.run}" for cluster in clusters_of(project, job.rows)}]
    )


def run_among(found: pa.Table, name: str) -> str:
    """A source that only counts knows no run but the workload."""
    known = with_sets(found)
    itself = known.filter(pc.equal(known["workload"], name))
    return str(unite(itself)["run"][0]) if len(itself) else name


def jobs_apart(project: Project, ending: str = "") -> list[ClusterJob]:
    """All whose run several clusters have; of ids that end so."""
    scan = project.books.scan
    several = scan("workloads", columns=["source", "run", "label_set"], where=pc.field("label_set").is_valid())
    several = several.filter(pc.ends_with(several["run"], ending)) if ending else several
    counts = several.group_by(several.column_names).aggregate([]).group_by("run").aggregate([([], "count_all")])
    runs = counts.filter(pc.greater(counts["count_all"], 1))["run"]
    if not len(runs):
        return []
    rows = scan("workloads", where=pc.field("run").isin(runs.combine_chunks()))
    told = rows.append_column(CLUSTER, pa.array(clusters_of(project, rows), pa.string()))
    told = told.filter(pc.not_equal(told[CLUSTER], "")).group_by("run").aggregate([(CLUSTER, "count_distinct")])
    apart = told.filter(pc.greater(told[f"{CLUSTER}_count_distinct"], 1))["run"]
    return list(jobs_of(project, rows.filter(pc.is_in(rows["run"], apart.combine_chunks()))))


def jobs_of(project: Project, rows: pa.Table) -> Iterator[ClusterJob]:
    """Of whole runs, by their names. A source that only describes an id describes it in every cluster, and is no job of its own."""
    rows = rows.append_column(CLUSTER, pa.array(clusters_of(project, rows), pa.string()))
    for run in sorted(pc.unique(rows["run"]).to_pylist()):
        own = rows.filter(pc.equal(rows["run"], run))
        clusters = sorted(pc.unique(own[CLUSTER]).to_pylist())
        if sum(map(bool, clusters)) < 2:
            own = own.drop_columns(CLUSTER)
            yield ClusterJob(run, run, own, own[:0])
            continue
        zone = ZoneInfo(project.policy.time_zone)
        logs = pc.unique(own.filter(own["label_set"].is_valid())["source"].combine_chunks())
        own = own.filter(pc.is_in(own["source"], logs))
        for cluster in sorted(pc.unique(own[CLUSTER]).to_pylist()):
            mine = pc.equal(own[CLUSTER], cluster)
            others = own.filter(pc.invert(mine)).drop_columns(CLUSTER)
            yield ClusterJob(f"{cluster}/{run}", run, own.filter(mine).drop_columns(CLUSTER), others, zone)


def clusters_of(project: Project, rows: pa.Table) -> list[str]:
    """Of rows of a log what each says of its cluster, else the stanza; "" where neither does, and of other sources, whose ids name theirs."""
    stated = stated_clusters(project)
    return [
        (find_label(dict(row["labels"] or ()), CLUSTER) or stated.get(row["source"], "")) if row["label_set"] else ""
        for row in rows.select(["source", "labels", "label_set"]).to_pylist()
    ]


def stated_clusters(project: Project) -> Mapping[str, str]:
    found = {source.name: source.settings.get(CLUSTER) for source in project.sources}
    return {name: cluster for name, cluster in found.items() if isinstance(cluster, str) and cluster}


def by_cluster(project: Project, workloads: pa.Table, ending: str = "") -> pa.Table:
    """Workloads of a plan, in which a run of several clusters is a job of each."""
    apart = jobs_apart(project, ending)
    if not apart:
        return workloads
    known = {}
    for job in apart:
        for row in job.rows.select(["workload", "label_set"]).to_pylist():
            known[row["workload"], row["label_set"]] = job.name
            known[f"{row['workload']}{MARK}{row['label_set']}", None] = job.name
    keys = zip(*(workloads[name].to_pylist() for name in ("workload", "label_set", "run")), strict=True)
    runs = [known.get((workload, label_set), run) for workload, label_set, run in keys]
    place = workloads.column_names.index("run")
    return workloads.set_column(place, workloads.schema.field("run"), pa.array(runs, pa.string()))


def cluster_names(project: Project, period: Period | None = None) -> dict[str, str]:
    """Of jobs whose run several clusters have the names, by the ids that were charged in a period, or that are theirs alone in all."""
    return {
        workload: job.name
        for job in jobs_apart(project)
        for workload in (job.charged(project, str(period)) if period else job.known)["workload"].to_pylist()
    }
