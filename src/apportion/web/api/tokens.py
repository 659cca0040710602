"""`/api/v1/tokens`: keys for programs. Everybody has their own; admins see and revoke all."""

from fastapi import APIRouter

from apportion.books import tokens as books
from apportion.books.audit import acting
from apportion.client.agreed import Token, TokenMade, TokenWish
from apportion.client.shapes import Listed
from apportion.verbs.tokens import status_of
from apportion.verbs.tokens import tokens as known
from apportion.web.api.asked import Named, Reading, about
from apportion.web.api.paging import Parted
from apportion.web.ask import Ask
from apportion.web.door.granting import Wanted, granted
from apportion.web.viewer import Deed

router = APIRouter(tags=["people"])


@router.get("/tokens", **about(Deed.read))
def tokens(ask: Reading, part: Parted) -> Listed[Token]:
    """Your own; for an admin everybody's."""
    return part.of(map(shape, known(ask.project, whose(ask))), lambda one: [-one.made_s, one.id])


@router.post("/tokens", status_code=201, **about(Deed.read))
def make_token(ask: Reading, wish: TokenWish) -> TokenMade:
    """A token that never does more than you may when it is used."""
    wanted = Wanted(wish.label, wish.role, tuple(wish.teams), tuple(wish.deeds), wish.days)
    grant = granted(ask.viewer, wanted, ask.project.policy.teams)
    with acting(ask.viewer.name):
        made, key = ask.project.books.tokens.make(grant)
    return TokenMade(**shape(made).model_dump(), key=key)


@router.post("/tokens/{token}/revocation", **about(Deed.read))
def revoke_token(ask: Reading, token: Named) -> Token:
    """Whatever uses it is refused from then on. Again changes nothing."""
    with acting(ask.viewer.name):
        made = ask.project.books.tokens.revoke(token, whose(ask))
    return shape(next(one for one in known(ask.project) if one.id == made.id))


def whose(ask: Ask) -> str | None:
    return None if ask.viewer.may(Deed.admin) else ask.viewer.name


def shape(one: books.Token) -> Token:
    return Token(
        id=one.id,
        label=one.label,
        owner=one.owner,
        role=one.role,
        teams=None if one.teams is None else sorted(one.teams),
        deeds=sorted(one.deeds),
        status=status_of(one),
        made_s=one.made_s,
        until_s=one.until_s,
        used_s=one.used_s,
        revoked_s=one.revoked_s,
    )
