"""What the record says: reads the posted table and hands it to a report. Nothing is computed here."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa

from apportion.books.shapes import CLOSE, PLAN
from apportion.errors import ProjectError
from apportion.model.times import Period, day_start, parse_period
from apportion.reports.carbon import carbon
from apportion.reports.completeness import marked
from apportion.reports.corrections import report_corrections
from apportion.reports.coverage import coverage
from apportion.reports.groups import DIMENSIONS, Where, names, narrowed, where_text
from apportion.reports.held import held
from apportion.reports.idle import idle
from apportion.reports.report import Record, Report
from apportion.reports.showback import showback
from apportion.reports.sums import DAYS
from apportion.reports.trend import trend
from apportion.verbs.agreement import basis_of, policy_for, policy_of_version
from apportion.verbs.asked import Months, nothing_posted, posted_months
from apportion.verbs.corrections import corrected
from apportion.verbs.findings import planned_findings, with_lost
from apportion.verbs.held import Holding, held_in
from apportion.verbs.incomplete import incomplete_days
from apportion.verbs.minor_units import read_posted
from apportion.verbs.periods import label
from apportion.verbs.project import Project
from apportion.verbs.settings import nearest

Reading = Callable[[Project, list[Period], int | None], Record]
REPORTS: Mapping[str, Callable[..., Report]] = {
    "showback": showback,
    "trend": trend,
    "idle": idle,
    "held": held,
    "coverage": coverage,
    "carbon": carbon,
}


def report(
    project: Project, name: str = "showback", periods: Months = None, where: Sequence[str] = (), **options: str
) -> Report:
    """Who owes what, and what else the record says: `showback`, `trend`, `idle`, `held`, `coverage`, `carbon` or `corrections`.

    `periods` as months, or as text: `2026-10`, `2026-Q4` or `2026-04..2026-10`; the newest that is posted unless given. `where` are filters such
    as `team=vision`. The option `as_of` is a day: as the books stood at its end. Others are the report's own, such as `by`.
    """
    months = posted_months(project, periods)
    made = report_from(read_record, project, name, months, where, **options)
    return with_findings(project, made, months) if name == "coverage" else made


def with_findings(project: Project, made: Report, periods: str | list[Period]) -> Report:
    """What coverage is without, for whoever may see all of it."""
    months = [parse_period(periods)] if isinstance(periods, str) else periods
    found = (one for month in months for one in planned_findings(project, policy_for(project, month), month))
    return with_lost(made, tuple(found))


def report_from(
    read: Reading, project: Project, name: str, periods: str | list[Period], where: Sequence[str] = (), **options: str
) -> Report:
    """Of a record that is read in another way: kept from before, or only what somebody may see."""
    if name not in (*REPORTS, "corrections"):
        raise ProjectError(
            "unknown-report", f"there is no report {name!r}", hint=nearest(name, [*REPORTS, "corrections"], "reports")
        )
    months = [parse_period(periods)] if isinstance(periods, str) else periods
    as_of, filters = options.pop("as_of", ""), read_filters(where)
    until_s = end_of(project, as_of) if as_of else None
    agreed = policies_posted(project, months, until_s)
    if name == "corrections":
        booked = [one for month in months for one in corrected(project, month, until_s)]
        made = report_corrections(label(months), booked, project.books.head(), where=filters, **options)
    else:
        record = only(read(project, months, until_s), filters, name)
        whole = name == "showback" and len(months) == 1 and not filters
        own = {"carried_by": carriers(project, agreed, months[-1])} if name == "idle" or whole else {}
        made = REPORTS[name](record, **own, **options)
    if made.columns[0].name == "day":
        made = replace(made, notes=(*made.notes, DAYS))
        made = marked(made, {day for month in months for day in incomplete_days(project, month, until_s)})
    notes = [f"Only {where_text(filters)}."] if filters else []
    notes += [f"As the books stood at the end of {as_of}."] if as_of else []
    more = {**made.more, "where": filters} if filters else made.more
    made = replace(made, notes=(*made.notes, *notes), more=more)
    return made if name == "carbon" else declared(made, basis_posted(project, agreed))


def read_filters(where: Sequence[str]) -> Where:
    """`team=vision`: of several for one dimension any may hold, of several dimensions all must."""
    found: dict[str, list[str]] = {}
    for text in where:
        by, equals, name = text.partition("=")
        if not equals:
            raise ProjectError("invalid-filter", f"{text!r} is no filter", hint="write it as team=vision")
        if by not in DIMENSIONS:
            raise ProjectError(
                "invalid-filter", f"nothing is told apart by {by!r}", hint=nearest(by, DIMENSIONS, "dimensions")
            )
        found.setdefault(by, []).append(name)
    return found


def only(record: Record, filters: Where, name: str) -> Record:
    """The part of the record that the filters leave; one that leaves nothing is more likely a slip of the pen than a wish."""
    some = narrowed(record, filters)
    if filters and not len(some.posted):
        by, wanted = list(filters.items())[-1]
        known = sorted(set(names(record.posted, by).to_pylist()))
        raise ProjectError(
            "nothing-matches",
            f"nothing that is posted for {record.period} has {where_text(filters)}",
            hint=nearest(wanted[0], known, by.replace("_", " ")),
        )
    if name == "held" and some.charges is None:
        raise ProjectError(
            "invalid-filter",
            f"hours are not told apart by {where_text(filters)}",
            hint="filter held by owners, pools, bills or days",
        )
    return some


def end_of(project: Project, day: str) -> int:
    """The last second of a day in the policy's time zone."""
    try:
        after = date.fromisoformat(day) + timedelta(days=1)
        return day_start(after, ZoneInfo(project.policy.time_zone)) - 1
    except (ValueError, OverflowError) as error:  # the first and the last days that there are have no neighbour
        raise ProjectError("invalid-day", f"{day!r} is not a day", hint="write it as 2026-11-05") from error


def declared(made: Report, basis: str) -> Report:
    """With the cost that its figures are."""
    return (
        made
        if not basis
        else replace(made, notes=(*made.notes, f"Amounts are {basis}."), more={**made.more, "basis": basis})
    )


def basis_posted(project: Project, agreed: Mapping[str, str]) -> str:
    found = dict.fromkeys(basis_of(policy_of_version(project, version)) for version in agreed.values())
    return " or ".join(found)


def policies_posted(project: Project, periods: list[Period], until_s: int | None = None) -> dict[str, str]:
    """The policy that each month was posted with, now or then: its own, and that of its corrections where it holds nothing else."""
    wanted = {str(period) for period in periods}
    runs = [
        run for run in project.books.runs() if run.period in wanted and (until_s is None or run.posted_s <= until_s)
    ]
    runs.sort(key=lambda run: run.kind in (PLAN, CLOSE))
    return {run.period: run.policy_version for run in runs}


def read_record(
    project: Project, periods: list[Period], until_s: int | None = None, holding: Holding = held_in
) -> Record:
    """The posted rows of some months, now or as they were. A month without any is an error with its remedy, not an empty page."""
    books = project.books
    tables = [read_posted(project, period, until_s) for period in periods]
    if not any(len(table) for table in tables):
        raise nothing_posted(project, periods, until_s)
    names = {policy.version: policy.name for policy in books.policies()}
    runs = [run for run in books.runs() if until_s is None or run.posted_s <= until_s]
    versions = policies_posted(project, periods, until_s)
    policies = tuple(f"{names.get(version, '?')}@{version[:12]}" for version in dict.fromkeys(versions.values()))
    at = None if until_s is None else books.charges_then(until_s)
    charges = holding(project, [str(period) for period in periods], at)
    return Record(label(periods), pa.concat_tables(tables), runs[-1].head_after, policies, charges)


def posted_periods(project: Project) -> set[str]:
    return {run.period for run in project.books.runs()}


def carriers(project: Project, agreed: Mapping[str, str], period: Period) -> Mapping[str, str]:
    """Who ends up with the system owners' balances, by the policy that the period was posted with."""
    version = agreed.get(str(period))
    found = policy_of_version(project, version).carried_by if version else {}
    return {str(owner): team for owner, team in found.items()}
