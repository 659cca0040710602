"""The world that a plan is made of: the pinned evidence of one period, as the engine takes it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import ibis
import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import PLAN, StoredRun
from apportion.engine.backend import Backend
from apportion.engine.exchange import days_asked
from apportion.engine.late import is_shared, late_policy, service_months
from apportion.engine.nodes import node_names
from apportion.engine.plan import World
from apportion.engine.witnesses import hear
from apportion.errors import ApportionError, ProjectError
from apportion.model.rows import TABLES, USAGE, empty
from apportion.model.times import Interval, Period, local_day, months
from apportion.policy.document import Policy
from apportion.reports.sums import grouped, side_of
from apportion.verbs.agreement import policy_for, policy_of_version
from apportion.verbs.asked import single
from apportion.verbs.levels import as_levels
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project

OWNERS = "team:"  # their side of the double entry
UTC_ZONE = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Pins:
    """What a plan rests on: a snapshot of every table of evidence, and the ledger up to a link of its chain (None: all of it).

    `late`: the policy version that lines of each earlier month go by (None: the one that is in force).
    """

    snapshots: Mapping[str, int]
    before_seq: int | None = None
    late: Mapping[str, str] | None = None

    def __getitem__(self, table: str) -> int:
        return self.snapshots[table]


def pins_of(project: Project) -> Pins:
    """As published now."""
    return Pins({name: version.snapshot_id for name, version in project.books.inputs().items()})


def pins_of_run(project: Project, run: StoredRun) -> Pins:
    """As they were when it was planned."""
    return Pins(run.inputs, run.seq, project.books.plan_summary(run.plan_digest).get("late"))


@dataclass(frozen=True, slots=True)
class Part:
    """Lines that are planned together: those of a period's own, or what is `late` on its bills for one earlier month."""

    lines: pa.Table
    policy: Policy
    late: bool = False


def build_world(project: Project, period: Period, part: Part, pins: Pins, backend: Backend) -> World:
    """Only lines of bills (references are compared, never posted), and the rest of the evidence as far back as their charge periods reach.

    Every workload is told of once, by the source that decides.
    """
    lines, policy = part.lines, part.policy
    window = charged_window(lines) if part.late else evidence_window(lines, period, ZoneInfo(policy.time_zone))
    capacity, reservations, workloads = (
        project.books.scan(name, pins[name], where=touches(window))
        for name in ("capacity", "reservations", "workloads")
    )
    world = World(
        period=period,
        policy=policy,
        cost_lines=lines,
        usage=usage_rows(project, pins["usage"], window, backend),
        capacity=as_levels(capacity),
        reservations=reservations,
        workloads=workloads,
        rates=exchange_rates(project, period, policy, pins, lines),
        previous=previous_totals(project, period, policy, pins.before_seq) if policy.smooths and not part.late else {},
        inputs=content_digests(project, pins, policy),
        late=part.late,
        nodes=known_nodes(project, policy, pins, backend),
    )
    return hear(world, backend)


def known_nodes(project: Project, policy: Policy, pins: Pins, backend: Backend) -> frozenset[str]:
    """What capacity or usage of any month call a node; asked only where a pool has a price for each."""
    if all(pool.scope != "resource" for pool in policy.pools.values()):
        return frozenset()
    capacity = project.books.scan("capacity", pins["capacity"], columns=["resource", "start_s", "end_s", "labels"])
    return node_names(capacity) | used_nodes(project, pins["usage"], backend)


def used_nodes(project: Project, snapshot_id: int, backend: Backend) -> frozenset[str]:
    files = project.books.files("usage", snapshot_id)
    if not files or any("://" in file for file in files):
        rows = project.books.scan("usage", snapshot_id, columns=["resource"])
        return frozenset(pc.unique(rows["resource"]).to_pylist())
    return frozenset(backend.read(files).select("resource").distinct().to_pyarrow()["resource"].to_pylist())


def bill_lines(
    project: Project,
    period: Period,
    pins: Pins,
    where: pc.Expression | None = None,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """A line is booked in the month that holds the middle of its billing period: vendors' midnights differ, their months do not."""
    references = project.books.reference_sources()
    own = ~pc.field("source").isin(references) if references else None
    both = where if own is None else own if where is None else own & where
    return lines_billed(project, period, pins, both, columns)


def reference_lines(project: Project, period: Period, pins: Pins) -> pa.Table:
    """What is only compared with the bills of the month."""
    references = pa.array(project.books.reference_sources(), pa.string())
    return lines_billed(project, period, pins, pc.field("source").isin(references))


def lines_billed(
    project: Project,
    period: Period,
    pins: Pins,
    where: pc.Expression | None,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    month = period.interval(UTC_ZONE)
    middle = pc.field("billing_start_s") + pc.field("billing_end_s")
    inside = (middle >= 2 * month.start_s) & (middle < 2 * month.end_s)
    every = inside if where is None else inside & where
    return project.books.scan("cost_lines", pins["cost_lines"], columns=columns, where=every)


def billed_periods(project: Project, pins: Pins) -> set[str]:
    """Every month that has a bill."""
    bounds = project.books.scan(
        "cost_lines", pins["cost_lines"], columns=["source", "billing_start_s", "billing_end_s"]
    )
    known = bounds.group_by(bounds.column_names).aggregate([]).to_pylist()
    references = set(project.books.reference_sources())
    middles = {(row["billing_start_s"] + row["billing_end_s"]) // 2 for row in known if row["source"] not in references}
    return {datetime.fromtimestamp(middle, UTC).strftime("%Y-%m") for middle in middles}


def known_month(project: Project, period: Period | str | None) -> Period:
    """The newest that has a bill, or usage where none is needed, unless one is named."""
    known = known_periods(project, pins_of(project)) if period is None else ()
    return single(period, known, "run `apportion ingest` first")


def known_periods(project: Project, pins: Pins) -> set[str]:
    """Every month that has a bill; under a price list that needs none, every month that has usage."""
    if not charges_by_list(project):
        return billed_periods(project, pins)
    spans = project.books.scan("usage", pins["usage"], columns=["start_s", "end_s"])
    first, last = pc.min(spans["start_s"]).as_py(), pc.max(spans["end_s"]).as_py()
    billed = billed_periods(project, pins)
    if first is None:
        return billed
    zone = ZoneInfo(project.policy.time_zone)
    return billed | {f"{local_day(month.start_s, zone):%Y-%m}" for month in months(Interval(first, last), zone)}


def charges_by_list(project: Project) -> bool:
    """Whether a pool of the policy charges without a bill; a policy that cannot be read does not."""
    try:
        pools = project.policy.pools.values()
    except ApportionError:
        return False
    return any(pool.method == "rate_card" and pool.costs is None and not pool.otherwise for pool in pools)


def parts_of(
    project: Project, period: Period, policy: Policy, pins: Pins, lines: pa.Table | None = None
) -> dict[str, Part]:
    """The lines of a period's bills: the period's own under "", and what is late by the month that it is late for."""
    lines = bill_lines(project, period, pins) if lines is None else lines
    months = service_months(lines, period, ZoneInfo(policy.time_zone))
    found: dict[str, Part] = {}
    for month in sorted(set(pc.unique(months).to_pylist()) - {""}):
        late, rules = (
            lines.filter(pc.equal(months, month)),
            late_policy(policy_of_month(project, month, policy, pins), policy),
        )
        if is_shared(late, rules):
            found[month] = Part(late, rules, late=True)
    apart = pc.is_in(months, pa.array(list(found), pa.string()))
    return {"": Part(lines.filter(pc.invert(apart)) if found else lines, policy), **found}


def policy_of_month(project: Project, month: str, own: Policy, pins: Pins) -> Policy:
    """What holds for the use of an earlier month; where nothing did, the policy of the bill's own."""
    if pins.late is not None:
        version = pins.late.get(month, own.version)
        return own if version == own.version else policy_of_version(project, version)
    try:
        return policy_for(project, as_period(month))
    except ProjectError:
        return own


def charged_window(lines: pa.Table) -> Interval:
    start, end = pc.min(lines["charge_start_s"]).as_py(), pc.max(lines["charge_end_s"]).as_py()
    return Interval(start, max(end, start + 1))


def evidence_window(lines: pa.Table, period: Period, zone: ZoneInfo) -> Interval:
    """The period, every billing period and every charge period: a late correction is shared by the usage of its own days."""
    own = period.interval(zone)
    starts = [pc.min(lines[name]).as_py() for name in ("charge_start_s", "billing_start_s")] if len(lines) else []
    ends = [pc.max(lines[name]).as_py() for name in ("charge_end_s", "billing_end_s")] if len(lines) else []
    return Interval(min(own.start_s, *starts), max(own.end_s, *ends)) if starts else own


def touches(window: Interval) -> pc.Expression:
    """Rows that overlap the window; those without length count where they stand."""
    return (pc.field("start_s") < window.end_s) & (pc.field("end_s") >= window.start_s)


def usage_rows(project: Project, snapshot_id: int, window: Interval, backend: Backend) -> Any:
    """Straight from the Parquet files where the engine reaches them; through Arrow from object stores."""
    files = project.books.files("usage", snapshot_id)
    if not files or any("://" in file for file in files):
        return project.books.scan("usage", snapshot_id, where=touches(window))
    rows = complete_rows(backend.read(files))
    return rows.filter(rows.start_s < window.end_s, rows.end_s >= window.start_s)


def complete_rows(rows: Any) -> Any:
    """With the columns that files of earlier versions lack."""
    lacking = [column for column in USAGE if column.name not in rows.columns]
    return rows.mutate(**{column.name: ibis.null(str(column.type)) for column in lacking}) if lacking else rows


def previous_totals(project: Project, period: Period, policy: Policy, before_seq: int | None) -> Mapping[str, Decimal]:
    """What each team owed last month, for rules that smooth."""
    entries = project.books.entries(period=str(period.previous), currency=policy.currency)
    planned = [
        run.run_id for run in project.books.runs(PLAN)
    ]  # what was corrected or given once is no level to keep to
    own = entries.filter(
        pc.and_(pc.starts_with(entries["account"], OWNERS), pc.is_in(entries["run_id"], pa.array(planned, pa.string())))
    )
    if before_seq is not None:
        own = own.filter(pc.less(own["seq"], before_seq))
    return {team: amount for (team,), amount in grouped(own, ("team",)).items() if side_of(team) == "owners"}


def exchange_rates(project: Project, period: Period, policy: Policy, pins: Pins, lines: pa.Table) -> pa.Table:
    """What the policy's table says of the days that its rule may ask for."""
    if policy.fx is None:
        return empty("rates")
    first, last = days_asked(period, pc.max(lines["billing_end_s"]).as_py() or 0)
    days = (pc.field("day") >= first) & (pc.field("day") <= last)
    return project.books.scan("rates", pins["rates"], where=days & (pc.field("source") == policy.fx.source))


def content_digests(project: Project, pins: Pins, policy: Policy) -> Mapping[str, str]:
    """What the pinned tables say, whatever their files: part of the plan's digest. Rates count where the policy converts."""
    now = project.books.inputs()
    names = [name for name in TABLES if name != "rates" or policy.fx]
    return {name: now[name].digest if now[name].snapshot_id == pins[name] else "" for name in names}
