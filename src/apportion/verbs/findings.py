"""The findings of a month: those of its deliveries and those of its plan, against the policy's bound and what somebody accepted."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.accepted import amounts_read, written
from apportion.books.blocks import Blocks
from apportion.books.prepare import Prepared
from apportion.books.shapes import DeliveredProblem
from apportion.errors import ApportionError, BooksError, Problem
from apportion.model.delivery import Delivery
from apportion.model.finding_codes import ABOUT_MONEY, NOTED, treatment_of
from apportion.model.findings import (
    Acceptance,
    Finding,
    JudgedFinding,
    Taken,
    findings_of,
    judge,
    merge,
    pools_counting,
    to_places,
    unit_of,
)
from apportion.model.money import total_of
from apportion.model.times import Interval, Period
from apportion.policy.document import Policy
from apportion.policy.rules import FindingRules
from apportion.reports.findings import finding_text, findings_value, lost_sentences
from apportion.reports.report import Report
from apportion.sources.pushed import KIND as PUSHED
from apportion.verbs.agreement import policy_for
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.shared_files import find_shared_files, tell_shared_files
from apportion.verbs.usage_taken import capacity_by_meter, usage_by_meter, usage_taken
from apportion.verbs.world import known_periods, lines_billed, pins_of, touches

SILENT = "no-rows"
KEPT = "findings"  # in the summary of a stored plan


def month_findings(
    project: Project, policy: Policy, period: Period, met: Iterable[Finding]
) -> tuple[JudgedFinding, ...]:
    """All of a month; `met` are those of its plan."""
    shared = shared_findings(project, period.interval(ZoneInfo(policy.time_zone)), policy)
    found = merge((*unread_sources(project), *delivered_findings(project, policy, period), *shared, *met))
    return judge(found, policy.bound, project.books.acceptances.of(str(period)))


def unread_sources(project: Project) -> Iterator[Finding]:
    """Sources of apportion.toml of which the books have nothing, mostly because reading them failed; not those that are pushed or left out."""
    known = tables_by_source(project)
    for source in project.sources:
        if source.kind != PUSHED and source.name not in {*known, *project.settings.sync.leave_out}:
            yield Finding(
                "source-not-read",
                f"the books have nothing of source '{source.name}'",
                f"apportion ingest {source.name}",
                source=source.name,
                share=Decimal(1),
                lost=True,
            )


def tables_by_source(project: Project) -> dict[str, set[str]]:
    """The tables of which each source brought rows; none of a source whose deliveries were empty."""
    found: dict[str, set[str]] = {}
    for row in project.books.deliveries():
        found.setdefault(row["source"], set()).update(name for name, count in row["rows"].items() if count)
    return found


def planned_findings(project: Project, policy: Policy, period: Period) -> tuple[JudgedFinding, ...]:
    """The same without planning again: with what the last plan of the month met."""
    try:
        kept = project.books.load_plan(str(period))
    except BooksError:  # damaged: `verify` tells
        kept = None
    return month_findings(project, policy, period, findings_read(kept.summary.get(KEPT) or () if kept else ()))


def newest_period(project: Project) -> str:
    """The newest month that has something to plan; "" where none has."""
    return max(known_periods(project, pins_of(project)), default="")


def findings_now(project: Project, period: str) -> tuple[JudgedFinding, ...]:
    """Of a month as the policy in force has it; none where there is no month or no policy."""
    if not period or policy_in_file(project) is None:
        return ()
    return planned_findings(project, policy_for(project, as_period(period)), as_period(period))


def findings_read(kept: Iterable[dict[str, Any]]) -> tuple[Finding, ...]:
    return tuple(Finding(**amounts_read(one)) for one in kept)


def findings_kept(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    return [written(one) for one in findings]


def delivered_findings(project: Project, policy: Policy, period: Period) -> tuple[Finding, ...]:
    """Of deliveries whose window touches the month; of problems that say when, those of its days."""
    own = period.interval(ZoneInfo(policy.time_zone))
    month = [one for one in finding_problems(project) if concerns(one, own)]
    return read_findings(project, month, own, period, policy) if month else ()


def shared_findings(project: Project, window: Interval, policy: Policy | None) -> tuple[Finding, ...]:
    """Of files that two sources read."""
    shared = find_shared_files(project, window)
    if not shared:
        return ()
    names = sorted({*shared, *(other for other, _ in shared.values())})
    found = tell_shared_files(shared, usage_taken(project, names, window))
    return tuple(counted_by(one, policy) if policy else one for one in found)


def source_findings(project: Project, source: str, deliveries: Iterable[str]) -> tuple[JudgedFinding, ...]:
    """Of one source as it was just read: those of some of its deliveries."""
    wanted = set(deliveries)
    read = [row for row in project.books.deliveries() if row["source"] == source and row["delivery_id"] in wanted]
    if not read:
        return ()
    window = Interval(min(row["start_s"] for row in read), max(row["end_s"] for row in read))
    problems = [one for one in finding_problems(project) if one.source == source and one.delivery_id in wanted]
    policy = policy_in_file(project)
    shared = [one for one in shared_findings(project, window, policy) if one.source == source]
    found = [*shared, *(read_findings(project, problems, window, None, policy) if problems else ())]
    acceptances = accepted_in(project, window, policy) if policy and found else []
    return judge(found, bound_of(policy), acceptances)


def accepted_in(project: Project, window: Interval, policy: Policy) -> list[Acceptance]:
    """What somebody let stand in the months that a window touches."""
    zone = ZoneInfo(policy.time_zone)
    every = project.books.acceptances.every()
    return [one for one in every if as_period(one.period).interval(zone).clip(window).seconds > 0]


def tried_findings(deliveries: Sequence[Delivery], policy: Policy | None) -> tuple[JudgedFinding, ...]:
    """Of deliveries that are not in the books: what ingesting them would say."""
    problems, rows = [], Counter[str]()
    quantities: Counter[tuple[str, str]] = Counter()
    money: dict[tuple[str, str], Decimal] = {}
    currencies: dict[str, str] = {}
    for delivery in deliveries:
        prepared = Prepared(delivery)
        prepared.look()
        source = delivery.source
        problems += [(source, one) for one in prepared.problems]
        tables = {name: part.rows.table() if isinstance(part, Blocks) else part for name, part in prepared.rows.items()}
        rows[source] += max((len(table) for table in tables.values()), default=0)
        if "usage" in tables:
            quantities.update(usage_by_meter(tables["usage"], delivery.window))
        if prepared.repeats:
            quantities.update(capacity_by_meter(tables["capacity"], delivery.window, quantities))
        for key, amount in money_by_currency(tables["cost_lines"]).items() if "cost_lines" in tables else ():
            money[key] = total_of((money.get(key, Decimal(0)), amount))
        currencies |= currencies_by_line(tables["cost_lines"]) if "cost_lines" in tables else {}
    found = findings_of(problems, Taken(rows, quantities, money, currencies), units_counted(policy))
    return judge((counted_by(one, policy) for one in found) if policy else found, bound_of(policy))


def policy_in_file(project: Project) -> Policy | None:
    """None where it cannot be read: a policy is not needed to read a source."""
    try:
        return project.policy
    except ApportionError:
        return None


def bound_of(policy: Policy | None) -> Fraction:
    return policy.bound if policy else FindingRules().bound


def other_findings(project: Project, policy: Policy, period: Period) -> tuple[JudgedFinding, ...]:
    """Of open months beside one: of deliveries that no closed month holds whole."""
    zone = ZoneInfo(policy.time_zone)
    own = period.interval(zone)
    closed = [as_period(month).interval(zone) for month in project.books.closed_periods()]
    others = [
        one
        for one in finding_problems(project)
        if not concerns(one, own) and not any(concerns(one, month) for month in closed)
    ]
    if not others:
        return ()
    window = Interval(min(one.window.start_s for one in others), max(one.window.end_s for one in others))
    acceptances = [one for one in accepted_in(project, window, policy) if one.period != str(period)]
    return judge(read_findings(project, others, window, None, policy), policy.bound, acceptances)


def finding_problems(project: Project) -> list[DeliveredProblem]:
    """The problems that are findings, of all deliveries."""
    return divide_problems(project)[0]


def divide_problems(project: Project) -> tuple[list[DeliveredProblem], list[DeliveredProblem]]:
    """(findings, notes): the money of a source whose lines are only compared with a bill moves nobody's amount; its usage does."""
    compared = set(project.books.reference_sources())
    tables = tables_by_source(project) if compared else {}
    measures = {source for source, brought in tables.items() if brought & {"usage", "capacity", "reservations"}}
    findings: list[DeliveredProblem] = []
    notes: list[DeliveredProblem] = []
    for one in project.books.delivered_problems():
        code = one.problem.code
        harmless = one.source in compared and (one.source not in measures or code in ABOUT_MONEY)
        (notes if harmless or treatment_of(code).kind == NOTED else findings).append(one)
    return findings, notes


def concerns(one: DeliveredProblem, own: Interval) -> bool:
    if one.problem.at:
        second = int(datetime.fromisoformat(one.problem.at).timestamp())
        return own.start_s <= second < own.end_s
    middle = (one.window.start_s + one.window.end_s) // 2  # a zone's midnight is some hours off the vendor's
    inside = own.start_s <= middle < own.end_s
    return inside or (
        one.window.seconds > own.seconds and one.window.start_s < own.end_s and one.window.end_s > own.start_s
    )


def read_findings(
    project: Project,
    problems: Sequence[DeliveredProblem],
    window: Interval,
    period: Period | None,
    policy: Policy | None,
) -> tuple[Finding, ...]:
    """Beside what was taken of the same sources in a window. What a policy counts nowhere touches nobody's share."""
    sources = sorted({one.source for one in problems})
    has_money = any(one.problem.money not in ("", "0") for one in problems)
    lines = lines_taken(project, sources, period) if has_money else None
    taken = Taken(
        rows=rows_taken(project, {one.delivery_id for one in problems}),
        month_rows=month_rows(project, problems, window),
        times=silent_times(problems, window),
        quantities=usage_taken(project, sources, window) if any(one.problem.meter for one in problems) else {},
        money=money_by_currency(lines) if lines is not None else {},
        currencies=currencies_by_line(lines) if lines is not None else {},
    )
    found = findings_of(((one.source, one.problem) for one in problems), taken, units_counted(policy))
    pushed = {source.name for source in project.sources if source.kind == PUSHED}
    fitting = tuple(replace(one, remedy=push_again(one.remedy)) if one.source in pushed else one for one in found)
    return fitting if policy is None else tuple(counted_by(one, policy) for one in fitting)


def push_again(remedy: str) -> str:
    """What is pushed cannot be ingested: nothing is there to be read once more."""
    return re.sub(r"\bingest( or push)?\b", "push", remedy)


def units_counted(policy: Policy | None) -> frozenset[str]:
    pools = policy.pools.values() if policy else ()
    return frozenset(unit_of(name) for pool in pools for name in pool.meter)


def counted_by(finding: Finding, policy: Policy) -> Finding:
    """Hours of what no pool counts touch nobody's share."""
    meters = {name: tuple(pool.meter) for name, pool in policy.pools.items()}
    unused = finding.hours and not finding.money and not pools_counting(finding.unit, meters)
    return replace(finding, share=Decimal(0)) if unused else finding


def rows_taken(project: Project, deliveries: set[str]) -> dict[str, int]:
    """The longest table of each delivery: a log's row is one of usage, and one of workloads, too."""
    found: Counter[str] = Counter()
    for row in project.books.deliveries():
        if row["delivery_id"] in deliveries:
            found[row["source"]] += max(row["rows"].values(), default=0)
    return dict(found)


def month_rows(project: Project, problems: Iterable[DeliveredProblem], window: Interval) -> dict[tuple[str, str], int]:
    """What rows of a longer delivery are beside, where they are told to their month and only counted: the rows of the source there."""
    asked = {
        (one.source, one.problem.code)
        for one in problems
        if one.problem.at and not one.problem.meter and one.window.seconds > window.seconds
    }
    counts = {source: rows_within(project, source, window) for source in {source for source, _ in asked}}
    return {key: counts[key[0]] for key in asked}


def silent_times(problems: Iterable[DeliveredProblem], window: Interval) -> dict[tuple[str, str], Decimal]:
    """Of deliveries without a row, what part of a window they speak for: of a source that delivers by day the days of which it has nothing."""
    spans: dict[str, set[Interval]] = {}
    for one in problems:
        if one.problem.code == SILENT:
            spans.setdefault(one.source, set()).add(one.window.clip(window))
    return {(source, SILENT): to_places(Fraction(seconds_of(found), window.seconds)) for source, found in spans.items()}


def seconds_of(spans: Iterable[Interval]) -> int:
    """Of their union."""
    seconds, reached = 0, 0
    for span in sorted(spans, key=lambda one: one.start_s):
        seconds += max(0, span.end_s - max(span.start_s, reached))
        reached = max(reached, span.end_s)
    return seconds


def rows_within(project: Project, source: str, window: Interval) -> int:
    """Of the longest table."""
    where = touches(window) & (pc.field("source") == source)
    tables = ("usage", "workloads", "capacity", "reservations")
    return max(len(project.books.scan(name, columns=["source"], where=where)) for name in tables)


def lines_taken(project: Project, sources: Sequence[str], period: Period | None) -> pa.Table:
    mine = pc.field("source").isin(pa.array(sources, pa.string()))
    if period is None:
        return project.books.scan("cost_lines", where=mine)
    return lines_billed(project, period, pins_of(project), mine)


def currencies_by_line(lines: pa.Table) -> dict[str, str]:
    """Of lines with a problem."""
    faulty = lines.filter(pc.is_valid(lines["problem"]))
    return dict(zip(faulty["line_id"].to_pylist(), faulty["BillingCurrency"].to_pylist(), strict=True))


def money_by_currency(lines: pa.Table) -> dict[tuple[str, str], Decimal]:
    """Of lines without a problem, by source and currency."""
    sound = lines.filter(pc.is_null(lines["problem"]))
    amounts = pc.abs(pc.coalesce(sound["EffectiveCost"], sound["BilledCost"]))
    table = pa.table({"source": sound["source"], "currency": sound["BillingCurrency"], "amount": amounts})
    sums = table.group_by(["source", "currency"]).aggregate([("amount", "sum")]).to_pylist()
    return {(row["source"], row["currency"] or ""): row["amount_sum"] or Decimal(0) for row in sums}


def pools_concerned(project: Project, finding: Finding, policy: Policy) -> tuple[str, ...]:
    """Its own, or those that count what it counts; of the rows of a log alone those that count anything; of money every pool."""
    if finding.pool:
        return (finding.pool,)
    meters = {name: tuple(pool.meter) for name, pool in policy.pools.items()}
    if finding.money:
        return tuple(meters)
    counting = pools_counting(finding.unit, meters) if finding.hours else ()
    if not finding.hours and is_log(project, finding.source):
        counting = tuple(name for name, counted in meters.items() if counted)
    return counting or tuple(meters)


def is_log(project: Project, source: str) -> bool:
    """Whether the books have rows of it, and none that are money."""
    tables = tables_by_source(project).get(source, set())
    return bool(tables) and not tables & {"cost_lines", "rates"}


def refuse_standing(judged: Iterable[JudgedFinding], period: Period, verb: str = "apply") -> None:
    """Those above the bound that nobody accepted stop what posts or closes."""
    standing = [one.finding for one in judged if one.stops]
    if not standing:
        return
    codes = " ".join(f"--accept {code}" for code in dict.fromkeys(one.code for one in standing))
    listed = "\n".join(f"  {finding_text(one)}\n    {one.message}\n    to mend it: {one.remedy}" for one in standing)
    many = "1 finding touches" if len(standing) == 1 else f"{len(standing)} findings touch"
    raise BooksError(
        "findings-stand",
        f"{many} more of {period} than the policy's bound allows:\n{listed}",
        hint=f"mend them, or let them stand: apportion {verb} --period {period} {codes} --why TEXT",
    )


def with_lost(made: Report, judged: Sequence[JudgedFinding]) -> Report:
    """Coverage is what is left: what is lost is told beside it, and the whole list goes with it."""
    return replace(
        made,
        title=" ".join((made.title, *lost_sentences(judged))),
        more={**made.more, "findings": findings_value(judged)},
        findings=tuple(judged),
    )


def problems_noted(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Those that are no findings."""
    return tuple(one for one in problems if treatment_of(one.code).kind == NOTED)
