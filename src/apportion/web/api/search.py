"""`GET /api/v1/search`: something by its name, among what one may see. `GET /api/v1/live`: the running month so far."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query

from apportion.client.shapes import Hit, Hits, ReportAnswer
from apportion.client.texts import WITHOUT_NUL
from apportion.reports.live import live_report
from apportion.verbs.search import search
from apportion.web.api.asked import WHERE, Filter, Reading, about
from apportion.web.api.reports import report_answer
from apportion.web.estimates import estimate
from apportion.web.viewer import Deed
from apportion.web.work import known_names

router = APIRouter(tags=["figures"])
TEXT = Query(alias="q", max_length=200, pattern=WITHOUT_NUL, description="a name or a part of it", examples=["vision"])


@router.get("/search", **about(Deed.read))
def find(ask: Reading, text: Annotated[str, TEXT]) -> Hits:
    """Teams, projects, users, pools, runs, postings, statements and disputes by their names."""
    found = search(ask.project, known_names(ask), text, ask.viewer.teams)
    hits = [
        Hit(kind=hit.kind, names=list(hit.names), called=hit.called, about=hit.about, rank=hit.rank)
        for hit in found.hits
    ]
    return Hits(asked=found.asked, hits=hits, counts=dict(found.counts))


@router.get("/live", **about(Deed.read))
def live(
    ask: Reading,
    by: Literal["team", "pool", "project", "day"] = "team",
    where: Annotated[list[Filter] | None, WHERE] = None,
) -> ReportAnswer:
    """What the running month comes to so far: partly billed, partly estimated at the last settled prices. Nothing of it is posted."""
    del where  # the Ask reads it, within what the viewer may see
    return report_answer(live_report(estimate(ask), by))
