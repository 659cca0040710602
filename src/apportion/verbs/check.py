"""Is it sound and fresh? Settings, policy, sources, and how much of the bill has an owner, in money. Every failing line says what mends it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from apportion.errors import ApportionError, Problem
from apportion.model.findings import JudgedFinding
from apportion.model.numbers import parse_decimal
from apportion.model.result import Result
from apportion.model.times import Period
from apportion.render.findings import findings_tables
from apportion.render.sheet import Sheet, Table, sheet_of
from apportion.reports.coverage import coverage
from apportion.reports.findings import findings_value
from apportion.reports.quotas import figure
from apportion.reports.report import Column, Record, Report
from apportion.reports.sums import total
from apportion.reports.words import counted
from apportion.verbs.agreement import policy_for, short
from apportion.verbs.billed import bill_findings
from apportion.verbs.brought import Brought, brought
from apportion.verbs.findings import divide_problems, month_findings, other_findings, with_lost
from apportion.verbs.findings import source_findings as delivery_findings
from apportion.verbs.gaps import Gap, gaps_of
from apportion.verbs.minor_units import round_outcome
from apportion.verbs.nodes import node_findings
from apportion.verbs.notify import telling_findings
from apportion.verbs.overcommitted import overcommitted
from apportion.verbs.periods import as_period
from apportion.verbs.plan import Computed, compute
from apportion.verbs.plan_notes import bound_notes, undeclared_owners
from apportion.verbs.preview import preview_findings
from apportion.verbs.project import Project
from apportion.verbs.quota import quotas
from apportion.verbs.redelivery import Redelivery, redeliveries
from apportion.verbs.report import posted_periods
from apportion.verbs.settings import FILE
from apportion.verbs.silent import silent_days
from apportion.verbs.soundness import BAD, GOOD, NOTE, CheckLine, source_findings
from apportion.verbs.steps import Step, silent
from apportion.verbs.waiting import waiting
from apportion.verbs.world import known_periods, pins_of

REMEDIES = {"estimated": "see why nothing was measured then; ingest again once it can be read"}


@dataclass(frozen=True, slots=True, repr=False)
class Checked(Result):
    """`checks` are what was looked at; `findings` those of the month. `others` are the findings of other open months."""

    checks: tuple[CheckLine, ...]
    period: str
    coverage: Report | None
    gaps: tuple[Gap, ...]
    problems: tuple[Problem, ...]
    sources: tuple[Brought, ...] = ()
    again: tuple[Redelivery, ...] = ()
    findings: tuple[JudgedFinding, ...] = ()
    others: tuple[JudgedFinding, ...] = ()

    @property
    def sound(self) -> bool:
        """Nothing to mend, and no finding stands but those that somebody accepted."""
        return not self.wrong and all(one.acceptance for one in (*self.findings, *self.others))

    @property
    def wrong(self) -> bool:
        """Something to mend before the month, or another open one, can be posted."""
        return any(one.status == BAD for one in self.checks) or any(one.stops for one in (*self.findings, *self.others))


def check(project: Project, period: Period | str | None = None, step: Step = silent) -> Checked:
    """Whether settings, policy and sources are sound, the data is fresh and the bill has owners, in money.

    Goes on after a failure, so that one run names everything.
    """
    checks = [settings_finding(project)]
    checks += guarded(lambda: policy_findings(project), "policy")
    for source in project.sources:
        step(f"reading {source.name}", 0, 0)
        checks += guarded(lambda source=source: source_findings(project, source), f"source {source.name}")  # type: ignore[misc]  # bound per turn
    checks += unnamed_findings(project)
    again = redeliveries(project)
    checks += again_findings(again)
    problems = tuple(project.books.problems())
    checks += problem_notes(one.problem for one in divide_problems(project)[1])
    checks += guarded(lambda: telling_findings(project), "notify")
    computed = None
    month = newest(project, period)
    checks += guarded(lambda: preview_findings(project, month), "preview") if project_policy(project) else []
    if month is not None and project_policy(project):
        try:
            computed = compute(project, month, policy_for(project, month), pins_of(project), step)
        except ApportionError as error:
            checks.append(finding_of(error, f"plan of {month}"))
    checks += guarded(lambda: waiting_findings(project, step), "corrections")
    checks += guarded(lambda: quota_findings(project, month), "quotas") if project_policy(project) else []
    if month is not None:
        checks += guarded(lambda: bill_findings(project, month), "bills")
    report = coverage_of(project, computed) if computed else None
    gaps = gaps_of(computed) if computed else ()
    found, others = month_and_others(project, month, computed)
    report = with_lost(report, found) if report else None
    if report and computed:
        checks += coverage_findings(report, gaps, computed)
        checks += node_findings(computed)
        checks += noted_findings(computed)
        problems += computed.plan.problems
    return Checked(tuple(checks), str(month or ""), report, gaps, problems, brought(project), again, found, others)


Judged = tuple[JudgedFinding, ...]


def month_and_others(project: Project, month: Period | None, computed: Computed | None) -> tuple[Judged, Judged]:
    """The findings of the month that is looked at, and those of the other open months."""
    if not project_policy(project):
        return (), ()
    if month is None:
        every = project.books.deliveries()
        found = [source_findings_of(project, name, every) for name in sorted({row["source"] for row in every})]
        return tuple(one for some in found for one in some), ()
    policy = computed.world.policy if computed else project.policy
    met = computed.plan.findings if computed else ()
    return month_findings(project, policy, month, met), other_findings(project, policy, month)


def source_findings_of(project: Project, source: str, deliveries: list[dict[str, Any]]) -> Judged:
    return delivery_findings(project, source, (row["delivery_id"] for row in deliveries if row["source"] == source))


def guarded(look: Callable[[], Iterator[CheckLine]], what: str) -> list[CheckLine]:
    try:
        return list(look())
    except ApportionError as error:
        return [finding_of(error, what)]


def finding_of(error: ApportionError, what: str) -> CheckLine:
    where = f" ({error.where})" if error.where else ""
    return CheckLine(BAD, what, f"{error.message}{where} [{error.code}]", error.hint)


def settings_finding(project: Project) -> CheckLine:
    names = ", ".join(source.name for source in project.sources)
    if not names:
        return CheckLine(NOTE, FILE, "names no source yet", "add a [[sources]] stanza; the commented ones show how")
    return CheckLine(GOOD, FILE, f"sources: {names}")


def policy_findings(project: Project) -> Iterator[CheckLine]:
    policy = project.policy
    yield CheckLine(
        GOOD,
        "policy",
        f"{short(policy)} in {policy.file}, in force from {policy.effective}: {counted(len(policy.pools), 'pool')}",
    )
    for warning in policy.warnings:
        yield CheckLine(NOTE, "policy", warning, f"edit {policy.file}, or leave it if it is meant")


def unnamed_findings(project: Project) -> Iterator[CheckLine]:
    """Sources of which the books have rows that still count, and apportion.toml has no stanza."""
    named = {source.name for source in project.sources}
    counting = (row for row in project.books.deliveries() if row["superseded_by"] is None and any(row["rows"].values()))
    for name, count in sorted(Counter(row["source"] for row in counting if row["source"] not in named).items()):
        text = f"{FILE} has no such source, and {counted(count, 'delivery', 'deliveries')} of it still {'counts' if count == 1 else 'count'}"
        yield CheckLine(NOTE, f"source {name}", text, "name it again, or leave it if it is meant")


def again_findings(again: tuple[Redelivery, ...]) -> Iterator[CheckLine]:
    """By source, how many deliveries an earlier release took in by other rules."""
    for source, count in Counter(one.source for one in again).items():
        first = next(one for one in again if one.source == source)
        text = f"{source}: {counted(count, 'delivery', 'deliveries')} to ingest again, the first {first.delivery_id} ({first.why})"
        yield CheckLine(NOTE, "deliveries", text, first.command)


def waiting_findings(project: Project, step: Step) -> Iterator[CheckLine]:
    """Closed months that what was delivered since would change."""
    for one in waiting(project, step):
        yield CheckLine(NOTE, "corrections", one.text, one.fix())


def quota_findings(project: Project, month: Period | None) -> Iterator[CheckLine]:
    """Quotas below what is used already. They hold all the same: nothing fits in them until the next window."""
    if month is None or str(month) not in posted_periods(project):
        return
    for one in quotas(project, month):
        if one.used > one.size:
            what = (
                f"{one.limit.owner}: {figure(one.used)} of {figure(one.size)} {one.limit.unit} are used in {one.window}"
            )
            hint = "raise it, let others lend some (apportion quota lend), or leave it: nothing fits until the next one"
            yield CheckLine(NOTE, "quotas", f"{what}, more than the quota", hint)


def project_policy(project: Project) -> bool:
    try:
        return bool(project.policy)
    except ApportionError:
        return False


def problem_notes(noted: Iterable[Problem]) -> Iterator[CheckLine]:
    """Problems that are no findings, by code, with the money that the rows carried."""
    problems = tuple(noted)
    counts = Counter(problem.code for problem in problems)
    for code, count in sorted(counts.items()):
        money = total(money_of(problem) for problem in problems if problem.code == code)
        carried = f" with {money.normalize():f} of money" if money else ""
        first = next(problem for problem in problems if problem.code == code)
        yield CheckLine(
            NOTE,
            "problems",
            f"{counted(count, 'row')} [{code}]{carried}; the first: {first.where}: {first.message}",
            REMEDIES.get(code, "mend the rows and ingest again"),
        )


def money_of(problem: Problem) -> Decimal:
    try:
        return parse_decimal(problem.money)
    except ApportionError:
        return Decimal(0)


def newest(project: Project, period: Period | str | None) -> Period | None:
    if period is not None:
        return as_period(period)
    known = known_periods(project, pins_of(project))
    return as_period(max(known)) if known else None


def coverage_of(project: Project, computed: Computed) -> Report:
    """Of a plan made now, whether posted or not."""
    rows = round_outcome(project, computed.plan.period, computed.plan.postings)
    return coverage(Record(str(computed.plan.period), rows, head="", policies=(short(computed.world.policy),)))


def noted_findings(computed: Computed) -> Iterator[CheckLine]:
    """What no figure shows by itself."""
    policy, made = computed.world.policy, computed.plan
    for text in undeclared_owners(policy, made.postings):
        yield CheckLine(NOTE, "teams", text, f"name them under teams in {policy.file}, or mend their labels")
    for text in bound_notes(policy, made.bills):
        yield CheckLine(NOTE, "policy", text, "add an `fx` table, or leave it if it is meant")


def coverage_findings(report: Report, gaps: tuple[Gap, ...], computed: Computed) -> Iterator[CheckLine]:
    yield CheckLine(NOTE if gaps else GOOD, "coverage", report.title, gaps[0].fix if gaps else "")
    for day in silent_days(computed):
        yield CheckLine(
            NOTE, "usage", day, "see whether the source delivered those days; apportion ingest reads them again"
        )
    for board in overcommitted(computed):
        yield CheckLine(
            NOTE,
            "capacity",
            board,
            "mend the inventory; where boards are shared, `scope: resource` keeps each to its own money",
        )


@sheet_of.register
def check_sheet(done: Checked) -> Sheet:
    title = check_title(done)
    columns = (
        Column("status", ""),
        Column("what", "what"),
        Column("text", "finding"),
        Column("fix", "to mend it", quiet=True),
    )
    tables = [Table(columns, tuple((one.status, one.what, one.text, one.fix) for one in done.checks))]
    tables += findings_tables(done.findings)
    tables += findings_tables(done.others, "Findings of other open months")
    if done.coverage:
        tables += [
            Table(
                done.coverage.columns,
                part.rows,
                part.totals,
                part.currency,
                f"The bill of {done.period} in {part.currency}, as planned now",
            )
            for part in done.coverage.sections
        ]
    for currency in sorted({gap.currency for gap in done.gaps}):
        tables.append(gap_table(done, currency))
    if done.again:
        tables.append(again_table(done.again))
    value = {
        "sound": done.sound,
        "period": done.period,
        "checks": done.checks,
        "findings": findings_value(done.findings),
        "others": findings_value(done.others),
        "coverage": [
            {"currency": part.currency, "bill": part.bill, "rows": rows_of(done, part.rows)}
            for part in done.coverage.sections
        ]
        if done.coverage
        else [],
        "gaps": done.gaps,
        "problems": done.problems,
        "sources": done.sources,
        "again": done.again,
    }
    return Sheet(title, tuple(tables), value)


def check_title(done: Checked) -> str:
    wrong = sum(one.status == BAD for one in done.checks)
    standing = sum(one.acceptance is None for one in (*done.findings, *done.others))
    accepted = len(done.findings) + len(done.others) - standing
    parts = [f"{counted(wrong, 'thing')} to mend"] if wrong else []
    parts += [f"{counted(standing, 'finding')} to act on"] if standing else []
    said = f" {counted(accepted, 'finding')} {'was' if accepted == 1 else 'were'} accepted." if accepted else ""
    return (f"{', '.join(parts)}." if parts else "Settings, policy and sources are sound.") + said


def again_table(again: tuple[Redelivery, ...]) -> Table:
    names = ("source", "start", "end", "delivery_id", "why", "command")
    columns = tuple(Column(name, name.replace("_id", "")) for name in names)
    rows = tuple(tuple(getattr(one, name) for name in names) for one in again)
    return Table(columns, rows, heading="Deliveries to ingest again: taken in by the rules of an earlier release")


def gap_table(done: Checked, currency: str) -> Table:
    columns = (
        Column("amount", "amount", "money"),
        Column("cause", "cause"),
        Column("count", "count", "count"),
        Column("labels", "labels"),
        Column("fix", "to mend it"),
    )
    rows = tuple(
        (gap.amount, gap.cause, gap.count, ", ".join(f"{key}={value}" for key, value in gap.labels.items()), gap.fix)
        for gap in done.gaps
        if gap.currency == currency
    )
    return Table(columns, rows, currency=currency, heading=f"Money without an owner in {currency}, largest first")


def rows_of(done: Checked, rows: tuple[tuple[object, ...], ...]) -> list[dict[str, object]]:
    names = [column.name for column in done.coverage.columns] if done.coverage else []
    return [dict(zip(names, row, strict=True)) for row in rows]
