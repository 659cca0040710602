"""`GET /api/v1/review`: what `apportion review -o json` says. `POST /api/v1/review/drafts`: keeps the draft of one finding."""

from dataclasses import replace

from fastapi import APIRouter

from apportion.books.audit import acting
from apportion.client.agreed import Draft
from apportion.client.reviews import Review, ReviewDraftWish
from apportion.render.json import portable
from apportion.render.review import value
from apportion.reports.review.review import Review as Made
from apportion.verbs import review as verbs
from apportion.web.api.asked import OF_MONTH, Proposing, Whole, about
from apportion.web.api.drafts import shape
from apportion.web.ask import Ask
from apportion.web.computing import at_bench
from apportion.web.viewer import Deed

router = APIRouter(tags=["policies"])


@router.get("/review", dependencies=[OF_MONTH], **about(Deed.whole, 409))
def review(ask: Whole) -> Review:
    """What changed in a month, what stands out, and which rules no longer fit, each with its evidence and the change of the policy."""
    return Review.model_validate(portable(value(reviewed(ask))))


@router.post("/review/drafts", status_code=201, **about(Deed.propose, 409))
def save_review_draft(ask: Proposing, wish: ReviewDraftWish) -> Draft:
    """Keep the draft of one finding, once it is known that the month can be planned by it. It is one for everybody, as the review is."""
    ask.require(Deed.whole)
    made = reviewed(replace(ask, query={"period": [wish.period]}))
    with acting(ask.viewer.name):
        return shape(verbs.save_found(ask.project, made, wish.key, wish.team).draft)


def reviewed(ask: Ask) -> Made:
    return at_bench(ask, ("review",), lambda means: verbs.review_by(means, ask.project, ask.month))
