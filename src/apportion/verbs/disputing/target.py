"""What is disputed: a posting by its number or hash, a job or workload, or an owner's statement; and which rows of a month that is."""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import CORRECTION, PLAN, StoredRun
from apportion.engine.label_sets import with_sets, without_sets
from apportion.errors import ProjectError
from apportion.model.times import Period, parse_period
from apportion.reports.sums import total
from apportion.verbs.corrections import runs_of
from apportion.verbs.decisions import basis_from
from apportion.verbs.disputing.parts import (
    CHARGE,
    JOB,
    KEY,
    POSTING,
    STATEMENT,
    Doubted,
    charged_postings,
    parts_of,
    plain_rows,
)
from apportion.verbs.explaining.corrected import computed_by
from apportion.verbs.explaining.target import entries_named
from apportion.verbs.ground import afresh
from apportion.verbs.job_clusters import jobs_named
from apportion.verbs.job_names import ambiguous_job, full_ids, known_jobs
from apportion.verbs.project import Project
from apportion.verbs.transfers import EVERY, Row, path_of, rows_of_owner, table_of

KINDS = (STATEMENT, JOB, POSTING)


@dataclass(frozen=True, slots=True)
class Target:
    """`month` is what it is about, `booked` where it stands; `explained` is what `explain` calls it."""

    kind: str
    name: str
    key: tuple[str, ...]
    month: Period
    booked: Period
    explained: str
    also: tuple[str, ...] = ()


def find_target(project: Project, what: str, period: Period) -> Target:
    kind, colon, name = what.partition(":")
    exact = bool(colon) and kind in KINDS
    found = [
        target
        for known in ((kind,) if exact else KINDS)
        for target in candidates(project, known, name if exact else what, period)
    ]
    if (kind == JOB or not exact) and all(target.kind == POSTING for target in found):
        found += jobs_called(project, name if exact else what, period, refuses=not found)
    if not found:
        raise ProjectError(
            "unknown-figure",
            f"{what!r} is no posting, job or owner of {period}",
            hint="give a posting's number or hash, a job, or TEAM, TEAM/PROJECT or TEAM/PROJECT/USER for a statement",
        )
    first = found[0]
    also = tuple(f"{other.kind}:{other.name}" for other in found[1:])
    return Target(first.kind, first.name, first.key, first.month, first.booked, first.explained, also)


def jobs_called(project: Project, short: str, period: Period, *, refuses: bool) -> list[Target]:
    """Those of the month by the id that the scheduler writes; where nothing else is called so, there must not be two."""
    jobs = known_jobs(project, short)
    named = [job.name for job in jobs_named(project, short)]
    full = named if len(named) > 1 else full_ids(jobs, short)
    found = [target for one in full for target in candidates(project, JOB, one, period)]
    if refuses and len(found) > 1:
        ids = [target.name for target in found]
        raise ambiguous_job(jobs, short, ids, f"apportion dispute open job:JOB --period {period} --why TEXT")
    return found


def candidates(project: Project, kind: str, name: str, period: Period) -> Iterator[Target]:
    if kind == STATEMENT:
        if len(rows_of_owner(project.books.believed(str(period), EVERY), name)):
            yield Target(kind, name, (), period, period, f"team:{name.partition('/')[0]}")
    elif kind == JOB:
        workloads = workloads_named(project, name, period)
        if workloads and len(charges_of(project, workloads, period)):
            yield Target(kind, name, workloads, period, period, f"job:{name}")
    else:
        for row in entries_named(project, name, period):
            run = next(run for run in project.books.runs() if run.run_id == row["run_id"])
            month = parse_period(run.about or run.period)
            yield Target(
                kind, str(row["seq"]), tuple(str(row[part]) for part in KEY), month, period, f"posting:{row['seq']}"
            )


def workloads_named(project: Project, name: str, period: Period) -> tuple[str, ...]:
    """Of a run all its attempts and tasks; of an attempt itself alone. None where several clusters have it."""
    found = jobs_named(project, name)
    if len(found) != 1:
        return ()
    (job,) = found
    if name not in (job.name, job.run) and name in job.workloads:
        return (name,)
    if not len(job.others):
        return tuple(sorted(set(job.rows["workload"].to_pylist())))
    return tuple(
        sorted({*job.known["workload"].to_pylist(), *job.charged(project, str(period))["workload"].to_pylist()})
    )


def charges_of(project: Project, workloads: tuple[str, ...], period: Period) -> pa.Table:
    """As they stand: those kept with the month's plan, and what corrections of it changed, which keep none."""
    columns = [*CHARGE, "amount"]
    where = (pc.field("period") == str(period)) & pc.field("workload").isin(every_name(project, workloads))
    kept = project.books.scan("charges", columns=columns, where=where)
    runs = runs_of(project.books.runs(), str(period))
    if not runs or runs[-1].kind != CORRECTION:
        return kept
    first = next((run for run in reversed(runs) if run.kind == PLAN), None)
    now = charged_by(project, runs[-1], workloads).select(columns)
    then = now[:0] if first is None else charged_by(project, first, workloads).select(columns)
    amount = then.schema.get_field_index("amount")
    taken = then.set_column(amount, then.schema.field(amount), pc.negate(then["amount"]))
    return pa.concat_tables([part.cast(now.schema) for part in (kept, now, taken)])


def every_name(project: Project, workloads: tuple[str, ...]) -> pa.Array:
    """Theirs, and those of each set of labels that they have."""
    ids = pa.array(workloads, pa.string())
    whole = without_sets(ids)
    known = project.books.scan("workloads", columns=["workload", "label_set"], where=pc.field("workload").isin(whole))
    return pc.unique(pa.chunked_array([ids, *with_sets(known)["workload"].chunks], pa.string()))


def charged_by(project: Project, run: StoredRun, workloads: tuple[str, ...]) -> pa.Table:
    return basis_from(computed_by(project, run, afresh()).plan).charges(workloads)


def rows_of(project: Project, target: Doubted, rows: pa.Table) -> pa.Table:
    """What stands of it now, among all that its month came to."""
    if target.kind == JOB:
        return table_of(list(job_rows(project, target, rows)))
    return plain_rows(target, rows)


def job_rows(project: Project, target: Doubted, rows: pa.Table) -> Iterator[Row]:
    """A job's charges as parts of its owner's postings, which must still hold them."""
    if not len(rows):
        return
    for charge, postings in charged_postings(charges_of(project, target.key, month_of(rows)), rows):
        stands = total(row["amount"] for row in postings)
        if (stands < 0) != (charge["amount"] < 0) or stands.copy_abs() < charge["amount"].copy_abs():
            raise ProjectError(
                "nothing-left",
                f"what job {target.name} was charged on {charge['day']} in pool {charge['pool']} no longer stands with {path_of(charge)}",
                hint="its posting was corrected or moved since; dispute what stands now",
            )
        yield from parts_of(postings, charge["amount"])


def month_of(rows: pa.Table) -> Period:
    return parse_period(rows["period"][0].as_py())


def owners_of(project: Project, target: Target) -> list[str]:
    """The teams that it is of; of a statement its owner. Nothing is said of what stands of it now."""
    if target.kind == STATEMENT:
        return [target.name]
    if target.kind == POSTING:
        return [target.key[KEY.index("team")]]
    return sorted(set(charges_of(project, target.key, target.month)["team"].to_pylist()))
