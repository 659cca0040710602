"""`/api/v1/disputes`: what is doubted, what was said of it, and how it ended."""

import json
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from apportion.books import shapes
from apportion.books.audit import acting
from apportion.client.record import Dispute, DisputeNote, Doubt, Ending, Settled, Words
from apportion.client.shapes import Listed
from apportion.client.texts import MONTH, maybe
from apportion.model.money import plain
from apportion.model.times import parse_period
from apportion.verbs import dispute as verbs
from apportion.web.api.asked import Disputing, Number, Reading, Settling, about
from apportion.web.api.paging import Parted
from apportion.web.doubts import seen_dispute, seen_figure
from apportion.web.viewer import Deed

router = APIRouter(tags=["disputes"])
OF_MONTH = Query(description="only those of a month", pattern=maybe(MONTH))
Status = Literal["", "open", "rejected", "credited", "reclassed"]


@router.get("/disputes", **about(Deed.read))
def disputes(ask: Reading, part: Parted, status: Status = "", period: Annotated[str, OF_MONTH] = "") -> Listed[Dispute]:
    """Those of the teams that you may see, in the order in which they were opened."""
    found = verbs.disputes(ask.project, period, status)
    return part.of((shape(one) for one in found if ask.sees_owner(one.owner)), lambda one: one.number)


@router.get("/disputes/{number}", **about(Deed.read))
def dispute(ask: Reading, number: Number) -> Dispute:
    """A dispute with its thread and its evidence."""
    return shape(seen_dispute(ask, str(number)), evidence=True)


@router.post("/disputes", status_code=201, **about(Deed.dispute, 409))
def open_dispute(ask: Disputing, doubt: Doubt) -> Dispute:
    """Doubt a posting, a job's cost or a statement of a team that you may see. It is kept with what `explain` says of it now."""
    period = parse_period(doubt.period)
    what = seen_figure(ask, doubt.period, doubt.what)
    with acting(ask.viewer.name):
        done = verbs.open_dispute(ask.project, period, verbs.Doubt(what, doubt.why, doubt.amount))
    return shape(seen_dispute(ask, str(done.dispute.number)), evidence=True)


@router.post("/disputes/{number}/notes", status_code=201, **about(Deed.dispute, 409))
def say(ask: Disputing, number: Number, words: Words) -> Dispute:
    """Add to a dispute's thread."""
    seen_dispute(ask, str(number))
    with acting(ask.viewer.name):
        return shape(verbs.say(ask.project, number, words.text))


@router.post("/disputes/{number}/settlement", **about(Deed.settle, 409))
def settle(ask: Settling, number: Number, ending: Ending) -> Settled:
    """End a dispute, once: reject it, credit it or re-attribute it."""
    seen_dispute(ask, str(number))
    end = verbs.Settlement(ending.outcome, ending.why, ending.other, ending.amount, ending.approver)
    with acting(ask.viewer.name):
        done = verbs.settle(ask.project, number, end)
    return Settled(dispute=shape(done.dispute), booked=done.booked)


def shape(one: shapes.Dispute, *, evidence: bool = False) -> Dispute:
    return Dispute(
        number=one.number,
        period=one.period,
        kind=one.kind,
        name=one.name,
        owner=one.owner,
        currency=one.currency,
        amount=plain(one.amount),
        part=one.part,
        status=one.status,
        head=one.head,
        notes=[
            DisputeNote(at_s=note.at_s, who=note.who, status=note.status, text=note.text, run_id=note.run_id)
            for note in one.notes
        ],
        evidence=json.loads(one.evidence) if evidence else None,
    )
