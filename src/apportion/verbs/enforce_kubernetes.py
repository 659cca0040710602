"""Holds a cluster of Kubernetes to the policy's quotas, as `enforce` holds Slurm: a plan is shown first, applied as it was shown, and can be undone."""

import json
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

from apportion.engine.workloads import owner_of
from apportion.errors import ApportionError, ProjectError
from apportion.model.times import Interval, Period, day_start
from apportion.policy.document import Policy
from apportion.policy.quotas import Quota
from apportion.reports.quotas import Used
from apportion.reports.words import counted
from apportion.verbs.agreement import policy_for
from apportion.verbs.asked import today_of
from apportion.verbs.enforce import below
from apportion.verbs.enforcing import cluster, manifests
from apportion.verbs.enforcing.kept import DEED, keep_plan, kept_plan, standing_plans
from apportion.verbs.enforcing.manifests import RESOURCES, Cluster, ClusterPlan, is_at, plan_of_text, planned, undoing
from apportion.verbs.files import put
from apportion.verbs.project import Project
from apportion.verbs.settings import Source, nearest
from apportion.verbs.standing import standing
from apportion.verbs.steps import Step, silent

KUBERNETES, KUEUE = "kubernetes", "kueue"


@dataclass(frozen=True, slots=True)
class Done:
    """What was done of a plan; `there` are changes that stood already."""

    plan: ClusterPlan
    done: int
    there: int


def enforce_kubernetes(
    project: Project, source: str = "", flavour: str = "", today: date | None = None, step: Step = silent
) -> ClusterPlan:
    """Hold teams to their quotas: what would be changed in the cluster; nothing is. The plan is kept under its digest for `apply_kubernetes`."""
    day = today or today_of(project)
    policy = policy_for(project, Period(day.year, day.month))
    now = standing_of(project, source_of(project, source), policy, day)
    holding = [one for one in policy.quotas if one.holds_on(day)]
    pairs = list(zip(holding, standing(project, day, step), strict=True))
    held = {name: enforced(pairs, name) for name in (KUBERNETES, KUEUE)}
    passed = [
        f"{used.limit.owner}: its quota of {used.limit.what} is not enforced: {why}"
        for quota, used in pairs
        if quota.enforce in held and (why := unfit(quota))
    ]
    made = planned(held[KUBERNETES], held[KUEUE], now, day, flavour)
    warnings = (*passed, *below([*held[KUBERNETES], *held[KUEUE]]), *made.warnings)
    return keep(project, replace(made, warnings=warnings))


def undo_kubernetes(project: Project, source: str = "") -> ClusterPlan:
    """What would put back all that was set before the first plan that was applied since the last time it was undone."""
    now = standing_of(project, source_of(project, source), project.policy, today_of(project))
    plans = standing_plans(project, f"{KUBERNETES} {now.name}: ", plan_of_text)
    return keep(project, undoing(plans, now))


def apply_kubernetes(project: Project, digest: str, source: str = "") -> Done:
    """Set limits in the cluster: exactly the plan of that digest. Refused where something that it changes is neither as it was nor as it shall be."""
    plan = kept_plan(project, digest, plan_of_text)
    chosen = source_of(project, source)
    now = standing_of(project, chosen, project.policy, today_of(project))
    due = [change for change in plan.changes if not is_at(change, now, change.after)]
    refuse_moved(plan, now)
    if not due:
        return Done(plan, 0, len(plan.changes))
    what = "undone by" if plan.undo else "held to quotas by"
    head = f"{KUBERNETES} {plan.cluster}"
    with cluster.writing(chosen.settings, project.folder) as writer:
        project.books.noted(DEED, f"{head}: {what} plan {digest}, {counted(len(due), 'change')}")
        for number, change in enumerate(due):
            try:
                writer.carry_out(change)
            except ApportionError as error:
                stopped = f"{head}: stopped after {number} of {len(due)} changes of plan {digest}"
                project.books.noted(DEED, stopped, error.message)
                again = f"{number} of {len(due)} changes are made: plan again, or put all back with --undo"
                error.hint = f"{error.hint}; {again}" if error.hint else again
                raise
    return Done(plan, len(due), len(plan.changes) - len(due))


def write_manifests(plan: ClusterPlan, file: Path) -> None:
    """The objects of a plan, whole, for `kubectl apply -f`."""
    put(file, (json.dumps(cluster.listing(plan.changes, plan.kueue), indent=2) + "\n").encode())


def refuse_moved(plan: ClusterPlan, now: Cluster) -> None:
    if plan.cluster != now.name:
        raise ProjectError(
            "plan-outdated", f"the plan is for cluster {plan.cluster}, and this is {now.name}", hint="name its source"
        )
    moved = [one for one in plan.changes if not is_at(one, now, one.after) and not is_at(one, now, one.before)]
    if moved:
        raise ProjectError(
            "plan-outdated",
            f"{moved[0].kind} {moved[0].name} was changed since plan {plan.digest} was made",
            hint="run `apportion enforce --to kubernetes` again and look at the new plan",
        )


def standing_of(project: Project, source: Source, policy: Policy, day: date) -> Cluster:
    moment, how, versions = cluster.read(source.settings, project.folder)
    start = day_start(day, ZoneInfo(policy.time_zone))
    owners = {
        name: owner_of(labels, policy, Interval(start, start + 1), []).team
        for name, labels in cluster.labels_of(moment, how).items()
    }
    kueue = versions.get(manifests.CLUSTER_QUEUE) or "v1beta1"
    return Cluster(how.cluster, owners, cluster.specs_of(moment), kueue, cluster.flavours_of(moment))


def enforced(pairs: list[tuple[Quota, Used]], name: str) -> list[Used]:
    """Without what is reserved: those jobs are to run there."""
    mine = [used for quota, used in pairs if quota.enforce == name and not unfit(quota)]
    return [replace(one, moved=replace(one.moved, pending=Fraction(0))) for one in mine]


def unfit(quota: Quota) -> str:
    if quota.department or quota.project or quota.user:
        return "namespaces and queues are of whole teams"
    if quota.meter not in RESOURCES or quota.money is not None or quota.pool:
        return "Kubernetes is told of gpu, cpu, memory and storage as such"
    if quota.enforce == KUEUE:
        return "Kueue queues no storage" if quota.meter == "storage" else ""
    return "it is soft" if quota.kind == "soft" else ""


def source_of(project: Project, name: str) -> Source:
    stated = [one for one in project.sources if one.kind == KUBERNETES]
    names = [one.name for one in stated]
    if name and name not in names:
        raise ProjectError(
            "unknown-source", f"{name!r} is no source of kind kubernetes", hint=nearest(name, names, "sources")
        )
    if not stated:
        raise ProjectError(
            "unknown-source",
            "no source of kind kubernetes says where the cluster is",
            hint="add one to apportion.toml: see docs/how-to/read-kubernetes-objects.md",
        )
    if not name and len(stated) > 1:
        raise ProjectError("ambiguous-source", "there are several clusters", hint=f"name one: --source {names[0]}")
    return next(one for one in stated if name in ("", one.name))


def keep(project: Project, plan: ClusterPlan) -> ClusterPlan:
    if plan.changes:
        keep_plan(project, plan.digest, plan.text)
    return plan
