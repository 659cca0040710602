"""A month that an earlier release posted, told from its postings and the charges kept with them: its rules are gone, so nothing is computed again."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import PLAN
from apportion.engine.plan import RULES
from apportion.errors import ProjectError
from apportion.model.rows import POSTING_KEY
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.reports.sums import grouped, total
from apportion.reports.words import counted, shown
from apportion.verbs.agreement import policy_of_version
from apportion.verbs.explaining.clauses import clause
from apportion.verbs.explaining.story import Node
from apportion.verbs.explaining.target import KINDS, Target, postings_named
from apportion.verbs.job_clusters import jobs_named
from apportion.verbs.job_names import ambiguous_job, full_ids, known_jobs
from apportion.verbs.project import Project
from apportion.verbs.rules import rules_of

FEW = 5  # jobs that are named
OF_USE = ("usage", "burst")


def posted_rules(project: Project, period: Period) -> str:
    """The rules that the month was last posted by, where they are not those of this release; else ""."""
    runs = [run for run in project.books.runs(PLAN) if run.period == str(period)]
    return rules_of(runs[-1]) if runs and rules_of(runs[-1]) != RULES else ""


def posted_policy(project: Project, period: Period) -> Policy:
    runs = [run for run in project.books.runs(PLAN) if run.period == str(period)]
    return policy_of_version(project, runs[-1].policy_version)


def kept_target(project: Project, what: str, period: Period, rows: pa.Table) -> Target:
    """Among what is posted, and the jobs that charges were kept of."""
    kind, colon, name = what.partition(":")
    exact = bool(colon) and kind in KINDS
    found = [
        target
        for known in ((kind,) if exact else KINDS)
        for target in kept_candidates(project, known, name if exact else what, period, rows)
    ]
    if not found and (kind == "job" or not exact):
        found = jobs_called(project, name if exact else what, period, rows)
    if not found:
        raise ProjectError(
            "unknown-figure",
            f"{what!r} is no team, pool, job or posting of {period}",
            hint="the month was posted by an earlier release: it is told from what is posted and the charges kept with it",
        )
    return replace(found[0], also=tuple(f"{other.kind}:{other.name}" for other in found[1:]))


def jobs_called(project: Project, short: str, period: Period, rows: pa.Table) -> list[Target]:
    """By the id that the scheduler writes; there must not be two."""
    jobs = known_jobs(project, short)
    named = [job.name for job in jobs_named(project, short)]
    full = named if len(named) > 1 else full_ids(jobs, short)
    found = [one for name in full for one in kept_candidates(project, "job", name, period, rows)]
    if len(found) > 1:
        raise ambiguous_job(jobs, short, [one.name for one in found], f"apportion explain job:JOB --period {period}")
    return found


def kept_candidates(project: Project, kind: str, name: str, period: Period, rows: pa.Table) -> Iterator[Target]:
    if kind in ("team", "pool"):
        if name in set(rows[kind].to_pylist()):
            yield Target(kind, name)
    elif kind == "job":
        found = [job for job in jobs_named(project, name) if len(job.charged(project, str(period)))]
        if len(found) == 1:
            workloads = pc.unique(found[0].charged(project, str(period))["workload"]).to_pylist()
            yield Target(kind, name, workloads=tuple(sorted(workloads)))
    else:
        yield from postings_named(project, name, period)


def charges_kept(project: Project, period: Period, where: pc.Expression) -> pa.Table:
    return project.books.scan("charges", where=(pc.field("period") == str(period)) & where)


def kept_sums(project: Project, target: Target, period: Period, rows: pa.Table) -> Mapping[str, Decimal]:
    """What the target comes to, by currency."""
    if target.kind != "job":
        return {currency: amount for (currency,), amount in grouped(target.pick(rows), ("currency",)).items()}
    currencies = dict(zip(rows["bill"].to_pylist(), rows["currency"].to_pylist(), strict=True))
    sums: dict[str, list[Decimal]] = {}
    for row in charges_kept(project, period, pc.field("workload").isin(list(target.workloads))).to_pylist():
        sums.setdefault(currencies[row["bill"]], []).append(row["amount"])
    return {currency: total(amounts) for currency, amounts in sorted(sums.items())}


def kept_nodes(project: Project, target: Target, period: Period, rows: pa.Table) -> Iterator[Node]:
    """By pool and reason, with the jobs that the money of use was charged for."""
    policy = posted_policy(project, period)
    charges = charges_of_target(project, target, period)
    if target.kind == "job":
        yield from job_nodes(policy, charges, rows)
        return
    mine = target.pick(rows)
    by = ("pool", "currency", "reason") if target.kind == "team" else ("team", "currency", "reason")
    for (name, currency, reason), amount in grouped(mine, by).items():
        if not amount:
            continue
        here = charges.filter(pc.equal(charges[by[0]], name)) if reason in OF_USE else charges[:0]
        said = (
            (clause(policy, f"shared by {policy.pools[name].method.replace('_', ' ')}", "pools", name),)
            if by[0] == "pool" and name in policy.pools
            else ()
        )
        yield Node(
            f"{name or 'no pool'}: {shown(amount, currency)} of {reason}",
            {by[0]: name, "reason": reason, "amount": amount, "currency": currency},
            (*said, *work_nodes(here, currency, rows)),
        )


def charges_of_target(project: Project, target: Target, period: Period) -> pa.Table:
    if target.kind == "job":
        return charges_kept(project, period, pc.field("workload").isin(list(target.workloads)))
    if target.kind == "posting":
        key = dict(zip(POSTING_KEY, target.key, strict=True))
        where = pc.scalar(key["reason"] in OF_USE)
        for name in ("bill", "component", "pool", "day", "team", "project", "user"):
            where &= pc.field(name) == pc.scalar(key[name])
        return charges_kept(project, period, where)
    return charges_kept(project, period, pc.field(target.kind) == target.name)


def work_nodes(charges: pa.Table, currency: str, rows: pa.Table) -> Iterator[Node]:
    """The jobs behind an amount, the largest first."""
    bills = pa.array(
        {row["bill"] for row in rows.select(["bill", "currency"]).to_pylist() if row["currency"] == currency}
    )
    mine = charges.filter(pc.is_in(charges["bill"], bills.cast(pa.string())))
    sums = sorted(grouped(mine, ("workload",)).items(), key=lambda item: (-item[1], item[0]))
    if not sums:
        return
    named = ", ".join(f"{workload or 'unnamed'} {shown(amount, currency)}" for (workload,), amount in sums[:FEW])
    more = f" and {len(sums) - FEW} more" if len(sums) > FEW else ""
    facts: dict[str, object] = {"jobs": len(sums), "charges": len(mine)}
    yield Node(f"{counted(len(mine), 'kept charge')} of {counted(len(sums), 'job')}: {named}{more}", facts)


def job_nodes(policy: Policy, charges: pa.Table, rows: pa.Table) -> Iterator[Node]:
    currencies = dict(zip(rows["bill"].to_pylist(), rows["currency"].to_pylist(), strict=True))
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in charges.to_pylist():
        groups.setdefault((row["pool"], currencies[row["bill"]]), []).append(row)
    for (pool, currency), some in sorted(groups.items()):
        amount = total(row["amount"] for row in some)
        owners = sorted({"/".join(filter(None, (row["team"], row["project"], row["user"]))) for row in some})
        days = len({row["day"] for row in some})
        text = f"{pool}: {shown(amount, currency)} in {counted(len(some), 'kept charge')} on {counted(days, 'day')}, of {', '.join(owners)}"
        said = (
            (clause(policy, f"shared by {policy.pools[pool].method.replace('_', ' ')}", "pools", pool),)
            if pool in policy.pools
            else ()
        )
        yield Node(text, {"pool": pool, "amount": amount, "currency": currency}, said)
