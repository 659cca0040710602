"""`/api/v1/webhooks`: who is told of what."""

from fastapi import APIRouter

from apportion.books import hooks as books
from apportion.books.audit import acting
from apportion.client.agreed import Hook, HookMade, HookTold, HookWish
from apportion.client.shapes import Listed
from apportion.verbs.hooks import add_hook, try_hook
from apportion.web.api.asked import Admin, Named, about
from apportion.web.api.paging import Parted
from apportion.web.viewer import Deed

router = APIRouter(tags=["webhooks"])


@router.get("/webhooks", **about(Deed.admin))
def webhooks(ask: Admin, part: Parted) -> Listed[Hook]:
    """All of them, also those that were ended."""
    return part.of(map(shape, ask.project.books.hooks.all()), lambda one: [one.made_s, one.id])


@router.post("/webhooks", status_code=201, **about(Deed.admin))
def add_webhook(ask: Admin, wish: HookWish) -> HookMade:
    """Tell an address of events. The secret that signs what is told is shown this once."""
    with acting(ask.viewer.name):
        made, secret = add_hook(ask.project, wish.url, wish.events, wish.teams)
    return HookMade(**shape(made).model_dump(), secret=secret)


@router.post("/webhooks/{hook}/test", **about(Deed.admin))
def try_webhook(ask: Admin, hook: Named) -> HookTold:
    """Send a message that tells of nothing, now."""
    with acting(ask.viewer.name):
        told = try_hook(ask.project, hook)
    return HookTold(event=told.event, answer=told.answer, is_told=told.is_told)


@router.post("/webhooks/{hook}/end", **about(Deed.admin, 409))
def end_webhook(ask: Admin, hook: Named) -> Hook:
    """Nothing is told to it any more."""
    with acting(ask.viewer.name):
        return shape(ask.project.books.hooks.end(hook))


def shape(one: books.Hook) -> Hook:
    return Hook(
        id=one.id,
        place=one.place if one.is_live else "",
        events=list(one.events),
        teams=None if one.teams is None else sorted(one.teams),
        who=one.who,
        made_s=one.made_s,
        ended_s=one.ended_s,
    )
