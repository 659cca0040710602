"""What is looked at before a month is closed. Each look is a sentence, and says what mends it where it says no."""

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import OPEN
from apportion.errors import ProjectError
from apportion.model.currencies import is_money
from apportion.model.findings import JudgedFinding
from apportion.model.rows import SYSTEM_OWNERS, UNALLOCATED
from apportion.model.times import Period, day_start
from apportion.policy.document import Policy
from apportion.policy.rules import Closing
from apportion.reports.findings import finding_text
from apportion.reports.report import Cell, Report
from apportion.reports.sums import grouped, share_of, total
from apportion.reports.words import counted, percent, shown
from apportion.verbs.agreement import policy_for
from apportion.verbs.minor_units import read_posted
from apportion.verbs.months import closable_from
from apportion.verbs.plan import Computed, beside_record, compute
from apportion.verbs.preview import NO_BILL, trouble_in, upcoming
from apportion.verbs.project import Project
from apportion.verbs.reconcile import reconciled
from apportion.verbs.silent import silent_days
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import pins_of

FOUND = "findings"
Sums = Mapping[tuple[str, ...], Decimal]


@dataclass(frozen=True, slots=True)
class Look:
    name: str
    good: bool
    text: str
    fix: str = ""


def looks(
    project: Project, period: Period, step: Step = silent, findings: Iterable[JudgedFinding] = ()
) -> Iterator[Look]:
    """`findings` are those of the month, after what was accepted."""
    policy = policy_for(project, period)
    rules = policy.close or Closing()
    yield over(policy, period)
    yield in_order(project, period)
    yield found_nothing(findings, period)
    yield from evidenced(project, policy, period, step)
    mine = read_posted(project, period)
    yield from owned(mine, rules, period)
    yield changed(mine, read_posted(project, period.previous), rules)
    yield undisputed(project, period, rules)
    yield from announced(project, period, step)


def evidenced(project: Project, policy: Policy, period: Period, step: Step) -> Iterator[Look]:
    """A month without a bill, that only holds what was late for others, has no evidence to look at."""
    step("planning again", 0, 0)
    try:
        computed = compute(project, period, policy, pins_of(project), step)
    except ProjectError as error:
        if error.code != NO_BILL:
            raise
        yield Look("posted", good=True, text="no bill, and no price list")
        return
    yield posted(project, policy, computed)
    step("reconciling", 0, 0)
    yield from bills(reconciled(project, period), period)
    yield covered(computed)


def found_nothing(findings: Iterable[JudgedFinding], period: Period) -> Look:
    """Findings above the policy's bound that nobody accepted."""
    standing = [one.finding for one in findings if one.stops]
    codes = " ".join(f"--accept {code}" for code in dict.fromkeys(one.code for one in standing))
    text = "; ".join(map(finding_text, standing)) or "no finding above the bound, but for those that were accepted"
    return Look(FOUND, not standing, text, f"mend them, or apportion close --period {period} {codes} --why TEXT")


def over(policy: Policy, period: Period) -> Look:
    """A month is in review for its days of grace."""
    day = closable_from(policy, period)
    late = time.time() >= day_start(day, ZoneInfo(policy.time_zone))
    return Look("over", late, f"{period} can be closed from {day} on", "wait until then")


def in_order(project: Project, period: Period) -> Look:
    """What is late goes into the next open month: so months are closed in their order."""
    closed = set(project.books.closed_periods())
    before = sorted({run.period for run in project.books.runs() if run.period < str(period)} - closed)
    if before:
        return Look(
            "in order",
            good=False,
            text=f"{', '.join(before)} is still open",
            fix=f"apportion close --period {before[0]}",
        )
    return Look("in order", good=True, text="no earlier month is open")


def posted(project: Project, policy: Policy, computed: Computed) -> Look:
    period = str(computed.plan.period)
    planned = beside_record(project, policy, computed.plan, project.books.head())
    if planned.pending:
        return Look("posted", good=False, text=planned.tally, fix=f"apportion plan --period {period}, then apply")
    return Look("posted", good=True, text="what a plan would post is posted")


def bills(report: Report, period: Period) -> Iterator[Look]:
    """Read, posted and said elsewhere are one figure, and no bill is an estimate."""
    fix = f"apportion report reconcile --period {period}"
    rows = [row for one in (report, *report.beside) if one.name in ("reconcile", "references") for row in rows_of(one)]
    apart = [row for row in rows if row["difference"]]
    said = (
        f"{counted(len(apart), 'figure')} of {len(rows)} apart, the first of {apart[0]['bill']}"
        if apart
        else report.title
    )
    yield Look("reconciled", not apart, said, fix)
    early = sorted({str(row["bill"]) for row in rows if row.get("status") == "estimated"})
    text = f"{', '.join(early)} is estimated" if early else "no bill is an estimate"
    yield Look("final", not early, text, "wait for the final bill and ingest it")


def rows_of(report: Report) -> Iterator[dict[str, Cell]]:
    names = [column.name for column in report.columns]
    for section in report.sections:
        yield from (dict(zip(names, row, strict=True)) for row in section.rows)


def covered(computed: Computed) -> Look:
    """Days on which nothing ran and no capacity was told are often files that never came."""
    found = list(silent_days(computed))
    fix = "see whether the source delivered those days; apportion ingest reads them again"
    return Look("covered", not found, "; ".join(found) or "usage on every day", fix)


def owned(mine: pa.Table, rules: Closing, period: Period) -> Iterator[Look]:
    """Money that nobody owns, because a row was wrong or no rule names its owner."""
    money = mine.filter(
        pc.is_in(mine["currency"], pa.array([one for one in currencies(mine) if is_money(one)], pa.string()))
    )
    whole = grouped(money, ("currency",))
    lost = grouped(money.filter(pc.equal(money["team"], UNALLOCATED)), ("currency", "cause"))
    broken = {key[0]: amount for key, amount in lost.items() if key[1] == "problem" and amount}
    text = ", ".join(shown(amount, currency) for currency, amount in sorted(broken.items()))
    yield Look(
        "sound",
        not broken,
        f"{text} is of rows with problems" if broken else "no money of a row with a problem",
        "apportion check",
    )
    nobody = {
        currency: total(amount for key, amount in lost.items() if key[0] == currency and key[1] != "problem")
        for (currency,) in whole
    }
    beyond = {
        currency: amount
        for currency, amount in nobody.items()
        if abs(Fraction(amount)) * 100 > rules.unowned * abs(Fraction(whole[currency,]))
    }
    text = ", ".join(
        f"{shown(amount, currency)} ({percent(share_of(amount, whole[currency,]))}) has no owner"
        for currency, amount in sorted(beyond.items())
    )
    yield Look(
        "owned",
        not beyond,
        text or "all money has an owner, but for what the policy allows",
        f"apportion check --period {period}",
    )


def currencies(mine: pa.Table) -> list[str]:
    return sorted(pc.unique(mine["currency"]).to_pylist())


def changed(mine: pa.Table, before: pa.Table, rules: Closing) -> Look:
    """Teams that owe far more or less than the month before; those that are new owe it for the first time."""
    if rules.change is None or not len(before):
        return Look("steady", good=True, text="no bound, or no month before")
    now, then = (owners(table) for table in (mine, before))
    far = {
        key: (then[key], now.get(key, Decimal(0)))
        for key in then
        if then[key]
        and abs(Fraction(now.get(key, Decimal(0))) - Fraction(then[key])) * 100
        > rules.change * abs(Fraction(then[key]))
    }
    text = "; ".join(
        f"{team}: {shown(was, currency)} to {shown(is_now, currency)}"
        for (currency, team), (was, is_now) in sorted(far.items())
    )
    return Look("steady", not far, text or f"no team changed by more than {rules.change} %", "apportion report trend")


def undisputed(project: Project, period: Period, rules: Closing) -> Look:
    """What is settled after the close is posted in the next open month, unless the policy wants it settled before."""
    still = [str(one.number) for one in project.books.disputes() if (one.period, one.status) == (str(period), OPEN)]
    text = f"{counted(len(still), 'dispute')} open: {', '.join(still)}" if still else "no dispute is open"
    return Look("undisputed", not still or rules.disputes == "allow", text, "apportion dispute list, then settle them")


def announced(project: Project, period: Period, step: Step) -> Iterator[Look]:
    """Where statements are to tell of rules to come, these can be read and applied to the month."""
    found = upcoming(project, period)
    if found is None:
        return
    step(f"planning by {found.name}", 0, 0)
    trouble = trouble_in(project, period, found.policy) if found.policy else found.trouble
    text = f"{found.name}: {trouble.message}" if trouble else f"{found.name} is shown beside the rules in force"
    yield Look("preview", trouble is None, text, "mend it, or take `preview` out of the policy")


def owners(table: pa.Table) -> Sums:
    found = grouped(table, ("currency", "team"))
    return {key: amount for key, amount in found.items() if key[1] not in SYSTEM_OWNERS}
