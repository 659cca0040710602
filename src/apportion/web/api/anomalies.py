"""`/api/v1/anomalies`: what is not as usual, and what somebody said of it."""

from fastapi import APIRouter

from apportion.books.audit import acting
from apportion.client.anomalies import AcknowledgementWish, Anomaly
from apportion.client.shapes import Listed
from apportion.render.json import portable
from apportion.reports.anomaly import found
from apportion.reports.anomaly.report import value_of
from apportion.web.anomalies import acknowledge_as, find
from apportion.web.anomalies import anomalies as seen
from apportion.web.api.asked import Disputing, Named, Reading, about
from apportion.web.api.paging import Parted
from apportion.web.viewer import Deed

router = APIRouter(tags=["anomalies"])


@router.get("/anomalies", **about(Deed.read))
def anomalies(ask: Reading, part: Parted) -> Listed[Anomaly]:
    """Of the teams that you may see, and of pools that charge them; the oldest first, those acknowledged too."""
    return part.of(map(shape, seen(ask)), lambda one: [one.began, one.id])


@router.get("/anomalies/{anomaly}", **about(Deed.read))
def anomaly(ask: Reading, anomaly: Named) -> Anomaly:
    """One of them."""
    return shape(find(seen(ask), anomaly))


@router.post("/anomalies/{anomaly}/acknowledgement", **about(Deed.dispute, 409))
def acknowledge(ask: Disputing, anomaly: Named, wish: AcknowledgementWish) -> Anomaly:
    """Say why it is so: nothing is told of it any more. What is about a pool is for those who see all teams."""
    with acting(ask.viewer.name):
        return shape(acknowledge_as(ask, anomaly, wish.why, wish.until))


def shape(one: found.Anomaly) -> Anomaly:
    return Anomaly.model_validate(portable(value_of(one)))
