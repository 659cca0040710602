"""`GET /api/v1/health`: what came of each source, and when."""

from fastapi import APIRouter

from apportion.client.record import Health, SourceHealth
from apportion.verbs.brought import Brought, brought
from apportion.web.api.asked import Whole, about
from apportion.web.viewer import Deed

router = APIRouter(tags=["health"])


@router.get("/health", **about(Deed.whole))
def health(ask: Whole) -> Health:
    """Each source of apportion.toml, and those that it no longer names: what it brought, how far it reaches, and what was wrong with it."""
    found = ask.desk.kept("brought", lambda: brought(ask.project))
    return Health(head=ask.project.books.head(), sources=[source_health(one) for one in found])


def source_health(one: Brought) -> SourceHealth:
    return SourceHealth(
        name=one.source,
        kind=one.kind,
        deliveries=one.deliveries,
        received_s=one.received_s,
        reaches_s=one.reaches_s,
        problems=dict(one.problems),
        quarantined=one.quarantined,
    )
