"""What did my job cost? All attempts and array tasks of a run together: direct, with idle, with overhead, and what others paid of it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import PLAN, StoredRun
from apportion.engine.charges import charges_of
from apportion.engine.label_sets import plain_ids, rows_named, with_sets
from apportion.engine.workloads import unite
from apportion.errors import ProjectError
from apportion.model.rows import CHARGES
from apportion.model.times import Period, parse_period
from apportion.reports.cost import Attempt, Cost, Share
from apportion.reports.held import views_of
from apportion.reports.job import JobLine, job_lines
from apportion.reports.sums import total
from apportion.verbs.agreement import basis_of, policy_for, policy_of_version
from apportion.verbs.job_clusters import ClusterJob, jobs_named
from apportion.verbs.job_history import corrections_of, decided_about, standing_charges
from apportion.verbs.job_names import ambiguous_job, known_jobs, runs_called
from apportion.verbs.plan import compute
from apportion.verbs.project import Project
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import pins_of

NEAREST = 5
COMMAND = "apportion cost JOB"
NO_FIGURES = ("nothing-to-plan", "no-policy-in-force")  # a month that has no bill yet, or had no policy


def cost(
    project: Project,
    what: str,
    period: Period | str | None = None,
    step: Step = silent,
    posted: Callable[[str], pa.Table] | None = None,
) -> Cost:
    """What a job or run cost: direct, with idle, with overhead, and what others paid of it.

    `what` is a workload's id or a run's, whole or as the scheduler writes it; either way all workloads of the run count.
    `posted`: what a month's plans posted, where it is kept.
    """
    step(f"looking for {what}", 0, 0)
    job = find_job(project, what)
    workloads = sorted(once(with_sets(job.rows)), key=lambda row: (row["start_s"], row["workload"]))
    ids = [row["workload"] for row in workloads]
    shares: list[Share] = []
    lines: list[JobLine] = []
    owners: set[str] = set()
    teams: set[str] = set()
    held: dict[str, list[dict[str, Any]]] = {}
    for month in [str(period)] if period else months_of(project, job, workloads):
        found = figures(project, month, ids, step, posted or planned(project))
        found = replace(found, charges=job.mark_others(found.charges))
        shares.append(found.share)
        if found.postings is not None:
            outcomes = outcomes_of(project, found.charges["workload"].to_pylist())
            lines += job_lines(found.charges, ids, found.postings, outcomes)
            owners |= owners_of(found.charges, ids)
            teams |= set(own_charges(found.charges, ids)["team"].to_pylist())
            currencies = dict(zip(*(found.postings[name].to_pylist() for name in ("bill", "currency")), strict=True))
            for row in own_charges(found.charges, ids).to_pylist():
                held.setdefault(currencies[row["bill"]], []).append(row)
    attempts = (
        Attempt(row["workload"], row["outcome"], row["start_s"], row["end_s"], line)
        for row in workloads
        for line in added(line for line in lines if line.workload == row["workload"])
    )
    return Cost(
        run=job.name,
        name=next((row["name"] for row in workloads if row["name"]), ""),
        owners=tuple(sorted(owners)),
        status="final" if all(share.status == "final" for share in shares) else "estimated",
        shares=tuple(shares),
        attempts=tuple(attempts),
        totals=tuple(added(replace(line, workload="") for line in lines)),
        teams=tuple(sorted(teams)),
        decided=tuple(
            one for one in decided_about(project, ids, workloads[0]["run"]) if not period or one.period == str(period)
        ),
        views=tuple((currency, views) for currency, rows in sorted(held.items()) for views in views_of(rows)),
    )


def find_job(project: Project, what: str) -> ClusterJob:
    """By its exact name, else by the id that the scheduler writes."""
    found = jobs_named(project, what)
    if len(found) > 1:
        raise ambiguous_job(known_jobs(project, found[0].run), what, [job.name for job in found], COMMAND)
    return found[0] if found else job_called(project, what)


def job_called(project: Project, short: str) -> ClusterJob:
    jobs = known_jobs(project, short)
    runs = runs_called(jobs, short)
    if len(runs) > 1:
        raise ambiguous_job(jobs, short, runs, COMMAND)
    if not runs:
        raise unknown_job(jobs, short)
    return jobs_named(project, runs[0])[0]


def once(rows: pa.Table) -> list[dict[str, Any]]:
    """Each workload as the engine takes it, however many sources saw it; from when the first saw it until the last did."""
    times = rows.group_by("workload").aggregate([("start_s", "min"), ("end_s", "max")])
    seen = {row["workload"]: {"start_s": row["start_s_min"], "end_s": row["end_s_max"]} for row in times.to_pylist()}
    return [row | seen[row["workload"]] for row in unite(rows).drop_columns("labels").to_pylist()]


def unknown_job(known: pa.Table, what: str) -> ProjectError:
    names = sorted({*known["run"].to_pylist(), *known["workload"].to_pylist()})
    alike = [name for name in names if what in name or name.startswith(what[:4])] or names
    close = get_close_matches(what, alike[:20_000], n=NEAREST, cutoff=0.5)
    hint = (
        f"nearest: {', '.join(close)}"
        if close
        else "run `apportion ingest` first"
        if not names
        else "give a job id or run id as the scheduler writes it"
    )
    return ProjectError("unknown-job", f"there is no job or run {what!r}", hint=hint)


def months_of(project: Project, job: ClusterJob, workloads: list[dict[str, Any]]) -> list[str]:
    """The months that the run touches, and later ones that charged it (a bill that came late)."""
    charged = job.charged(project)["period"].to_pylist()
    touched: set[str] = set()
    for row in workloads:
        month, last = (datetime.fromtimestamp(row[key], UTC).strftime("%Y-%m") for key in ("start_s", "end_s"))
        while month <= last:
            touched.add(month)
            month = str(parse_period(month).next)
    return sorted({*touched, *charged})


@dataclass(frozen=True, slots=True)
class Figures:
    """The postings of one month, and the charges of every owner that the job has there."""

    share: Share
    postings: pa.Table | None
    charges: pa.Table


def planned(project: Project) -> Callable[[str], pa.Table]:
    return lambda month: project.books.posted(month, kinds=[PLAN])


def figures(project: Project, month: str, ids: list[str], step: Step, posted: Callable[[str], pa.Table]) -> Figures:
    """The ledger's where the month is posted, else those of a plan made now."""
    every = project.books.runs()
    if corrections_of(every, month):
        return corrected(project, month, ids, every, step)
    runs = [run for run in every if run.kind == PLAN and run.period == month]
    if runs:
        plan = project.books.load_plan(month)
        moved = plan is not None and plan.digest != runs[-1].plan_digest
        basis = basis_of(policy_of_version(project, runs[-1].policy_version))
        share = (
            Share(month, "estimated", "posted, but a later plan says otherwise", basis)
            if moved
            else Share(month, "final", "posted", basis)
        )
        return Figures(share, posted(month), posted_charges(project, month, ids))
    period = parse_period(month)
    try:
        policy = policy_for(project, period)
        made = compute(project, period, policy, pins_of(project), step).plan
    except ProjectError as error:
        if error.code not in NO_FIGURES:
            raise
        return Figures(Share(month, "estimated", f"{error.message}: nothing is counted"), None, CHARGES.empty_table())
    charges = pa.Table.from_batches(charges_of(made), schema=CHARGES)
    return Figures(Share(month, "estimated", "not posted yet", basis_of(policy)), made.postings, charges)


def corrected(project: Project, month: str, ids: list[str], runs: Sequence[StoredRun], step: Step) -> Figures:
    """As it stands now; what is planned since and not posted makes it an estimate, as in any month."""
    last = corrections_of(runs, month)[-1]
    plan = project.books.load_plan(month)
    basis = basis_of(policy_of_version(project, last.policy_version))
    moved = plan is not None and plan.digest != last.plan_digest
    history = tuple(f"corrected in {run.period}: {run.cause}" for run in corrections_of(runs, month))
    status, why = (
        ("estimated", "corrected, but a later plan says otherwise") if moved else ("final", "posted and corrected")
    )
    charges = standing_charges(project, month, runs, posted_charges(project, month, ids), step)
    own = own_charges(charges, ids)
    same = pc.and_(pc.is_in(charges["team"], pc.unique(own["team"])), pc.is_in(charges["user"], pc.unique(own["user"])))
    return Figures(Share(month, status, why, basis, history), project.books.believed(month), charges.filter(same))


def posted_charges(project: Project, month: str, ids: list[str]) -> pa.Table:
    here = pc.field("period") == month
    own = project.books.scan("charges", columns=["team", "user"], where=here & pc.field("workload").isin(ids))
    same = pc.field("team").isin(pc.unique(own["team"])) & pc.field("user").isin(pc.unique(own["user"]))
    return project.books.scan("charges", where=here & same)


def outcomes_of(project: Project, ids: list[str]) -> dict[str, str]:
    rows = project.books.scan("workloads", where=pc.field("workload").isin(plain_ids(ids)))
    rows = unite(rows_named(rows, pa.array(sorted(set(ids)), pa.string())))
    return dict(zip(rows["workload"].to_pylist(), rows["outcome"].to_pylist(), strict=True))


def owners_of(charges: pa.Table, ids: list[str]) -> set[str]:
    own = own_charges(charges, ids).select(["team", "project", "user"])
    return {"/".join(filter(None, row.values())) for row in own.to_pylist()}


def own_charges(charges: pa.Table, ids: list[str]) -> pa.Table:
    return charges.filter(pc.is_in(charges["workload"], pa.array(ids)))


def added(lines: Iterable[JobLine]) -> list[JobLine]:
    """Lines of the same workload and currency as one."""
    groups: dict[tuple[str, str], list[JobLine]] = {}
    for line in lines:
        groups.setdefault((line.workload, line.currency), []).append(line)
    figures = ("direct", "idle", "overhead", "credits", "adjustments", "unshared_idle")
    return [
        replace(
            JobLine(workload, currency, *(_sum(some, name) for name in figures)),
            waste=_sum(some, "waste") if any(line.waste is not None for line in some) else None,
        )
        for (workload, currency), some in groups.items()
    ]


def _sum(lines: list[JobLine], name: str) -> Decimal:
    return total(getattr(line, name) or Decimal(0) for line in lines)
