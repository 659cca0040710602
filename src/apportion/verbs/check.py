"""Is it sound and fresh? Settings, policy, sources, and how much of the bill has an owner, in money. Every failing line says what mends it."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from zoneinfo import ZoneInfo

from apportion.engine.backend import whole_quotient as divide
from apportion.errors import ApportionError, Problem
from apportion.model.numbers import parse_decimal
from apportion.model.result import Result
from apportion.model.times import Period, instant_text
from apportion.render.sheet import Sheet, Table, sheet_of
from apportion.reports.coverage import coverage
from apportion.reports.quotas import figure
from apportion.reports.report import Column, Record, Report
from apportion.reports.sums import total
from apportion.reports.words import counted
from apportion.verbs.agreement import policy_for, short
from apportion.verbs.billed import bill_findings
from apportion.verbs.brought import Brought, brought
from apportion.verbs.gaps import Gap, gaps_of
from apportion.verbs.nodes import node_findings
from apportion.verbs.notify import telling_findings
from apportion.verbs.overcommitted import overcommitted
from apportion.verbs.periods import as_period
from apportion.verbs.plan import Computed, compute
from apportion.verbs.preview import preview_findings
from apportion.verbs.project import Project
from apportion.verbs.quota import quotas
from apportion.verbs.report import posted_periods
from apportion.verbs.settings import FILE
from apportion.verbs.soundness import BAD, GOOD, NOTE, Finding, source_findings
from apportion.verbs.steps import Step, silent
from apportion.verbs.waiting import waiting
from apportion.verbs.world import known_periods, pins_of

REMEDIES = {"estimated": "see why nothing was measured then; ingest again once it can be read"}


@dataclass(frozen=True, slots=True, repr=False)
class Checked(Result):
    findings: tuple[Finding, ...]
    period: str
    coverage: Report | None
    gaps: tuple[Gap, ...]
    problems: tuple[Problem, ...]
    sources: tuple[Brought, ...] = ()

    @property
    def sound(self) -> bool:
        return all(finding.status != BAD for finding in self.findings)


def check(project: Project, period: Period | str | None = None, step: Step = silent) -> Checked:
    """Whether settings, policy and sources are sound, the data is fresh and the bill has owners, in money.

    Goes on after a failure, so that one run names everything.
    """
    findings = [settings_finding(project)]
    findings += guarded(lambda: policy_findings(project), "policy")
    for source in project.sources:
        step(f"reading {source.name}", 0, 0)
        findings += guarded(lambda source=source: source_findings(project, source), f"source {source.name}")  # type: ignore[misc]  # bound per turn
    problems = tuple(project.books.problems())
    findings += problem_findings(problems)
    findings += guarded(lambda: telling_findings(project), "notify")
    computed = None
    month = newest(project, period)
    findings += guarded(lambda: preview_findings(project, month), "preview") if project_policy(project) else []
    if month is not None and project_policy(project):
        try:
            computed = compute(project, month, policy_for(project, month), pins_of(project), step)
        except ApportionError as error:
            findings.append(finding_of(error, f"plan of {month}"))
    findings += guarded(lambda: waiting_findings(project, step), "corrections")
    findings += guarded(lambda: quota_findings(project, month), "quotas") if project_policy(project) else []
    if month is not None:
        findings += guarded(lambda: bill_findings(project, month), "bills")
    report = coverage_of(computed) if computed else None
    gaps = gaps_of(computed) if computed else ()
    if report and computed:
        findings += coverage_findings(report, gaps, computed)
        findings += node_findings(computed)
        problems += computed.plan.problems
    return Checked(tuple(findings), str(month or ""), report, gaps, problems, brought(project))


def guarded(look: Callable[[], Iterator[Finding]], what: str) -> list[Finding]:
    try:
        return list(look())
    except ApportionError as error:
        return [finding_of(error, what)]


def finding_of(error: ApportionError, what: str) -> Finding:
    where = f" ({error.where})" if error.where else ""
    return Finding(BAD, what, f"{error.message}{where} [{error.code}]", error.hint)


def settings_finding(project: Project) -> Finding:
    names = ", ".join(source.name for source in project.sources)
    if not names:
        return Finding(NOTE, FILE, "names no source yet", "add a [[sources]] stanza; the commented ones show how")
    return Finding(GOOD, FILE, f"sources: {names}")


def policy_findings(project: Project) -> Iterator[Finding]:
    policy = project.policy
    yield Finding(
        GOOD,
        "policy",
        f"{short(policy)} in {policy.file}, in force from {policy.effective}: {counted(len(policy.pools), 'pool')}",
    )
    for warning in policy.warnings:
        yield Finding(NOTE, "policy", warning, f"edit {policy.file}, or leave it if it is meant")


def waiting_findings(project: Project, step: Step) -> Iterator[Finding]:
    """Closed months that what was delivered since would change."""
    for one in waiting(project, step):
        yield Finding(NOTE, "corrections", one.text, one.fix())


def quota_findings(project: Project, month: Period | None) -> Iterator[Finding]:
    """Quotas below what is used already. They hold all the same: nothing fits in them until the next window."""
    if month is None or str(month) not in posted_periods(project):
        return
    for one in quotas(project, month):
        if one.used > one.size:
            what = (
                f"{one.limit.owner}: {figure(one.used)} of {figure(one.size)} {one.limit.unit} are used in {one.window}"
            )
            hint = "raise it, let others lend some (apportion quota lend), or leave it: nothing fits until the next one"
            yield Finding(NOTE, "quotas", f"{what}, more than the quota", hint)


def project_policy(project: Project) -> bool:
    try:
        return bool(project.policy)
    except ApportionError:
        return False


def problem_findings(problems: tuple[Problem, ...]) -> Iterator[Finding]:
    """By code, with the money that the rows carried."""
    counts = Counter(problem.code for problem in problems)
    for code, count in sorted(counts.items()):
        money = total(money_of(problem) for problem in problems if problem.code == code)
        carried = f" with {money.normalize():f} of money" if money else ""
        first = next(problem for problem in problems if problem.code == code)
        yield Finding(
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


def coverage_of(computed: Computed) -> Report:
    """Of a plan made now, whether posted or not."""
    return coverage(
        Record(str(computed.plan.period), computed.plan.postings, head="", policies=(short(computed.world.policy),))
    )


def coverage_findings(report: Report, gaps: tuple[Gap, ...], computed: Computed) -> Iterator[Finding]:
    yield Finding(NOTE if gaps else GOOD, "coverage", report.title, gaps[0].fix if gaps else "")
    for day in silent_days(computed):
        yield Finding(
            NOTE, "usage", day, "see whether the source delivered those days; apportion ingest reads them again"
        )
    for board in overcommitted(computed):
        yield Finding(
            NOTE,
            "capacity",
            board,
            "mend the inventory; where boards are shared, `scope: resource` keeps each to its own money",
        )


def silent_days(computed: Computed) -> Iterator[str]:
    """Days of the period on which nothing started, per source: often a file that never came."""
    zone = ZoneInfo(computed.world.policy.time_zone)
    usage, interval = computed.world.usage, computed.world.period.interval(zone)
    if not hasattr(usage, "to_pyarrow"):
        usage = computed.plan.trace.setting.backend.lend(usage)
    days = range(interval.start_s, interval.end_s, 86_400)
    started = usage.filter(usage.start_s >= interval.start_s, usage.start_s < interval.end_s)
    rows = (
        started.select("source", day=divide(started.start_s - interval.start_s, 86_400))
        .distinct()
        .to_pyarrow()
        .to_pylist()
    )
    for source in sorted({row["source"] for row in rows}):
        seen = {row["day"] for row in rows if row["source"] == source}
        missing = [instant_text(second)[:10] for number, second in enumerate(days) if number not in seen]
        if missing and len(missing) < len(days):
            shown = ", ".join(missing[:5]) + (f" and {len(missing) - 5} more" if len(missing) > 5 else "")
            yield f"{source}: nothing starts on {counted(len(missing), 'day')}: {shown}"


@sheet_of.register
def check_sheet(done: Checked) -> Sheet:
    wrong = sum(finding.status == "wrong" for finding in done.findings)
    title = f"{counted(wrong, 'thing')} to mend." if wrong else "Settings, policy and sources are sound."
    columns = (
        Column("status", ""),
        Column("what", "what"),
        Column("text", "finding"),
        Column("fix", "to mend it", quiet=True),
    )
    tables = [Table(columns, tuple((one.status, one.what, one.text, one.fix) for one in done.findings))]
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
    value = {
        "sound": done.sound,
        "period": done.period,
        "findings": done.findings,
        "coverage": [
            {"currency": part.currency, "bill": part.bill, "rows": rows_of(done, part.rows)}
            for part in done.coverage.sections
        ]
        if done.coverage
        else [],
        "gaps": done.gaps,
        "problems": done.problems,
        "sources": done.sources,
    }
    return Sheet(title, tuple(tables), value)


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
