"""`/api/v1/pledges`: what is reserved for jobs and lent between teams; `/reservations` and `/loans` make and end them."""

import time
from typing import Literal

from fastapi import APIRouter

from apportion.books import pledges as books
from apportion.books.audit import acting
from apportion.client.pledges import EndWish, LoanWish, Pledge, PostingWish, ReservationWish, Reserved
from apportion.client.shapes import Listed
from apportion.model.money import plain
from apportion.reports.fit import Fit
from apportion.verbs import lend as lending
from apportion.verbs import reserve as verbs
from apportion.verbs.fit import Where
from apportion.web.api.asked import Budgeting, Number, Reading, about, require_theirs
from apportion.web.api.paging import Parted
from apportion.web.ask import Ask, NotThereError
from apportion.web.viewer import Deed

router = APIRouter(tags=["pledges"])
Status = Literal["", "open", "posted", "void", "expired", "returned"]


@router.get("/pledges", **about(Deed.read))
def pledges(ask: Reading, part: Parted, status: Status = "") -> Listed[Pledge]:
    """Of the teams that you may see, in the order in which they were made."""
    found = [shape(ask, one) for one in ask.project.books.pledges.all() if sees(ask, one)]
    return part.of((one for one in found if status in ("", one.status)), lambda one: one.number)


@router.post("/reservations", **about(Deed.budget, 409))
def reserve(ask: Budgeting, wish: ReservationWish) -> Reserved:
    """Set a part of a team's quotas aside for a job, where it fits. The same again changes nothing."""
    require_theirs(ask, wish.team, "such team")
    where = Where(wish.pool, wish.project, wish.user)
    made = verbs.Wish(wish.team, wish.amount, wish.job, wish.of, where, wish.cost, wish.expires)
    with acting(ask.viewer.name):
        done = verbs.reserve(ask.project, made)
    said = next((one for one in done.fits if not one.fits), done.fits[0])
    return Reserved(fits=bool(done.pledges), said=heard(ask, said), pledges=[shape(ask, one) for one in done.pledges])


@router.post("/reservations/{number}/posting", **about(Deed.budget, 409))
def post_reservation(ask: Budgeting, number: Number, wish: PostingWish) -> Pledge:
    """Settle a reservation with what the job came to."""
    require_seen(ask, number, books.RESERVE)
    with acting(ask.viewer.name):
        return shape(ask, verbs.post_reservation(ask.project, number, wish.actual))


@router.post("/reservations/{number}/voiding", **about(Deed.budget, 409))
def void_reservation(ask: Budgeting, number: Number, wish: EndWish) -> Pledge:
    """Free what was reserved for a job that does not run."""
    require_seen(ask, number, books.RESERVE)
    with acting(ask.viewer.name):
        return shape(ask, verbs.void_reservation(ask.project, number, wish.why))


@router.post("/loans", **about(Deed.budget, 409))
def lend(ask: Budgeting, wish: LoanWish) -> Pledge:
    """Lend a part of a quota between two owners that you may see. Only what is neither used nor reserved can be lent."""
    for owner in (wish.owner, wish.other):
        require_theirs(ask, owner, "such team")
    with acting(ask.viewer.name):
        return shape(ask, lending.lend(ask.project, lending.Loan(**wish.model_dump())))


@router.post("/loans/{number}/return", **about(Deed.budget, 409))
def give_back(ask: Budgeting, number: Number, wish: EndWish) -> Pledge:
    """Give back what was lent, while it is not used."""
    require_seen(ask, number, books.LEND)
    with acting(ask.viewer.name):
        return shape(ask, lending.give_back(ask.project, number, wish.why))


def sees(ask: Ask, one: books.Pledge) -> bool:
    return ask.sees_owner(one.begun.owner) or (one.begun.other != "" and ask.sees_owner(one.begun.other))


def require_seen(ask: Ask, number: int, kind: str) -> None:
    """A loan is ended by who may see both sides."""
    found = [one.begun for one in ask.project.books.pledges.all() if (one.number, one.begun.kind) == (number, kind)]
    if not any(ask.sees_owner(one.owner) and (not one.other or ask.sees_owner(one.other)) for one in found):
        raise NotThereError("such pledge")


def heard(ask: Ask, made: Fit) -> str:
    """A department's quota is told to those who see all of it."""
    hidden = [one for one in made.against if not ask.viewer.sees(one.limit.team)]
    own = tuple(one for one in made.quotas if ask.viewer.sees(one.limit.team))
    seen = Fit(made.team, made.need, made.day, own)
    return seen.sentence if not hidden or seen.against else f"{made.team} needs more than its department has left."


def shape(ask: Ask, one: books.Pledge) -> Pledge:
    """Who is on the other side of a loan, and their words, are for those who may see that team."""
    begun, mine = one.begun, ask.sees_owner(one.begun.owner)
    expired = one.is_expired(int(time.time()))
    return Pledge(
        number=one.number,
        kind=begun.kind,
        owner=ask.called(begun.owner),
        other=ask.called(begun.other) if begun.other else "",
        of=begun.what,
        pool=begun.pool,
        unit=begun.unit,
        amount=plain(begun.amount),
        job=begun.job,
        first=begun.first,
        until_s=begun.until_s,
        status=books.ENDS[books.EXPIRE] if expired else one.status,
        came_to=None if one.is_open else plain(one.ended),
        who=one.who if mine else "",
        at_s=one.at_s,
        why=begun.why or one.end_why if mine else "",
        approver=begun.approver if mine else "",
    )
