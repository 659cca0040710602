"""Post a plan that was shown: its differences to what is posted, in one transaction. Refused if anything moved since the plan."""

import hashlib
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.open import Run, StoredPlan
from apportion.errors import BooksError
from apportion.model.rows import POSTING_KEY, POSTINGS
from apportion.model.times import Period
from apportion.verbs.agreement import policy_for
from apportion.verbs.project import Project


@dataclass(frozen=True, slots=True)
class Applied:
    """`posted` is False where this very run was posted before: nothing was written twice."""

    period: str
    run_id: str
    posted: bool
    entries: int
    head: str
    digest: str


def apply(project: Project, period: Period, run_id: str | None = None) -> Applied:
    plan = project.books.load_plan(str(period))
    if plan is None:
        raise BooksError(
            "no-plan",
            f"there is no plan for {period}",
            hint=f"run `apportion plan --period {period}` and look at it first",
        )
    run_id = run_id or run_id_of(plan)
    known = {run.run_id: run for run in project.books.runs()}
    if run_id not in known:
        refuse_moved(project, plan, period)
    posted = project.books.post(
        Run(
            run_id=run_id,
            period=plan.period,
            plan_digest=plan.digest,
            policy_version=plan.policy_version,
            inputs=plan.inputs,
            postings=difference(plan.postings, project.books.posted(plan.period)),
            bill_days=plan.bill_days,
            expected_head=plan.head,
            charges=None,
            engine=str(plan.summary.get("engine", "duckdb")),
        )
    )
    return Applied(plan.period, posted.run_id, posted.posted, posted.entries, posted.head, plan.digest)


def run_id_of(plan: StoredPlan) -> str:
    """The same plan on the same ledger is the same run, whoever submits it and however often."""
    return f"{plan.period}-{hashlib.sha256(f'{plan.digest} {plan.head}'.encode()).hexdigest()[:24]}"


def refuse_moved(project: Project, plan: StoredPlan, period: Period) -> None:
    again = f"run `apportion plan --period {period}` again"
    pins = {name: version.snapshot_id for name, version in project.books.inputs().items()}
    moved = sorted(name for name in {*pins, *plan.inputs} if pins.get(name) != plan.inputs.get(name))
    if moved:
        raise BooksError("inputs-moved", f"{', '.join(moved)} changed since the plan for {period} was made", hint=again)
    policy = policy_for(project, period)
    if policy.version != plan.policy_version:
        raise BooksError(
            "policy-moved", f"the policy changed since the plan for {period} was made", where=policy.file, hint=again
        )
    if project.books.head() != plan.head:
        raise BooksError("head-moved", f"something was posted since the plan for {period} was made", hint=again)


def difference(planned: pa.Table, posted: pa.Table) -> pa.Table:
    """What must be added to `posted` to make it `planned`; zero rows are left out."""
    columns = [*POSTING_KEY, "amount"]
    taken = posted.select(columns).set_column(len(POSTING_KEY), POSTINGS.field("amount"), pc.negate(posted["amount"]))
    both = pa.concat_tables([planned.select(columns).cast(POSTINGS), taken.cast(POSTINGS)])
    summed = both.group_by(list(POSTING_KEY)).aggregate([("amount", "sum")]).rename_columns(columns).cast(POSTINGS)
    kept = summed.filter(pc.not_equal(summed["amount"], pa.scalar(0, POSTINGS.field("amount").type)))
    return kept.sort_by([(key, "ascending") for key in POSTING_KEY])
