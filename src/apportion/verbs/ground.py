"""What a figure rests on, for all who compute a month again: its last run, or what a plan would be now. A server keeps both."""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from apportion.books.shapes import PLAN, StoredRun
from apportion.engine.plan import RULES
from apportion.errors import BooksError
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.verbs.agreement import policy_for, policy_of_version
from apportion.verbs.plan import Computed, compute
from apportion.verbs.project import Project
from apportion.verbs.report import Reading, read_record
from apportion.verbs.rules import rules_of
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import Pins, pins_of, pins_of_run


@dataclass(frozen=True, slots=True)
class Ground:
    """`posted` is None where nothing is posted yet."""

    posted: pa.Table | None
    policy: Policy
    pins: Pins


@dataclass(frozen=True, slots=True)
class Means:
    """How to get at the ground of a month, at the plan that was made on it, and at what is posted."""

    ground: Callable[[Project, Period], Ground]
    compute: Callable[[Project, Period, Policy, Pins], Computed]
    read: Reading = read_record


def ground_of(project: Project, period: Period) -> Ground:
    runs = [run for run in project.books.runs(PLAN) if run.period == str(period)]
    if not runs:
        return Ground(None, policy_for(project, period), pins_of(project))
    last = runs[-1]
    refuse_other_rules(last, period)
    return Ground(
        project.books.posted(str(period), kinds=[PLAN]),
        policy_of_version(project, last.policy_version),
        pins_of_run(project, last),
    )


def afresh(step: Step = silent) -> Means:
    """Read and computed now."""
    return Means(ground_of, lambda project, period, policy, pins: compute(project, period, policy, pins, step))


def refuse_other_rules(run: StoredRun, period: Period) -> None:
    """Figures of an earlier release may differ by its rules; that is not the record's fault."""
    if rules_of(run) != RULES:
        raise BooksError(
            "engine-changed",
            f"{period} was posted by rules {rules_of(run)} of the engine; this release has {RULES} and cannot compute it again",
            hint=f"`apportion explain` tells it from the charges kept then; an open month: apportion plan --period {period}, then apply",
        )
