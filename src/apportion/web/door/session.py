"""Who a request comes from: by the cookie of a session, or by a token. Forms carry a token that only their own session can know."""

import hashlib
import hmac
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection, Request

from apportion.web.door.door import COOKIE, Door, bearer
from apportion.web.door.proxied import BY as PROXY
from apportion.web.door.proxied import proxied_person
from apportion.web.viewer import Viewer, viewer_of

if TYPE_CHECKING:
    from apportion.books.doors import Person

__all__ = ["COOKIE", "csrf_of", "door_of", "form_of", "is_csrf", "viewer_from"]


def door_of(request: HTTPConnection) -> Door:
    door: Door = request.app.state.door
    return door


def viewer_from(request: HTTPConnection) -> Viewer | None:
    """None where nobody is logged in. A token that is brought counts alone: a wrong one does not fall back on the cookie."""
    door = door_of(request)
    if "authorization" in request.headers:
        token = bearer(request)
        return door.token(token) if token else None
    key = request.cookies.get(door.cookie)
    person = door.person(key) if key else None
    return viewer_of(person) if person and is_still(request, person) else None


def is_still(request: HTTPConnection, person: "Person") -> bool:
    """A session counts while people log in as they did for it; behind a proxy that logs them in, while it says the same of them."""
    web = door_of(request).web
    return person.by == web.login and (person.by != PROXY or proxied_person(request, web) == person)


async def form_of(request: Request) -> dict[str, str]:
    """What a form says. How large it may be as a whole is the only limit, so that whatever is too large is told so."""
    form = await request.form(max_part_size=door_of(request).web.body_bytes)
    return {name: str(value) for name, value in form.items()}


def csrf_of(request: HTTPConnection) -> str:
    """What a form of this session must bring along; empty where there is no session."""
    key = request.cookies.get(door_of(request).cookie, "")
    return hmac.new(key.encode(), b"form", hashlib.sha256).hexdigest() if key else ""


def is_csrf(request: HTTPConnection, given: str) -> bool:
    wanted = csrf_of(request)
    return bool(wanted) and hmac.compare_digest(wanted.encode(), given.encode())
