"""What is late for a closed month: booked in the next open one, as the difference to all that was believed of it before.

The month is computed again under the policy that it was closed with, so only what was delivered since can make a difference.
"""

import hashlib
from collections.abc import Mapping
from zoneinfo import ZoneInfo

import pyarrow as pa

from apportion.books.shapes import CORRECTION, Run, StoredPlan, StoredRun
from apportion.engine.late import summed
from apportion.model.rows import BILL_DAYS, POSTINGS
from apportion.model.times import Interval, Period, parse_period
from apportion.verbs.corrections import runs_of
from apportion.verbs.project import Project

UTC = ZoneInfo("UTC")


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
        bill_days=summed(difference, BILL_DAYS),
        expected_head=plan.head,
        engine=str(plan.summary.get("engine", "duckdb")),
        kind=CORRECTION,
        about=plan.period,
        cause=cause_of(project, plan),
    )


def cause_of(project: Project, plan: StoredPlan) -> str:
    """What makes the difference to the run before: evidence of the month that was delivered since, or the engine's rules."""
    before = runs_of(project.books.runs(), plan.period)[-1]
    found = delivered_since(project, plan.period, plan.inputs, before)
    if found:
        return f"delivered after {plan.period} was closed: {', '.join(found)}"
    engine = str(plan.summary.get("engine"))
    if engine != before.engine:
        return f"computed again by the rules of {engine}, before by those of {before.engine}"
    changed = sorted(name.replace("_", " ") for name, at in plan.inputs.items() if before.inputs.get(name) != at)
    return f"changed after {plan.period} was closed: {', '.join(changed)}"


def delivered_since(project: Project, period: str, inputs: Mapping[str, int], before: StoredRun) -> list[str]:
    """`cost lines (cloud)`: tables of which something was delivered for the month since a run, with the sources that did."""
    changed = sorted(name for name, at in inputs.items() if before.inputs.get(name) != at)
    found = {name: sources_since(project, name, period, before) for name in changed}
    return [f"{name.replace('_', ' ')} ({', '.join(sources)})" for name, sources in found.items() if sources]


def sources_since(project: Project, table: str, period: str, before: StoredRun) -> list[str]:
    """Whoever delivered a table for the month after the state of it that the run rests on; for earlier ones, too, where lines are late for them."""
    late = project.books.plan_summary(before.plan_digest).get("late") or {}
    first = period if table == "cost_lines" else min([period, *late])
    month = Interval(parse_period(first).interval(UTC).start_s, parse_period(period).interval(UTC).end_s)
    found: set[str] = set()
    for row in reversed([row for row in project.books.deliveries() if table in row["tables"]]):
        if project.books.snapshot_of(table, row["delivery_id"]) == before.inputs.get(table):
            break
        if row["start_s"] < month.end_s and row["end_s"] > month.start_s:
            found.add(row["source"])
    return sorted(found)
