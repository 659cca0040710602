"""`GET /api/v1/review`: what `apportion review -o json` says."""

from fastapi import APIRouter

from apportion.client.reviews import Review
from apportion.render.json import portable
from apportion.render.review import value
from apportion.verbs.review import review_by
from apportion.web.api.asked import OF_MONTH, Whole, about
from apportion.web.computing import at_bench
from apportion.web.viewer import Deed

router = APIRouter(tags=["policies"])


@router.get("/review", dependencies=[OF_MONTH], **about(Deed.whole, 409))
def review(ask: Whole) -> Review:
    """What changed in a month, what stands out, and which rules no longer fit, each with its evidence and the change of the policy."""
    made = at_bench(ask, ("review",), lambda means: review_by(means, ask.project, ask.month))
    return Review.model_validate(portable(value(made)))
