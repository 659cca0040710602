"""`GET /api/v1/advice`: what `apportion advise -o json` says."""

from typing import Annotated

from fastapi import APIRouter, Query

from apportion.client.shapes import ReportAnswer
from apportion.reports.advice.kinds import KINDS
from apportion.web.advising import advised
from apportion.web.api.asked import OF_MONTH, Reading, about
from apportion.web.api.reports import report_answer
from apportion.web.viewer import Deed

router = APIRouter(tags=["reports"])
KIND = Query(description="only this kind of advice", examples=["idle"], pattern=f"^({'|'.join(KINDS)})?$")


@router.get("/advice", dependencies=[OF_MONTH], **about(Deed.read))
def advice(ask: Reading, kind: Annotated[str, KIND] = "") -> ReportAnswer:
    """What was wasted in a month, what acting on it would save, who can and how; over the teams that you may see."""
    return report_answer(advised(ask, [kind] if kind else ()))
