"""`GET /api/v1/explain`: why a figure is what it is. `/capacity`: what became of a pool's capacity, in sum and never by whom."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from apportion.client.record import Explanation, Step
from apportion.client.shapes import ReportAnswer
from apportion.client.texts import LEGIBLE
from apportion.render.json import portable
from apportion.verbs.explaining.story import Node
from apportion.web.api.asked import OF_MONTH, Named, Reading, about
from apportion.web.api.reports import report_answer
from apportion.web.computing import all_pools, explained, one_pool
from apportion.web.viewer import Deed

router = APIRouter(tags=["figures"], dependencies=[OF_MONTH])
WHAT = Query(
    min_length=1,
    max_length=1024,
    pattern=LEGIBLE,
    description="a team, pool, job or run; a posting by number or hash. `team:`, `pool:`, `job:` and `posting:` tell apart",
    examples=["vision"],
)


@router.get("/explain", **about(Deed.read, 409))
def explanation(ask: Reading, what: Annotated[str, WHAT]) -> Explanation:
    """A figure of one month, computed again from cost lines and usage and compared with what is posted."""
    found = explained(ask, what)
    plain = {name: portable(getattr(found, name)) for name in Explanation.model_fields if name != "steps"}
    return Explanation(**plain, steps=list(map(step, found.steps)))


def step(node: Node) -> Step:
    return Step(text=node.text, facts=portable(node.facts), steps=list(map(step, node.steps)))


@router.get("/capacity", **about(Deed.read, 409))
def capacity(ask: Reading) -> ReportAnswer:
    """What each pool that you are charged from shares, what of its capacity was used or stood idle, and its price."""
    return report_answer(all_pools(ask))


@router.get("/capacity/{pool:path}", **about(Deed.read, 409))
def pool_capacity(ask: Reading, pool: Named, by: Literal["day", "hour", "week"] = "day") -> ReportAnswer:
    """What became of one pool's capacity, over time."""
    return report_answer(one_pool(ask, pool, by))
