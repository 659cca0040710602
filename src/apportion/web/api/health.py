"""`GET /api/v1/health`: what came of each source, and when."""

from collections import Counter

from fastapi import APIRouter

from apportion.client.record import Health, SourceHealth
from apportion.web.api.asked import Whole, about
from apportion.web.viewer import Deed

router = APIRouter(tags=["health"])


@router.get("/health", **about(Deed.whole))
def health(ask: Whole) -> Health:
    """Each source of apportion.toml: what it brought, how far it reaches, and what was wrong with it."""
    books = ask.project.books
    deliveries = books.deliveries()
    made = []
    for source in ask.project.sources:
        own = [row for row in deliveries if row["source"] == source.name]
        made.append(
            SourceHealth(
                name=source.name,
                kind=source.kind,
                deliveries=len(own),
                received_s=max((row["received_s"] for row in own), default=0),
                reaches_s=max((row["end_s"] for row in own), default=0),
                problems=dict(sorted(Counter(one.code for one in books.problems(source.name)).items())),
                quarantined=sum(row["quarantined"] for row in own if row["superseded_by"] is None),
            )
        )
    return Health(head=books.head(), sources=made)
