"""Post a plan that was shown: its differences to what is posted, in one transaction. Refused if anything moved since the plan."""

import hashlib
from dataclasses import dataclass, fields, replace

import pyarrow as pa

from apportion.books.shapes import Run, StoredPlan
from apportion.engine.charges import charges_of
from apportion.engine.plan import Plan
from apportion.errors import BooksError, require_equal
from apportion.model.findings import JudgedFinding
from apportion.model.result import Result
from apportion.model.times import Period
from apportion.render.findings import findings_tables
from apportion.render.sheet import Sheet, sheet_of
from apportion.reports.findings import findings_value
from apportion.reports.words import counted
from apportion.verbs.agreement import policy_for
from apportion.verbs.correct import correction
from apportion.verbs.corrections import runs_of
from apportion.verbs.decisions import following
from apportion.verbs.difference import difference
from apportion.verbs.findings import month_findings, refuse_standing
from apportion.verbs.plan import compute, decisions_after
from apportion.verbs.project import Project
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import Pins, known_month, pins_of, policy_of_month


@dataclass(frozen=True, slots=True, repr=False)
class Applied(Result):
    """`posted` is False where there was nothing left to post. `booked` is the month that holds the entries: another one where the month is closed.

    `followed` says which decisions moved another amount.
    """

    period: str
    booked: str
    run_id: str
    posted: bool
    entries: int
    head: str
    digest: str
    followed: tuple[str, ...] = ()
    findings: tuple[JudgedFinding, ...] = ()


def apply(
    project: Project,
    period: Period | str | None = None,
    run_id: str | None = None,
    step: Step = silent,
    made: Plan | None = None,
) -> Applied:
    """Post the plan that was shown: the differences to what is posted. Refused if inputs, policy or ledger moved since.

    Refused, too, while findings touch more than the policy's bound and nobody let them stand (`accept`).
    `run_id` is your own name for the run, which posts once.
    `made` is the plan where the caller has just computed it; otherwise it is computed again from what it was pinned to.
    What people decided of the month follows; refused where an amount is larger than what is left (`lower` takes it down to that).
    """
    period = known_month(project, period)
    plan = project.books.load_plan(str(period))
    if plan is None:
        raise BooksError(
            "no-plan",
            f"there is no plan for {period}",
            hint=f"run `apportion plan --period {period}` and look at it first",
        )
    done = posted_already(project, plan, run_id)
    if done is not None and run_id is not None:
        return done
    refuse_moved(project, plan, period)
    if done is not None:
        return done
    made = made or recompute(project, period, plan, step)
    require_equal(f"the plan of {period}, computed again", plan.digest, made.digest)
    policy = policy_for(project, period)
    judged = month_findings(project, policy, period, made.findings)
    refuse_standing(judged, period)
    step(f"posting {period}", 0, 0)
    late = difference(plan.postings, project.books.believed(plan.period))
    if project.books.closed_by(plan.period) is None:
        run = whole_run(plan, late, made, run_id)
    elif late.num_rows:
        run = correction(project, plan, late, run_id)
    else:
        return replace(nothing_left(project, plan, ""), findings=judged)
    found = decisions_after(project, made, policy, step) if late.num_rows else []
    posted = project.books.post(run, following(project, period, found, run.run_id))
    told = tuple(one.text for one in found) if posted.posted else ()
    return Applied(
        plan.period, run.period, posted.run_id, posted.posted, posted.entries, posted.head, plan.digest, told, judged
    )


def whole_run(plan: StoredPlan, postings: pa.Table, made: Plan, run_id: str | None) -> Run:
    return Run(
        run_id=run_id or run_id_of(plan),
        period=plan.period,
        plan_digest=plan.digest,
        policy_version=plan.policy_version,
        inputs=plan.inputs,
        postings=postings,
        bill_days=plan.bill_days,
        expected_head=plan.head,
        charges=charges_of(made),
        engine=str(plan.summary.get("engine", "duckdb")),
    )


def nothing_left(project: Project, plan: StoredPlan, run_id: str) -> Applied:
    return Applied(
        plan.period, plan.period, run_id, posted=False, entries=0, head=project.books.head(), digest=plan.digest
    )


def posted_already(project: Project, plan: StoredPlan, run_id: str | None) -> Applied | None:
    """The same plan on the same inputs posts once, whoever submits it and however often."""
    runs = runs_of(project.books.runs(), plan.period)
    known = [run for run in runs if run.run_id == (run_id or run_id_of(plan))]
    latest = known[-1:] or [run for run in runs[-1:] if run_id is None and run.plan_digest == plan.digest]
    if not latest:
        return None
    run = latest[0]
    if run.plan_digest != plan.digest:
        raise BooksError(
            "run-conflict",
            f"run {run.run_id} was posted before with other content",
            where=f"period {plan.period}",
            hint="leave --run-id out, or choose a new one for this plan",
        )
    return nothing_left(project, plan, run.run_id)


def run_id_of(plan: StoredPlan) -> str:
    return f"{plan.period}-{hashlib.sha256(f'{plan.digest} {plan.head}'.encode()).hexdigest()[:24]}"


def refuse_moved(project: Project, plan: StoredPlan, period: Period) -> None:
    """The books refuse too, inside their transaction; this says which, before any work."""
    again = f"run `apportion plan --period {period}` again"
    pins = pins_of(project).snapshots
    moved = sorted(name for name in {*pins, *plan.inputs} if pins.get(name) != plan.inputs.get(name))
    if moved:
        raise BooksError("inputs-moved", f"since the plan of {period} was made, {', '.join(moved)} changed", hint=again)
    policy, late = policy_for(project, period), plan.summary.get("late") or {}
    now = {month: policy_of_month(project, month, policy, Pins({})).version for month in late}
    if policy.version != plan.policy_version or now != late:
        raise BooksError(
            "policy-moved", f"since the plan of {period} was made, the policy changed", where=policy.file, hint=again
        )


def recompute(project: Project, period: Period, plan: StoredPlan, step: Step) -> Plan:
    """What is posted is what the evidence says, not what a stored table says; the charges behind it come with it."""
    pins = Pins(plan.inputs, late=plan.summary.get("late"))
    return compute(project, period, policy_for(project, period), pins, step).plan


def said(one: Applied) -> str:
    entries = counted(one.entries, "entry", "entries")
    if not one.posted:
        return f"Nothing to post for {one.period}: this plan is posted already."
    if one.booked == one.period:
        return f"Posted {entries} for {one.period}."
    return f"{one.period} is closed: posted {entries} as a correction of it in {one.booked}."


def notes_of(one: Applied) -> tuple[str, ...]:
    return tuple(f"follows: {text}" for text in one.followed)


@sheet_of.register
def applied_sheet(one: Applied) -> Sheet:
    value = {
        **{field.name: getattr(one, field.name) for field in fields(one)},
        "findings": findings_value(one.findings),
    }
    notes = (*notes_of(one), f"ledger head {one.head}")
    return Sheet(said(one), findings_tables(one.findings), value, notes)
