"""Post a plan that was shown: its differences to what is posted, in one transaction. Refused if anything moved since the plan."""

import hashlib
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import Run, StoredPlan
from apportion.engine.charges import charges_of
from apportion.engine.plan import Plan
from apportion.errors import BooksError, require_equal
from apportion.model.result import Result
from apportion.model.rows import POSTING_KEY, POSTINGS
from apportion.model.times import Period
from apportion.render.sheet import Sheet, sheet_of
from apportion.reports.words import counted
from apportion.verbs.agreement import policy_for
from apportion.verbs.correct import correction
from apportion.verbs.corrections import runs_of
from apportion.verbs.plan import compute
from apportion.verbs.project import Project
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import Pins, known_month, pins_of, policy_of_month


@dataclass(frozen=True, slots=True, repr=False)
class Applied(Result):
    """`posted` is False where there was nothing left to post. `booked` is the month that holds the entries: another one where the month is closed."""

    period: str
    booked: str
    run_id: str
    posted: bool
    entries: int
    head: str
    digest: str


def apply(
    project: Project,
    period: Period | str | None = None,
    run_id: str | None = None,
    step: Step = silent,
    made: Plan | None = None,
) -> Applied:
    """Post the plan that was shown: the differences to what is posted. Refused if inputs, policy or ledger moved since.

    `run_id` is your own name for the run, which posts once.
    `made` is the plan where the caller has just computed it; otherwise it is computed again from what it was pinned to.
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
    if done is not None:
        return done
    refuse_moved(project, plan, period)
    made = made or recompute(project, period, plan, step)
    require_equal(f"the plan of {period}, computed again", plan.digest, made.digest)
    step(f"posting {period}", 0, 0)
    late = difference(plan.postings, project.books.believed(plan.period))
    if project.books.closed_by(plan.period) is None:
        run = whole_run(plan, late, made, run_id)
    elif late.num_rows:
        run = correction(project, plan, late, run_id)
    else:
        return nothing_left(project, plan, "")
    posted = project.books.post(run)
    return Applied(plan.period, run.period, posted.run_id, posted.posted, posted.entries, posted.head, plan.digest)


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


def difference(planned: pa.Table, posted: pa.Table) -> pa.Table:
    """What must be added to `posted` to make it `planned`; zero rows are left out."""
    columns = [*POSTING_KEY, "amount"]
    taken = posted.select(columns).set_column(len(POSTING_KEY), POSTINGS.field("amount"), pc.negate(posted["amount"]))
    both = pa.concat_tables([planned.select(columns).cast(POSTINGS), taken.cast(POSTINGS)])
    summed = both.group_by(list(POSTING_KEY)).aggregate([("amount", "sum")]).rename_columns(columns).cast(POSTINGS)
    kept = summed.filter(pc.not_equal(summed["amount"], pa.scalar(0, POSTINGS.field("amount").type)))
    return kept.sort_by([(key, "ascending") for key in POSTING_KEY])


def said(one: Applied) -> str:
    entries = counted(one.entries, "entry", "entries")
    if not one.posted:
        return f"Nothing to post for {one.period}: this plan is posted already."
    if one.booked == one.period:
        return f"Posted {entries} for {one.period}."
    return f"{one.period} is closed: posted {entries} as a correction of it in {one.booked}."


@sheet_of.register
def applied_sheet(one: Applied) -> Sheet:
    return Sheet(said(one), value=one, notes=(f"ledger head {one.head}",))
