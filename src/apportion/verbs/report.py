"""What the record says: reads the posted table and hands it to a report. Nothing is computed here."""

from collections.abc import Mapping
from functools import partial

import pyarrow as pa

from apportion.errors import ProjectError
from apportion.model.rows import POSTINGS
from apportion.model.times import Period
from apportion.reports.coverage import coverage
from apportion.reports.idle import idle
from apportion.reports.report import Record, Report
from apportion.reports.showback import showback
from apportion.reports.trend import trend
from apportion.verbs.agreement import policy_of_version
from apportion.verbs.periods import label
from apportion.verbs.project import Project

REPORTS = {"showback": showback, "trend": trend, "idle": idle, "coverage": coverage}


def report(project: Project, name: str, periods: list[Period], options: Mapping[str, str] | None = None) -> Report:
    record = read_record(project, periods)
    if name == "idle":
        return idle(record, carriers(project, periods[-1]))
    return partial(REPORTS[name], record)(**(options or {}))


def read_record(project: Project, periods: list[Period]) -> Record:
    """The posted rows of some months. A month without any is an error with its remedy, not an empty page."""
    books = project.books
    tables = [books.posted(str(period)).select(POSTINGS.names) for period in periods]
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
    versions = {run.period: run.policy_version for run in books.runs() if run.period in wanted}
    policies = tuple(f"{names.get(version, '?')}@{version[:12]}" for version in dict.fromkeys(versions.values()))
    return Record(label(periods), pa.concat_tables(tables), books.head(), policies)


def posted_periods(project: Project) -> set[str]:
    return {run.period for run in project.books.runs()}


def carriers(project: Project, period: Period) -> Mapping[str, str]:
    """Who ends up with the system owners' balances, by the policy that the period was posted with."""
    versions = [run.policy_version for run in project.books.runs() if run.period == str(period)]
    return policy_of_version(project, versions[-1]).carried_by if versions else {}
