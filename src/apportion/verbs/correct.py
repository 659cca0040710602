"""What is late for a closed month: booked in the next open one, as the difference to all that was believed of it before.

The month is computed again under the policy that it was closed with, so only what was delivered since can make a difference.
"""

import hashlib

import pyarrow as pa

from apportion.books.shapes import COMPUTED, CORRECTION, Run, StoredPlan
from apportion.model.rows import BILL_DAYS, POSTINGS
from apportion.model.times import Period, parse_period
from apportion.verbs.project import Project

DAY_KEY = [name for name in BILL_DAYS.names if name != "amount"]


def open_after(project: Project, period: Period) -> Period:
    """The first month after it and after all that are closed: nothing is booked before a closed month, in one that had no bill either."""
    return parse_period(max([str(period), *project.books.closed_periods()])).next


def correction(project: Project, plan: StoredPlan, difference: pa.Table, run_id: str | None) -> Run:
    booked = str(open_after(project, parse_period(plan.period)))
    place = POSTINGS.names.index("period")
    own = hashlib.sha256(f"{plan.digest} {plan.head}".encode()).hexdigest()[:24]
    return Run(
        run_id=run_id or f"{booked}-{plan.period}-{own}",
        period=booked,
        plan_digest=plan.digest,
        policy_version=plan.policy_version,
        inputs=plan.inputs,
        postings=difference.set_column(place, POSTINGS.field(place), pa.repeat(pa.scalar(booked), len(difference))),
        bill_days=by_day(difference),
        expected_head=plan.head,
        engine=str(plan.summary.get("engine", "duckdb")),
        kind=CORRECTION,
        about=plan.period,
        cause=cause_of(project, plan),
    )


def by_day(postings: pa.Table) -> pa.Table:
    """By how much each bill changes, per day and component."""
    sums = postings.group_by(DAY_KEY).aggregate([("amount", "sum")])
    return (
        sums.select([*DAY_KEY, "amount_sum"])
        .rename_columns([*DAY_KEY, "amount"])
        .select(BILL_DAYS.names)
        .cast(BILL_DAYS)
    )


def cause_of(project: Project, plan: StoredPlan) -> str:
    """Which evidence is another than that of the run before."""
    runs = [run for run in project.books.runs() if run.kind in COMPUTED and (run.about or run.period) == plan.period]
    changed = sorted(name for name, at in plan.inputs.items() if runs and runs[-1].inputs.get(name) != at)
    return f"delivered after {plan.period} was closed: {', '.join(name.replace('_', ' ') for name in changed)}"
