"""What kind of work the money went to: how much has each facet and how sure that is, or the money by one of them."""

from collections.abc import Sequence
from dataclasses import replace

from apportion.errors import ProjectError
from apportion.model.facets import KNOWN
from apportion.reports.facets import coverage_of_facets, money_by_facet
from apportion.reports.report import Report
from apportion.verbs.asked import Months, posted_months
from apportion.verbs.project import Project
from apportion.verbs.report import Reading, read_record
from apportion.verbs.settings import nearest
from apportion.verbs.worked import ask, worked


def facets(
    project: Project, periods: Months = None, by: str = "", where: Sequence[str] = (), read: Reading = read_record
) -> Report:
    """What kind of work the money went to, and how sure that is.

    `by` one facet; without it, all of them. `where` as in other reports, also by facets; `read` for those who see only a part of the record.
    """
    if by and by not in KNOWN:
        raise ProjectError("unknown-facet", f"there is no facet {by!r}", hint=nearest(by, KNOWN, "facets"))
    asked = ask(project, posted_months(project, periods), where, read)
    works, record = worked(project, asked), asked.record
    made = money_by_facet(record, works, by) if by else coverage_of_facets(record, works)
    return replace(made, notes=(*made.notes, *asked.notes))
