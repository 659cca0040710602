"""What the record says: reads the posted table and hands it to a report. Nothing is computed here."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import CLOSE, PLAN
from apportion.errors import ProjectError
from apportion.model.rows import POSTINGS
from apportion.model.times import Period, day_start, parse_period
from apportion.reports.carbon import carbon
from apportion.reports.coverage import coverage
from apportion.reports.held import READ, held
from apportion.reports.idle import idle
from apportion.reports.report import Record, Report
from apportion.reports.showback import showback
from apportion.reports.trend import trend
from apportion.verbs.agreement import basis_of, policy_of_version
from apportion.verbs.periods import label
from apportion.verbs.project import Project
from apportion.verbs.settings import nearest

REPORTS: Mapping[str, Callable[..., Report]] = {
    "showback": showback,
    "trend": trend,
    "idle": idle,
    "held": held,
    "coverage": coverage,
    "carbon": carbon,
}


def report(project: Project, name: str, periods: str | list[Period], as_of: str = "", **options: str) -> Report:
    """`periods` as months, or as text: `2026-10`. `as_of` is a day: as the books stood at its end. Options are the report's own, such as `by`."""
    if name not in REPORTS:
        raise ProjectError("unknown-report", f"there is no report {name!r}", hint=nearest(name, REPORTS, "reports"))
    months = [parse_period(periods)] if isinstance(periods, str) else periods
    until_s = end_of(project, as_of) if as_of else None
    record = read_record(project, months, until_s)
    agreed = policies_posted(project, months, until_s)
    made = idle(record, carriers(project, agreed, months[-1])) if name == "idle" else REPORTS[name](record, **options)
    made = replace(made, notes=(*made.notes, f"As the books stood at the end of {as_of}.")) if as_of else made
    return made if name == "carbon" else declared(made, basis_posted(project, agreed))


def end_of(project: Project, day: str) -> int:
    """The last second of a day in the policy's time zone."""
    try:
        after = date.fromisoformat(day) + timedelta(days=1)
    except ValueError as error:
        raise ProjectError("invalid-day", f"{day!r} is not a day", hint="write it as 2026-11-05") from error
    return day_start(after, ZoneInfo(project.policy.time_zone)) - 1


def declared(made: Report, basis: str) -> Report:
    """With the cost that its figures are."""
    return replace(made, notes=(*made.notes, f"Amounts are {basis}."), more={**made.more, "basis": basis})


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


def read_record(project: Project, periods: list[Period], until_s: int | None = None) -> Record:
    """The posted rows of some months, now or as they were. A month without any is an error with its remedy, not an empty page."""
    books = project.books
    tables = [books.posted(str(period), as_of_s=until_s).select(POSTINGS.names) for period in periods]
    if not any(len(table) for table in tables):
        some = sorted(posted_periods(project))
        raise ProjectError(
            "nothing-posted",
            f"nothing is posted for {label(periods)}",
            hint=f"run `apportion plan --period {periods[0]}` and `apportion apply --period {periods[0]}`"
            + (f"; posted: {', '.join(some)}" if some else ""),
        )
    names = {policy.version: policy.name for policy in books.policies()}
    wanted = {str(period) for period in periods}
    runs = [run for run in books.runs() if until_s is None or run.posted_s <= until_s]
    versions = policies_posted(project, periods, until_s)
    policies = tuple(f"{names.get(version, '?')}@{version[:12]}" for version in dict.fromkeys(versions.values()))
    at = None if until_s is None else books.charges_then(until_s)
    charges = books.scan("charges", at, columns=READ, where=pc.field("period").isin(sorted(wanted)))
    return Record(label(periods), pa.concat_tables(tables), runs[-1].head_after, policies, charges)


def posted_periods(project: Project) -> set[str]:
    return {run.period for run in project.books.runs()}


def carriers(project: Project, agreed: Mapping[str, str], period: Period) -> Mapping[str, str]:
    """Who ends up with the system owners' balances, by the policy that the period was posted with."""
    version = agreed.get(str(period))
    found = policy_of_version(project, version).carried_by if version else {}
    return {str(owner): team for owner, team in found.items()}
