"""Take decisions of more than is left down to what is left: with a reason, once for each of them."""

from apportion.errors import ProjectError
from apportion.model.times import Period
from apportion.verbs.agreement import policy_for
from apportion.verbs.decisions import lowered_run
from apportion.verbs.plan import compute, decisions_after
from apportion.verbs.project import Project
from apportion.verbs.steps import Step, silent
from apportion.verbs.transfers import desk_of
from apportion.verbs.world import known_month, pins_of


def lower(project: Project, period: Period | str | None, why: str, step: Step = silent) -> tuple[str, ...]:
    """Those of a month whose amount is larger than what is left of it as it is planned now. Moves nothing: `apply` does, and is not stopped by them."""
    if not why.strip():
        raise ProjectError(
            "no-reason", "taking a decision down needs a reason", hint="say why, for those who ask later"
        )
    period = known_month(project, period)
    policy = policy_for(project, period)
    made = compute(project, period, policy, pins_of(project), step).plan
    large = [one.decision for one in decisions_after(project, made, policy, step) if one.left is not None]
    for one in large:
        project.books.transfer(*lowered_run(desk_of(project, period), one, why))
    return tuple(one.text for one in large)
