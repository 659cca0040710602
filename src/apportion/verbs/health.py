"""Is the data whole and fresh? From the books alone: nothing outside is asked, and nothing is computed again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.findings import JudgedFinding
from apportion.model.rows import UNALLOCATED
from apportion.model.times import Interval, Period, instant_text
from apportion.reports.words import counted
from apportion.sources.live import Live
from apportion.sources.registry import source_named
from apportion.verbs.agreement import policy_for, policy_of_version
from apportion.verbs.brought import Brought, brought
from apportion.verbs.check import guarded, policy_findings, problem_notes, settings_finding
from apportion.verbs.due import day_span, ended, holes, is_live, month_days, now_s, reached, since_s
from apportion.verbs.findings import divide_problems, planned_findings
from apportion.verbs.gaps import Gap, owner_gaps
from apportion.verbs.project import Project
from apportion.verbs.report import policies_posted
from apportion.verbs.settings import Source
from apportion.verbs.soundness import STALE_S, CheckLine
from apportion.verbs.world import touches

COMPLETE, NO_ROW, PARTLY, MISSING, NOT_DUE = "complete", "no row", "partly", "missing", "not due"
DAY_S = 86_400
Days = tuple[tuple[date, str], ...]


@dataclass(frozen=True, slots=True)
class Freshness:
    """`until` is the end of what the books have of a source (0: nothing), `behind` the days that are due since, `missing` the holes before it.

    Files come when they come: only sources that are asked can be behind.
    """

    source: str
    kind: str
    since: int
    until: int
    behind: int
    missing: int

    @property
    def text(self) -> str:
        if not self.until:
            return "has brought nothing yet"
        parts = [f"is {counted(self.behind, 'day')} behind"] if self.behind else []
        parts += [f"misses {counted(self.missing, 'day')}"] if self.missing else []
        return " and ".join(parts) or f"is in the books without a gap until {instant_text(self.until)[:10]}"

    @property
    def is_fresh(self) -> bool:
        return bool(self.until) and not self.behind and not self.missing


@dataclass(frozen=True, slots=True)
class Health:
    """`days`: source -> the state of each day of the month."""

    title: str
    sources: tuple[Freshness, ...]
    days: Mapping[str, Days]
    checks: tuple[CheckLine, ...]
    brought: tuple[Brought, ...] = ()
    findings: tuple[JudgedFinding, ...] = ()


def health(project: Project, period: Period) -> Health:
    """Of the sources of apportion.toml, and their days of a month."""
    windows = windows_of(project)
    fresh = tuple(freshness_of(source, windows.get(source.name, [])) for source in project.sources)
    days = {one.source: known_days(project, period, one, windows.get(one.source, [])) for one in fresh}
    silent = silent_days(project, period)
    days |= {name: without(days[name], quiet) for name, quiet in silent.items()}
    notes = divide_problems(project)[1]
    checks = [
        settings_finding(project),
        *guarded(lambda: policy_findings(project), "policy"),
        *problem_notes(one.problem for one in notes),
    ]
    findings = planned_findings(project, policy_for(project, period), period)
    return Health(title_of(fresh, silent, str(period)), fresh, days, tuple(checks), brought(project), findings)


def title_of(sources: Sequence[Freshness], silent: Mapping[str, set[date]] | None = None, period: str = "") -> str:
    """What is behind; days of files without a row may only be quiet ones, so they are told as such."""
    behind = [f"{one.source} {one.text}" for one in sources if not one.is_fresh]
    if not sources:
        return "No source is set up yet."
    quiet = [
        f"{name} has no row on {counted(len(days), 'day')} of {period}" for name, days in (silent or {}).items() if days
    ]
    if not behind and not quiet:
        return f"Everything is fresh: {counted(len(sources), 'source')} without a gap."
    told = [*behind, *quiet]
    more = f", and {counted(len(told) - 2, 'more')} such" if len(told) > 2 else ""
    return ("" if behind else "Everything is in the books, but ") + ", ".join(told[:2]) + more + "."


def windows_of(project: Project) -> dict[str, list[Interval]]:
    found: dict[str, list[Interval]] = {}
    for row in project.books.deliveries():
        found.setdefault(row["source"], []).append(Interval(row["start_s"], row["end_s"]))
    return found


def freshness_of(source: Source, windows: list[Interval]) -> Freshness:
    until = reached(windows) or 0
    since, due = span_due(source, windows, until)
    missing = sum(hole.seconds for hole in holes(windows, since, until, 0) if hole.end_s <= until) if until else 0
    behind = (due - until) // DAY_S if until and due - until > STALE_S else 0
    return Freshness(source.name, source.kind, since, until, behind, -(-missing // DAY_S))


def span_due(source: Source, windows: list[Interval], until: int) -> tuple[int, int]:
    """From when, and until when, a source should be in the books."""
    first = min((window.start_s for window in windows), default=0)
    kind = source_named(source.kind, source.where) if is_live(source) else None
    return (since_s(source), ended(kind, now_s())) if isinstance(kind, Live) else (first, until)


def known_days(project: Project, period: Period, source: Freshness, windows: list[Interval]) -> Days:
    zone = ZoneInfo(project.policy.time_zone)
    return tuple((day, state_of(day, zone, source, windows)) for day in month_days(period))


def without(days: Days, silent: set[date]) -> Days:
    return tuple((day, NO_ROW if status == COMPLETE and day in silent else status) for day, status in days)


def silent_days(project: Project, period: Period) -> dict[str, set[date]]:
    """Days of files of usage or capacity on which not one row falls: perhaps a file that never came.

    Whoever is asked answers for its whole window, and a bill has its own control.
    """
    zone = ZoneInfo(project.policy.time_zone)
    spans = [(day, day_span(day, zone)) for day in month_days(period)]
    days = {day for day, _ in spans}
    files = {source.name for source in project.sources if not is_live(source)}
    found: dict[str, set[date]] = {}
    for table in ("usage", "capacity"):
        rows = project.books.scan(table, columns=["source", "start_s", "end_s"], where=touches(period.interval(zone)))
        for name in files & {row["source"] for row in project.books.deliveries() if table in row["tables"]}:
            mine = rows.filter(pc.equal(rows["source"], name))
            found[name] = found.get(name, days) - busy_days(mine, spans)
    return {name: silent for name, silent in found.items() if silent}


def busy_days(rows: pa.Table, spans: Sequence[tuple[date, Interval]]) -> set[date]:
    """Those that some row touches: more have begun by their end than are over at their start."""
    starts, ends = (np.sort(rows[column].to_numpy()) for column in ("start_s", "end_s"))
    return {
        day for day, span in spans if np.searchsorted(starts, span.end_s) > np.searchsorted(ends, span.start_s, "right")
    }


def state_of(day: date, zone: ZoneInfo, source: Freshness, windows: list[Interval]) -> str:
    """By the policy's days or by those of UTC, which many vendors bill in: a day that is whole in either is whole."""
    spans = [day_span(day, each) for each in (zone, ZoneInfo("UTC"))]
    missing = [sum(hole.seconds for hole in holes(windows, span.start_s, span.end_s, 0)) for span in spans]
    if not all(missing):
        return COMPLETE
    if missing[0] < spans[0].seconds:
        return PARTLY
    due_until = min(source.until + source.behind * DAY_S, now_s())
    return MISSING if source.since <= spans[0].start_s < due_until else NOT_DUE


def unmapped(project: Project, period: Period) -> tuple[Gap, ...]:
    """What was posted to nobody because no owner rule matches, by the labels that could tell whose it is; largest first."""
    books = project.books
    version = policies_posted(project, [period]).get(str(period))
    if version is None:
        return ()
    posted = books.posted(str(period))
    bills = posted.select(["bill", "currency"]).group_by(["bill", "currency"]).aggregate([]).to_pylist()
    own = (pc.field("period") == str(period)) & (pc.field("team") == UNALLOCATED)
    charges = books.scan("charges", columns=["bill", "team", "workload", "amount"], where=own)
    policy = policy_of_version(project, version)
    workloads = books.scan("workloads", where=touches(period.interval(ZoneInfo(policy.time_zone))))
    found = owner_gaps(charges, workloads, policy, {row["bill"]: row["currency"] for row in bills})
    return tuple(sorted(found, key=lambda gap: (-abs(gap.amount), sorted(gap.labels.items()))))
