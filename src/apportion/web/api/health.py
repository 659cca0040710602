"""`GET /api/v1/health`: what came of each source, and when, and how the last round went."""

from fastapi import APIRouter

from apportion.books.rounds import Round
from apportion.client.record import Health, RoundHealth, SourceHealth
from apportion.client.shapes import FindingRow
from apportion.reports.findings import findings_value
from apportion.verbs.brought import Brought, brought
from apportion.verbs.findings import findings_now, newest_period
from apportion.web.api.asked import Whole, about
from apportion.web.viewer import Deed

router = APIRouter(tags=["health"])


@router.get("/health", **about(Deed.whole))
def health(ask: Whole) -> Health:
    """Each source of apportion.toml, and those that it no longer names: what it brought, how far it reaches, and the findings of a month."""
    found = ask.desk.kept("brought", lambda: brought(ask.project))
    books = ask.project.books
    last = books.rounds.last()
    sources = [source_health(one) for one in found]
    month = str(ask.month) if ask.one("period") else newest_period(ask.project)
    judged = ask.desk.kept(("findings", month), lambda: findings_now(ask.project, month))
    return Health(
        head=books.head(),
        sources=sources,
        round=round_health(last) if last else None,
        period=month,
        findings=[FindingRow.model_validate(one) for one in findings_value(judged)],
    )


def round_health(one: Round) -> RoundHealth:
    return RoundHealth(
        number=one.number,
        status=one.status,
        began_s=one.began_s,
        ended_s=one.ended_s,
        changed=one.changed,
        failed=[f"{step.step} {step.subject}: {step.what}" for step in one.failed],
    )


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
