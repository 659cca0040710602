"""`POST /api/v1/estimates`: what a job would cost before it runs. Nothing is kept."""

from fastapi import APIRouter

from apportion.client.estimates import Estimated, EstimateWish
from apportion.render.estimate import estimate_value
from apportion.render.json import portable
from apportion.verbs.estimating.asked import Asked
from apportion.web.api.asked import Reading, about
from apportion.web.computing import estimated
from apportion.web.viewer import Deed

router = APIRouter(tags=["figures"])


@router.post("/estimates", **about(Deed.read, 409))
def estimate(ask: Reading, wish: EstimateWish) -> Estimated:
    """By the settled prices of the pools that you are charged from, for a team that you may see; with what it does to budgets and quotas, and cheaper ways."""
    found = estimated(ask, Asked(**{**wish.model_dump(), "labels": tuple(wish.labels)}))
    return Estimated.model_validate(portable(estimate_value(found)))
