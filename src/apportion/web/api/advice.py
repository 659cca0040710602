"""`GET /api/v1/advice`: what `apportion advise -o json` says."""

from typing import Annotated

from fastapi import APIRouter, Query

from apportion.client.shapes import ReportAnswer
from apportion.client.texts import MONTH, maybe
from apportion.reports.advice.kinds import KINDS
from apportion.web.advising import advised, followed
from apportion.web.api.asked import OF_MONTH, Reading, about
from apportion.web.api.reports import report_answer
from apportion.web.viewer import Deed

router = APIRouter(tags=["reports"])
SINCE = Query(
    description="the month of the advice; the posted one before unless given",
    examples=["2026-09"],
    pattern=maybe(MONTH),
)
KIND = Query(description="only this kind of advice", examples=["idle"], pattern=f"^({'|'.join(KINDS)})?$")


@router.get("/advice", dependencies=[OF_MONTH], **about(Deed.read))
def advice(ask: Reading, kind: Annotated[str, KIND] = "") -> ReportAnswer:
    """What was wasted in a month, what acting on it would save, who can and how; over the teams that you may see."""
    return report_answer(advised(ask, [kind] if kind else ()))


@router.get("/advice/realised", dependencies=[OF_MONTH], **about(Deed.read))
def realised(ask: Reading, since: Annotated[str, SINCE] = "") -> ReportAnswer:
    """What became of the advice of an earlier month, and what that saved; over the teams that you may see."""
    return report_answer(followed(ask, since))
