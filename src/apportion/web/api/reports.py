"""`GET /api/v1/reports/{name}`: what `apportion report NAME -o json` says."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from apportion.client.shapes import FindingRow, ReportAnswer, Section
from apportion.client.texts import WITHOUT_NUL
from apportion.errors import ProjectError
from apportion.render.json import portable
from apportion.reports.findings import findings_value
from apportion.reports.groups import DIMENSIONS
from apportion.reports.report import Report
from apportion.verbs.facets import facets
from apportion.verbs.fairness import fairness
from apportion.verbs.nodes import nodes
from apportion.verbs.periods import label
from apportion.verbs.reconcile import reconciled
from apportion.verbs.runs import runs
from apportion.verbs.settings import nearest
from apportion.web.api.asked import FILTERED, OF_MONTH, OF_WORK, Reading, Whole, about
from apportion.web.ask import Ask
from apportion.web.computing import efficient
from apportion.web.viewer import Deed

router = APIRouter(tags=["reports"])
BY = Query(description="what a row is; the report's own unless given")
OWNER = Query(
    description="of a trend: only this team, or _idle or another system owner", max_length=1024, pattern=WITHOUT_NUL
)
Name = Literal["showback", "trend", "idle", "held", "coverage", "carbon", "corrections"]
BY_OF = {
    "showback": tuple(DIMENSIONS), "carbon": tuple(DIMENSIONS), "corrections": tuple(DIMENSIONS),
    "held": ("team", "department", "cost_centre", "project", "user", "pool"), "trend": ("day", "month"),
}  # fmt: skip
By = Literal[
    "", "team", "department", "cost_centre", "project", "user", "pool", "component", "reason", "cause", "bill", "day", "month",
]  # fmt: skip
Facet = Literal["", "phase", "framework", "family", "model", "experiment", "trial", "size", "outcome"]
Unit = Literal[
    "run", "team", "project", "phase", "framework", "family", "model", "experiment", "trial", "size", "outcome",
]  # fmt: skip
Part = Literal["", "bill", "invoice", "service", "day"]


@router.get("/reports/reconcile", dependencies=[OF_MONTH], **about(Deed.whole))
def report_reconcile(ask: Whole, by: Annotated[Part, BY] = "") -> ReportAnswer:
    """What the vendor says, what was read and what was posted; of one month."""
    return report_answer(kept(ask, "reconcile", by))


@router.get("/reports/fairness", dependencies=[OF_MONTH], **about(Deed.whole, 409))
def report_fairness(ask: Whole, by: Annotated[Literal["", "team", "pool"], BY] = "") -> ReportAnswer:
    """How much would move if peak Shapley shared the same pools; of one month."""
    return report_answer(kept(ask, "fairness", by))


@router.get("/reports/nodes", dependencies=[OF_MONTH], **about(Deed.whole, 409))
def report_nodes(ask: Whole) -> ReportAnswer:
    """Which node each instance of the bill is, and what is tied to none; of one month."""
    return report_answer(kept(ask, "nodes", ""))


@router.get("/reports/efficiency", dependencies=[OF_MONTH], **about(Deed.read, 409))
def report_efficiency(ask: Reading) -> ReportAnswer:
    """How much of what your teams held was useful, against the month before; of one month."""
    return report_answer(efficient(ask))


@router.get("/reports/facets", dependencies=[OF_WORK], **about(Deed.read))
def report_facets(ask: Reading, by: Annotated[Facet, BY] = "") -> ReportAnswer:
    """What kind of work the money went to and how sure that is, or the money by one facet; over the teams that you may see."""
    key = ("facets", label(ask.months), ask.filters, ask.viewer.teams, by)
    return report_answer(ask.desk.kept(key, lambda: facets(ask.project, ask.months, by, ask.filters, ask.record)))


@router.get("/reports/runs", dependencies=[OF_WORK], **about(Deed.read))
def report_runs(ask: Reading, by: Annotated[Unit, BY] = "run") -> ReportAnswer:
    """What runs, experiments and trials cost, with what failed; over the teams that you may see."""
    key = ("runs", label(ask.months), ask.filters, ask.viewer.teams, by)
    return report_answer(ask.desk.kept(key, lambda: runs(ask.project, ask.months, by, ask.filters, ask.record)))


@router.get("/reports/{name}", dependencies=[FILTERED], **about(Deed.read))
def report(ask: Reading, name: Name, by: Annotated[By, BY] = "", owner: Annotated[str, OWNER] = "") -> ReportAnswer:
    """Who owes what, how it moved, what stood idle, what was held; over the teams that you may see."""
    if by and by not in BY_OF.get(name, ()):
        raise ProjectError(
            "invalid-filter", f"a row of {name} is not a {by!r}", hint=nearest(by, BY_OF.get(name, ()), "rows")
        )
    if owner and name != "trend":
        raise ProjectError("invalid-filter", "only a trend is of one owner", hint="write where=team=NAME")
    options = {"by": by, "owner": owner}
    return report_answer(ask.report(name, **{key: value for key, value in options.items() if value}))


def kept(ask: Ask, name: str, by: str) -> Report:
    """These are computed again, which takes its time."""
    month, options = ask.month, {"by": by} if by else {}

    def make() -> Report:
        if name == "nodes":
            return nodes(ask.project, month)
        return (reconciled if name == "reconcile" else fairness)(ask.project, month, **options)

    return ask.desk.kept(("report", name, str(month), by), make)


def report_answer(made: Report) -> ReportAnswer:
    names = [column.name for column in made.columns]
    return ReportAnswer(
        report=made.name,
        title=made.title,
        period=made.period,
        head=made.head,
        policy=", ".join(made.policies),
        notes=list(made.notes),
        sections=[
            Section(
                currency=section.currency,
                bill=portable(section.bill),
                rows=[portable(dict(zip(names, row, strict=True))) for row in section.rows],
            )
            for section in made.sections
        ],
        findings=[FindingRow.model_validate(one) for one in findings_value(made.findings)],
    )
