"""What reservations and lending leave of quotas. What a job has used by now replaces what was set aside for it, so nothing counts twice."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.names import Names
from apportion.books.pledges import ENDS, LEND, POST, RESERVE, Pledge
from apportion.engine.label_sets import split_tables
from apportion.engine.workloads import owner_of, unite
from apportion.model.meters import METERS
from apportion.model.times import Interval, local_day
from apportion.reports.fit import MONEY, Need, touches
from apportion.reports.held import HOUR_S
from apportion.reports.quotas import Limit, Used
from apportion.verbs.project import Project

POSTED = ENDS[POST]
RUNNING = "running"
READ = ["source", "workload", "meter", "start_s", "end_s", "allocated", "used", "label_set"]


Key = tuple[str, str]  # a team and a job of it


@dataclass(frozen=True, slots=True)
class Job:
    """What is known of a job that something was reserved for: hours of each level and units of each flow; whether it is over."""

    used: Mapping[str, Fraction]
    is_over: bool


@dataclass(frozen=True, slots=True)
class Now:
    """When it is asked, and what is known then of the jobs. Of a job that is not there nothing has come."""

    second: int
    zone: ZoneInfo
    names: Names
    jobs: Mapping[Key, Job] = field(default_factory=dict)

    def job_of(self, one: Pledge) -> Job | None:
        return self.jobs.get((one.begun.team, one.begun.job))

    def day(self, second: int) -> date:
        return local_day(second, self.zone)


def place(project: Project, found: Sequence[Used], today: date | None = None, now_s: int | None = None) -> list[Used]:
    """Quotas with what is pledged of them now. Reservations count in windows that today lies in."""
    known = project.books.pledges.all()
    if not known:
        return list(found)
    return pledged(found, known, now_of(project, known, now_s), today)


def now_of(project: Project, known: Iterable[Pledge], now_s: int | None = None, also: Sequence[Key] = ()) -> Now:
    asked = {
        (one.begun.team, one.begun.job) for one in known if one.begun.job and (one.is_open or one.status == POSTED)
    }
    jobs = jobs_of(project, asked | set(also)) if asked or also else {}
    return Now(now_s or int(time.time()), ZoneInfo(project.policy.time_zone), project.books.names, jobs)


def pledged(found: Sequence[Used], known: Sequence[Pledge], now: Now, today: date | None = None) -> list[Used]:
    """Pure: `known` as they stand in the transaction that decides."""
    day = today or now.day(now.second)
    placed = []
    for one in found:
        borrowed, lent = lent_in(known, one.limit, one.first)
        pending = sum((remaining(each, known, now) for each in known if counts_in(each, one, now, day)), Fraction(0))
        placed.append(replace(one, moved=replace(one.moved, borrowed=borrowed, lent=lent, pending=pending)))
    return placed


def lent_in(known: Iterable[Pledge], limit: Limit, first: date) -> tuple[Fraction, Fraction]:
    """What an owner has borrowed and what it has lent of a quota in one window."""
    of = (limit.meter or MONEY, limit.pool, limit.per, str(first))
    loans = [one.begun for one in known if one.begun.kind == LEND and one.is_open]
    loans = [one for one in loans if (one.what, one.pool, one.per, one.first) == of]
    borrowed = sum((Fraction(one.amount) for one in loans if one.other == limit.owner), Fraction(0))
    return borrowed, sum((Fraction(one.amount) for one in loans if one.owner == limit.owner), Fraction(0))


def counts_in(one: Pledge, used: Used, now: Now, today: date) -> bool:
    """An open one in the windows that today lies in; one that was settled by somebody's word, in those of that day."""
    begun = one.begun
    day = today if one.is_open else now.day(one.ended_s)
    if begun.kind != RESERVE or not used.first <= day <= used.last or not used.limit.is_of(begun.team):
        return False
    if used.limit.user and now.names.token(used.limit.user) != begun.user:
        return False
    return touches(Need(Fraction(0), begun.what, begun.unit, begun.pool, begun.project, used.limit.user), used.limit)


def remaining(one: Pledge, known: Sequence[Pledge], now: Now) -> Fraction:
    """What it still holds. What came of the job counts as used, and is taken off; money goes down as the hours of the same job do."""
    job, amount = now.job_of(one), Fraction(one.begun.amount)
    if one.status == POSTED:
        return Fraction(0) if job else Fraction(one.ended)
    if not one.is_open or one.is_expired(now.second) or (job and job.is_over):
        return Fraction(0)
    if job is None:
        return amount
    if one.begun.what != MONEY:
        return max(Fraction(0), amount - job.used.get(one.begun.what, Fraction(0)))
    hours = [each for each in known if each.is_open and each.begun.job == one.begun.job and each.begun.what != MONEY]
    parts = [remaining(each, known, now) / Fraction(each.begun.amount) for each in hours]
    return amount * max(parts, default=Fraction(1))


def jobs_of(project: Project, wanted: Iterable[Key]) -> dict[Key, Job]:
    """Those that usage has come of, by a workload's id or a run's; only what is the team's own. Of several sources the one that says most counts."""
    asked = sorted(set(wanted))
    names = pa.array(sorted({name for _, name in asked}), pa.string())
    rows = project.books.scan("workloads", where=pc.field("workload").isin(names) | pc.field("run").isin(names))
    ids = pc.unique(rows["workload"])
    rows, usage = split_tables(rows, project.books.scan("usage", columns=READ, where=pc.field("workload").isin(ids)))
    known = {row["workload"]: row for row in unite(rows).to_pylist()}
    spans = {row["workload"]: Interval(row["start_s"], row["end_s"]) for row in rows.to_pylist()}
    teams = {name: owner_of(dict(row["labels"]), project.policy, spans[name], []).team for name, row in known.items()}
    sums = sums_of(usage)
    found: dict[Key, Job] = {}
    for team, name in asked:
        mine = {each for each, row in known.items() if name in (each, row["run"]) and teams[each] == team}
        if mine & {each for each, _ in sums}:
            found[team, name] = Job(used_by(mine, sums), all(known[each]["outcome"] != RUNNING for each in mine))
    return found


def sums_of(usage: pa.Table) -> dict[tuple[str, str], dict[str, Fraction]]:
    """By workload and meter, then by source."""
    sums: dict[tuple[str, str], dict[str, Fraction]] = {}
    for row in usage.to_pylist():
        of = sums.setdefault((row["workload"], row["meter"]), {})
        of[row["source"]] = of.get(row["source"], Fraction(0)) + amount_of(row)
    return sums


def used_by(ids: set[str], sums: Mapping[tuple[str, str], Mapping[str, Fraction]]) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {}
    for (workload, meter), by_source in sums.items():
        if workload in ids:
            found[meter] = found.get(meter, Fraction(0)) + max(by_source.values())
    return found


def amount_of(row: Mapping[str, Any]) -> Fraction:
    """Hours of a level, units of a flow."""
    meter = METERS[row["meter"]]
    seconds = 1 if meter.flow else Fraction(row["end_s"] - row["start_s"], HOUR_S)
    units = row["allocated"] if row["allocated"] is not None else row["used"] or 0
    return Fraction(units, meter.base) * seconds
