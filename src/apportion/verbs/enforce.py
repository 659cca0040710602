"""Holds a scheduler to the policy's quotas: a plan is shown first, applied as it was shown, and can be undone."""

from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from zoneinfo import ZoneInfo

from apportion.engine.workloads import owner_of
from apportion.errors import ApportionError, ProjectError
from apportion.model.times import Interval, Period, day_start
from apportion.policy.document import Policy
from apportion.policy.quotas import Quota
from apportion.reports.quotas import Used, figure
from apportion.reports.words import counted
from apportion.sources.outside.command import COMMAND_SETTINGS, Shell
from apportion.sources.settings import Stanza
from apportion.verbs.agreement import policy_for
from apportion.verbs.asked import today_of
from apportion.verbs.enforcing.kept import DEED, keep_plan, kept_plan, standing_plans
from apportion.verbs.enforcing.planning import Plan, is_done, is_due, plan_of_text, planned, undoing
from apportion.verbs.enforcing.slurm import Standing, ask, carry_out
from apportion.verbs.project import Project
from apportion.verbs.settings import nearest
from apportion.verbs.standing import standing
from apportion.verbs.steps import Step, silent

SLURM = "slurm"


@dataclass(frozen=True, slots=True)
class Enforced:
    """What was done of a plan; `there` are changes that stood already."""

    plan: Plan
    done: int
    there: int


def enforce(
    project: Project, source: str = "", demote: str = "", today: date | None = None, step: Step = silent
) -> Plan:
    """Hold teams to their quotas: what would be changed in Slurm; nothing is. The plan is kept under its digest for `apply_enforcement`."""
    day = today or today_of(project)
    policy = policy_for(project, Period(day.year, day.month))
    now = ask(shell_of(project, source))
    counts = standing(project, day, step)
    held, passed = enforceable(policy, counts, day)
    made = planned(held, accounts_of(policy, now, day), now, day, demote)
    return keep(project, Plan(made.cluster, made.changes, made.rungs, (*passed, *below(held), *made.warnings)))


def undo_enforcement(project: Project, source: str = "") -> Plan:
    """What would put back all that was set before the first plan that was applied since the last time it was undone."""
    now = ask(shell_of(project, source))
    return keep(project, undoing(applied(project, now.cluster), now))


def apply_enforcement(project: Project, digest: str, source: str = "") -> Enforced:
    """Set limits in Slurm: exactly the plan of that digest. Refused where something that it changes is neither as it was nor as it shall be."""
    plan = kept(project, digest)
    shell = shell_of(project, source)
    now = ask(shell)
    due = [change for change in plan.changes if not is_done(change, now)]
    refuse_moved(plan, now)
    if not due:
        return Enforced(plan, 0, len(plan.changes))
    what = "undone by" if plan.undo else "held to quotas by"
    project.books.noted(DEED, f"{SLURM} {plan.cluster}: {what} plan {digest}, {counted(len(due), 'change')}")
    for number, change in enumerate(due):
        try:
            carry_out(shell, change)
        except ApportionError as error:
            project.books.noted(
                DEED,
                f"{SLURM} {plan.cluster}: stopped after {number} of {len(due)} changes of plan {digest}",
                error.message,
            )
            error.hint = (
                f"{number} of {len(due)} changes are made: plan again, or put all back with `apportion enforce --undo`"
            )
            raise
    return Enforced(plan, len(due), len(plan.changes) - len(due))


def refuse_moved(plan: Plan, now: Standing) -> None:
    moved = [change for change in plan.changes if not is_done(change, now) and not is_due(change, now)]
    if plan.cluster != now.cluster:
        raise ProjectError(
            "plan-outdated",
            f"the plan is for cluster {plan.cluster}, and this is {now.cluster}",
            hint="name its source",
        )
    if moved:
        raise ProjectError(
            "plan-outdated",
            f"{moved[0].kind} {moved[0].name} was changed since plan {plan.digest} was made",
            hint="run `apportion enforce` again and look at the new plan",
        )


def shell_of(project: Project, source: str) -> Shell:
    """Where Slurm's commands are: as a source of kind slurm says, else here."""
    stated = [one for one in project.sources if one.kind == SLURM]
    if source and source not in [one.name for one in stated]:
        names = [one.name for one in stated]
        raise ProjectError(
            "unknown-source", f"{source!r} is no source of kind slurm", hint=nearest(source, names, "sources")
        )
    if not source and len(stated) > 1:
        raise ProjectError(
            "ambiguous-source", "there are several clusters", hint=f"name one: --source {stated[0].name}"
        )
    chosen = next((one for one in stated if source in ("", one.name)), None)
    if chosen is None:
        return Shell("this machine")
    settings = {key: value for key, value in chosen.settings.items() if key in COMMAND_SETTINGS}
    return Shell.of(Stanza(settings, chosen.where))


def enforceable(policy: Policy, counts: tuple[Used, ...], day: date) -> tuple[list[Used], list[str]]:
    """Quotas in GPU-hours of whole teams that the policy gives to Slurm; of the others it gives, why they are not."""
    held, passed = [], []
    for quota, used in zip([one for one in policy.quotas if one.holds_on(day)], counts, strict=True):
        if quota.enforce != SLURM:
            continue
        why = unfit(quota)
        if why:
            passed.append(f"{used.limit.owner}: its quota of {used.limit.what} is not enforced: {why}")
        else:
            held.append(replace(used, moved=replace(used.moved, pending=Fraction(0))))  # those jobs count there
    return held, passed


def unfit(quota: Quota) -> str:
    if quota.meter != "gpu" or quota.hours is None:
        return "Slurm is told GPU-hours alone"
    if quota.pool:
        return "a limit on a pool's type of GPU is passed by asking for no type"
    if quota.department or quota.kind == "soft":
        return "a department has no QOS" if quota.department else "it is soft"
    return "one QOS is for a whole team" if quota.project or quota.user else ""


def accounts_of(policy: Policy, now: Standing, day: date) -> dict[str, str]:
    """Whose each account is by the owner rules. Rules that ask for more than account and cluster say nothing of an account as a whole."""
    start = day_start(day, ZoneInfo(policy.time_zone))
    found = {}
    for account in now.accounts:
        labels = {"slurm.account": account, "slurm.cluster": now.cluster}
        found[account] = owner_of(labels, policy, Interval(start, start + 1), []).team
    return found


def below(held: list[Used]) -> list[str]:
    """Quotas that are below what is used already: they hold, and nothing fits in them."""
    over = [one for one in held if one.used > one.size]
    return [
        f"{one.limit.owner}: its quota is below what is used already, {figure(one.used)} {one.limit.unit}"
        for one in over
    ]


def keep(project: Project, plan: Plan) -> Plan:
    if plan.changes:
        keep_plan(project, plan.digest, plan.text)
    return plan


def kept(project: Project, digest: str) -> Plan:
    return kept_plan(project, digest, plan_of_text)


def applied(project: Project, cluster: str) -> list[Plan]:
    """Plans whose changes stand, by the audit log: since all was last put back."""
    return standing_plans(project, f"{SLURM} {cluster}: ", plan_of_text)
