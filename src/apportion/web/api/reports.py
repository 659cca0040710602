"""`GET /api/v1/reports/{name}`: what `apportion report NAME -o json` says."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from apportion.client.shapes import ReportAnswer, Section
from apportion.render.json import portable
from apportion.reports.report import Report
from apportion.web.api.asked import ANSWERS, FILTERED, Reading

router = APIRouter(tags=["reports"], responses=ANSWERS)
BY = Query(description="what a row is: team, project, user, pool, day, ...")
Name = Literal["showback", "trend", "idle", "held", "coverage", "carbon", "corrections"]


@router.get("/reports/{name}", dependencies=[FILTERED])
def report(ask: Reading, name: Name, by: Annotated[str, BY] = "") -> ReportAnswer:
    """Who owes what, how it moved, what stood idle, what was held; over the teams that you may see."""
    return report_answer(ask.report(name, **({"by": by} if by else {})))


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
    )
