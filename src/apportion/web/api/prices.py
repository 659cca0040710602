"""`GET /api/v1/prices`: what an hour will cost in the coming days."""

from typing import Annotated

from fastapi import APIRouter, Query

from apportion.client.shapes import ReportAnswer
from apportion.client.texts import DAY, WITHOUT_NUL, maybe
from apportion.verbs.prices import LONGEST, Wish
from apportion.web.api.asked import Reading, about
from apportion.web.api.reports import report_answer
from apportion.web.computing import ahead
from apportion.web.viewer import Deed

router = APIRouter(tags=["figures"])
NAME = {"max_length": 400, "pattern": WITHOUT_NUL}


@router.get("/prices", **about(Deed.read, 409))
def prices(
    ask: Reading,
    days: Annotated[int, Query(ge=1, le=LONGEST)] = 7,
    first: Annotated[str, Query(alias="from", pattern=maybe(DAY), description="a day; today unless given")] = "",
    pool: Annotated[str, Query(description="only this pool", **NAME)] = "",
    team: Annotated[str, Query(description="with the discounts that only this team has", **NAME)] = "",
) -> ReportAnswer:
    """Of the pools that you are charged from: price lists, times of use and discounts as the policy has them, else as such hours came to."""
    return report_answer(ahead(ask, Wish(days=days, first=first, pool=pool, team=team)))
