"""`GET /api/v1/periods`: which months are open, in review or closed."""

from fastapi import APIRouter

from apportion.client.shapes import Listed, Month
from apportion.model.times import parse_period
from apportion.verbs.months import months
from apportion.web.api.asked import Reading, about
from apportion.web.api.figures import amounts
from apportion.web.api.paging import Parted
from apportion.web.viewer import Deed

router = APIRouter(tags=["figures"])


@router.get("/periods", **about(Deed.read))
def periods(ask: Reading, part: Parted) -> Listed[Month]:
    """Every month that something is posted in, oldest first."""
    known = ask.desk.kept("months", lambda: tuple(months(ask.project)))
    some = part.of(known, lambda month: month.period)
    made = [
        Month(
            period=month.period,
            status=month.status,
            day=month.day,
            amounts=amounts(ask.record(ask.project, [parse_period(month.period)]).posted),
        )
        for month in some.items
    ]
    return Listed(items=made, next=some.next)
