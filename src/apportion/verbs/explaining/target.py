"""What is asked about: a team, a pool, a workload or run, or a posting by its number or the beginning of its hash."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.label_sets import are_named
from apportion.errors import ProjectError
from apportion.model.rows import POSTING_KEY, SYSTEM_OWNERS
from apportion.model.times import Period
from apportion.verbs.job_clusters import by_cluster, jobs_named
from apportion.verbs.job_names import ambiguous_job, runs_called
from apportion.verbs.plan import Computed
from apportion.verbs.project import Project

KINDS = ("team", "pool", "job", "posting")
NUMBER, HASH = re.compile(r"[0-9]{1,18}"), re.compile(r"[0-9a-f]{6,64}")


@dataclass(frozen=True, slots=True)
class Target:
    """`key` is the posting key of one posting and `run` what posted it, `workloads` those of a job; `also` are other things of the same name."""

    kind: str
    name: str
    key: tuple[object, ...] = ()
    workloads: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    run: str = ""

    def within(self, period: str) -> "Target":
        """The same in another month: corrections are booked later than the month that they are about."""
        return replace(self, key=(period, *self.key[1:])) if self.key else self

    def pick(self, postings: pa.Table) -> pa.Table:
        """The rows of a postings table that this is about."""
        if self.kind == "posting":
            mask = pc.equal(postings[POSTING_KEY[0]], self.key[0])
            for name, value in zip(POSTING_KEY[1:], self.key[1:], strict=True):
                mask = pc.and_(mask, pc.equal(postings[name], value))
            return postings.filter(mask)
        return postings.filter(pc.equal(postings[self.kind], self.name))


def find_target(project: Project, what: str, period: Period, computed: Computed) -> Target:
    kind, colon, name = what.partition(":")
    wanted = KINDS if not colon or kind not in KINDS else (kind,)
    name = what if not colon or kind not in KINDS else name
    found = [target for kind in wanted for target in candidates(project, kind, name, period, computed)]
    others = [f"{target.kind}:{name}" for target in found[1:]]
    if "job" not in wanted or any(target.kind != "posting" for target in found):
        return replace(found[0], also=tuple(others)) if found else refuse_unknown(what, computed)
    jobs = named_work(project, computed, name)
    runs = runs_called(jobs, name) or runs_named(project, jobs, name)
    if found:
        return replace(found[0], also=(*others, *(f"job:{run}" for run in runs)))
    if len(runs) > 1:
        raise ambiguous_job(jobs, name, runs, f"apportion explain job:JOB --period {period}")
    return job_target(jobs, runs[0]) if runs else refuse_unknown(what, computed)


def named_work(project: Project, computed: Computed, name: str) -> pa.Table:
    """The workloads of a plan, with runs of several clusters told apart where a name may mean one."""
    whole = pa.concat_tables([part.world.workloads for part in computed.parts])
    return by_cluster(project, whole, name.rpartition("/")[2])


def runs_named(project: Project, workloads: pa.Table, name: str) -> list[str]:
    """What an exact name means: a run or a workload; several where several clusters have it."""
    own = workloads.filter(pc.or_(are_named(workloads["workload"], [name]), pc.equal(workloads["run"], name)))
    runs = set(own["run"].to_pylist())
    if not runs:
        runs = {job.run for job in jobs_named(project, name)} & set(workloads["run"].to_pylist())
    return [name] if name in runs else sorted(runs)


def job_target(workloads: pa.Table, run: str) -> Target:
    """With all attempts and tasks of the run."""
    every = workloads.filter(pc.equal(workloads["run"], run))
    return Target("job", run, workloads=tuple(sorted(set(every["workload"].to_pylist()))))


def candidates(project: Project, kind: str, name: str, period: Period, computed: Computed) -> Iterator[Target]:
    if kind in ("team", "pool"):
        known = names_of(computed, kind)
        if name in known:
            yield Target(kind, name)
    elif kind == "job":
        workloads = named_work(project, computed, name)
        runs = runs_named(project, workloads, name)
        if len(runs) == 1:
            yield job_target(workloads, runs[0])
    else:
        yield from postings_named(project, name, period)


def postings_named(project: Project, name: str, period: Period) -> Iterator[Target]:
    for row in entries_named(project, name, period):
        yield Target("posting", str(row["seq"]), key=tuple(row[part] for part in POSTING_KEY), run=row["run_id"])


def entries_named(project: Project, name: str, period: Period) -> list[dict[str, Any]]:
    """The entry of that number, or whose hash begins so: one or none, and never the bill's own side."""
    if not NUMBER.fullmatch(name) and not HASH.fullmatch(name):
        return []
    entries = project.books.entries(period=str(period))
    mask = pc.equal(entries["seq"], int(name)) if NUMBER.fullmatch(name) else pc.starts_with(entries["hash"], name)
    found = entries.filter(mask)
    if len(found) > 1:
        raise ProjectError(
            "ambiguous-posting", f"{len(found)} postings begin with {name}", hint="give more digits of the hash"
        )
    rows: list[dict[str, Any]] = found.to_pylist()
    for row in rows:
        if row["account"].startswith("bill:"):
            raise ProjectError(
                "bill-side",
                f"posting {name} is the bill's own side of the double entry",
                hint=f"name an owner's posting of {row['bill']} instead",
            )
    return rows


def names_of(computed: Computed, kind: str) -> list[str]:
    used = set(pc.unique(computed.plan.postings[kind]).to_pylist())
    declared = computed.world.policy.teams if kind == "team" else computed.world.policy.pools
    return sorted({*used, *declared, *(SYSTEM_OWNERS if kind == "team" else ())} - {""})


def refuse_unknown(what: str, computed: Computed) -> NoReturn:
    names = [*names_of(computed, "team"), *names_of(computed, "pool")]
    close = get_close_matches(what.rpartition(":")[2], names, n=3, cutoff=0.5)
    hint = (
        f"did you mean {', '.join(close)}?"
        if close
        else f"teams and pools: {', '.join(names)}; or give a job id, a posting's number or hash"
    )
    raise ProjectError(
        "unknown-figure", f"{what!r} is no team, pool, job or posting of {computed.plan.period}", hint=hint
    )
