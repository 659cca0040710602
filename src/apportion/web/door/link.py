"""The one-time link that `apportion serve` prints on loopback, as Jupyter does: good once, for whoever can read the terminal."""

import json

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from apportion.books.audit import user
from apportion.books.doors import Doors, Person
from apportion.web.door.session import COOKIE, LASTS_S, csrf_of
from apportion.web.frame import bare

LINK = "link"
LINK_LASTS_S = 900
router = APIRouter()


def new_link(doors: Doors, address: str, role: str = "admin", teams: frozenset[str] | None = None) -> str:
    value = json.dumps({"name": user(), "role": role, "teams": None if teams is None else sorted(teams)})
    return f"{address}/login?link={doors.give_ticket(LINK, value, LINK_LASTS_S)}"


@router.get("/login", include_in_schema=False)
def login(request: Request, link: str = "", to: str = "/") -> Response:
    doors: Doors = request.app.state.desk.books.doors
    value = doors.take_ticket(LINK, link) if link else None
    if value is None:
        said = ["Start `apportion serve` in a terminal and open the link that it prints; a link is good once."]
        said = ["That link was used already, or is too old.", *said] if link else said
        return bare(request, "Nobody is logged in here", said, status=401)
    given = json.loads(value)
    teams = None if given["teams"] is None else frozenset(given["teams"])
    key = doors.open_session(Person(given["name"], given["role"], teams, LINK), LASTS_S)
    return with_session(request, key, to)


def with_session(request: Request, key: str, to: str) -> Response:
    """On to the page that was asked for, which is always one of ours."""
    ours = to if to.startswith("/") and not to.startswith("//") and "\\" not in to else "/"
    response = RedirectResponse(ours, 303)
    secure = request.url.scheme == "https"
    response.set_cookie(COOKIE, key, max_age=LASTS_S, httponly=True, samesite="lax", secure=secure, path="/")
    return response


@router.post("/logout", include_in_schema=False)
async def logout(request: Request) -> Response:
    form = await request.form()
    if form.get("csrf") == csrf_of(request):
        request.app.state.desk.books.doors.end_session(request.cookies.get(COOKIE, ""))
    response = RedirectResponse("/login", 303)
    response.delete_cookie(COOKIE, path="/")
    return response
