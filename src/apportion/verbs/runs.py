"""What runs, experiments and trials cost, with what failed, and what a token cost."""

from collections.abc import Sequence
from dataclasses import replace

from apportion.errors import ProjectError
from apportion.reports.report import Report
from apportion.reports.runs import BY, cost_of_runs
from apportion.verbs.asked import Months, posted_months
from apportion.verbs.project import Project
from apportion.verbs.report import Reading, read_record
from apportion.verbs.settings import nearest
from apportion.verbs.worked import ask, worked


def runs(
    project: Project, periods: Months = None, by: str = "run", where: Sequence[str] = (), read: Reading = read_record
) -> Report:
    """What runs, experiments and trials cost, with what failed.

    `by` what a row is. `where` as in other reports, and by facets: `phase=training`; `read` for those who see only a part of the record.
    """
    if by not in BY:
        raise ProjectError("invalid-filter", f"a row of runs is not a {by!r}", hint=nearest(by, BY, "rows"))
    asked = ask(project, posted_months(project, periods), where, read)
    made = cost_of_runs(asked.record, worked(project, asked), by)
    return replace(made, notes=(*made.notes, *asked.notes))
