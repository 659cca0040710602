"""Who a request comes from: by the cookie of a session. Forms carry a token that only their own session can know."""

import hashlib
import hmac
from typing import TYPE_CHECKING

from fastapi import Request

from apportion.web.viewer import Viewer, viewer_of

if TYPE_CHECKING:
    from apportion.web.desk import Desk

COOKIE = "apportion"
LASTS_S = 12 * 3600


def viewer_from(request: Request) -> Viewer | None:
    """None where nobody is logged in."""
    desk: Desk = request.app.state.desk
    key = request.cookies.get(COOKIE)
    person = desk.books.doors.session(key) if key else None
    return viewer_of(person) if person else None


def csrf_of(request: Request) -> str:
    """What a form of this session must bring along; empty where there is no session."""
    key = request.cookies.get(COOKIE, "")
    return hmac.new(key.encode(), b"form", hashlib.sha256).hexdigest() if key else ""
