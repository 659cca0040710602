"""How pages are reached. A route is a path, a function and what one must be allowed to see it; `.json` and `.csv` come by themselves.

A form that changes something posts to a route with a `deed` of its own, and answers with another page to look at.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from gzip import compress, decompress
from urllib.parse import quote, unquote, urlencode

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from apportion.books.audit import acting
from apportion.errors import ProjectError
from apportion.web.ask import DOTS, Ask, NotAllowedError, NotThereError, whole
from apportion.web.door.session import csrf_of, form_of, is_csrf, viewer_from
from apportion.web.frame import Entry, asked_path, html, rendered, split_form
from apportion.web.page import Page
from apportion.web.viewer import Deed

PACKED = 6  # how hard a page is packed
Showing = Callable[..., Page]  # (ask, *names of the path)
Doing = Callable[..., str | Page]  # (ask, form, *names of the path) -> where to look next, or what is shown this once


@dataclass(frozen=True, slots=True)
class Route:
    """`path` is `/teams/{team}`; its last name may hold any character. `entry`: its place in the navigation, if it has one.

    `state` is another whenever the page would be: whoever brings the last one back (`?since=`, If-None-Match) learns that nothing is new.
    """

    path: str
    show: Showing
    deed: Deed = Deed.read
    entry: Entry | None = None
    state: Callable[[Ask], str] | None = None


@dataclass(frozen=True, slots=True)
class Action:
    """What a form does. The token is checked before, and who did it is noted by whatever it calls."""

    path: str
    do: Doing
    deed: Deed


@dataclass(frozen=True, slots=True)
class File:
    """What is sent as it is; `name` is what a browser saves it as, and its parts are made while they are sent."""

    name: str
    kind: str
    parts: Iterable[bytes]


@dataclass(frozen=True, slots=True)
class Download:
    """A file in place of a page. It comes before pages of the same path, so that `/ledger.csv` can be more than what a page shows."""

    path: str
    make: Callable[..., File]  # (ask, *names of the path)
    deed: Deed = Deed.read


def add_pages(
    app: FastAPI, routes: Sequence[Route], actions: Sequence[Action], downloads: Sequence[Download] = ()
) -> None:
    entries = [route.entry for route in routes if route.entry]
    for download in downloads:
        app.add_api_route(
            anything(download.path), download_endpoint(download), include_in_schema=False, response_model=None
        )
    for route in routes:
        app.add_api_route(
            anything(route.path), page_endpoint(route, entries), include_in_schema=False, response_model=None
        )
        if "{" not in route.path and route.path != "/":
            for form in (".json", ".csv"):
                app.add_api_route(
                    route.path + form, page_endpoint(route, entries), include_in_schema=False, response_model=None
                )
    for action in actions:
        app.add_api_route(
            anything(action.path),
            action_endpoint(action, entries),
            methods=["POST"],
            include_in_schema=False,
            response_model=None,
        )


def anything(path: str) -> str:
    """The last name of a path takes all that is left, but for fixed words behind it: names have slashes."""
    before, brace, after = path.rpartition("}")
    return f"{before}:path{brace}{after}" if brace else path


def download_endpoint(download: Download) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        viewer = viewer_from(request)
        if viewer is None:
            return to_login(request)
        if not viewer.may(download.deed):
            raise NotAllowedError(download.deed)
        ask = Ask(request.app.state.desk, viewer, request.url.path, queried(request))
        file = download.make(ask, *names_in(download.path, asked_path(request)))
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}"}
        return StreamingResponse(file.parts, media_type=file.kind, headers=headers)

    return endpoint


def page_endpoint(route: Route, entries: Sequence[Entry]) -> Callable[[Request], Response]:
    def endpoint(request: Request) -> Response:
        viewer = viewer_from(request)
        if viewer is None:
            return to_login(request)
        path, form = split_form(asked_path(request))
        ask = Ask(request.app.state.desk, viewer, plain(whole(path)), queried(request))
        if not viewer.may(route.deed):
            raise NotAllowedError(route.deed)
        tag = f'"{route.state(ask)}"' if route.state else ""
        if tag and tag in (f'"{ask.one("since")}"', request.headers.get("if-none-match")):
            return Response(status_code=304, headers={"ETag": tag})
        names = names_in(route.path, path)
        if form == ".html":
            response = page_response(request, ask, entries, lambda: shown(route, ask, names))
        else:
            text, kind = rendered(ask, shown(route, ask, names), form)
            response = Response(text, media_type=kind)
        if tag:
            response.headers["ETag"] = tag
        return response

    return endpoint


def page_response(request: Request, ask: Ask, entries: Sequence[Entry], show: Callable[[], Page]) -> Response:
    """A page that says the same to the same session until something is recorded is finished once, and packed."""
    csrf = csrf_of(request)
    unfinished: list[Response] = []

    def make() -> bytes:
        page = show()
        response = answered(ask, page, entries, csrf)
        if page.is_kept and not page.refresh_s and not page.goto:
            return compress(bytes(response.body), PACKED)
        unfinished.append(response)
        return b""

    key = (asked_path(request), request.url.query, ask.viewer, csrf)
    packed = ask.desk.finished(key, make)
    if not packed:
        return unfinished[0] if unfinished else answered(ask, show(), entries, csrf)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return HTMLResponse(packed, headers={"Content-Encoding": "gzip", "Vary": "Accept-Encoding"})
    return HTMLResponse(decompress(packed))


def answered(ask: Ask, page: Page, entries: Sequence[Entry], csrf: str) -> Response:
    return RedirectResponse(page.goto, 303) if page.goto else html(ask, page, entries, csrf)


def shown(route: Route, ask: Ask, names: Sequence[str]) -> Page:
    """To whom no team is theirs yet, an empty page is no mistake of theirs: they are told so instead."""
    try:
        return route.show(ask, *names)
    except ProjectError as error:
        if ask.viewer.teams or ask.viewer.teams is None or error.code != "nothing-matches":
            raise
        return Page("nothing-yet", "There is nothing for you to see yet.", (), fleeting=True)


def names_in(pattern: str, path: str) -> list[str]:
    """The names of a path, each as it is called; the last takes all that is left before the fixed words behind it."""
    before, brace, behind = pattern.rpartition("}")
    places = (before + brace).split("/")
    given = (path.removesuffix(behind) if behind else path).split("/", len(places) - 1)
    if len(given) < len(places):
        raise NotThereError("such page")
    names = [name for place, name in zip(places, given, strict=True) if place.startswith("{")]
    inside = [name.removesuffix(".html") if DOTS.fullmatch(name) else name for name in names[:-1]]
    return [unquote(name) for name in (*inside, *names[-1:])]


def plain(path: str) -> str:
    return "/" if path == "/overview" else path


def action_endpoint(action: Action, entries: Sequence[Entry]) -> Callable[[Request], object]:
    async def endpoint(request: Request) -> Response:
        viewer = viewer_from(request)
        if viewer is None:
            return to_login(request)
        fields = await form_of(request)
        if not is_csrf(request, fields.pop("csrf", "")) or not viewer.may(action.deed):
            raise NotAllowedError(action.deed)
        ask = Ask(request.app.state.desk, viewer, request.url.path, queried(request))

        def act() -> Response:
            with acting(viewer.name):
                next_ = action.do(ask, fields, *names_in(action.path, asked_path(request)))
            return (
                RedirectResponse(next_, 303) if isinstance(next_, str) else html(ask, next_, entries, csrf_of(request))
            )

        return await run_in_threadpool(act)

    return endpoint


def queried(request: Request) -> dict[str, list[str]]:
    return {name: request.query_params.getlist(name) for name in request.query_params}


def to_login(request: Request) -> Response:
    asked = asked_path(request) + (f"?{request.url.query}" if request.url.query else "")
    if split_form(asked_path(request))[1] != ".html":
        raise HTTPException(
            401, "log in, or bring a token: `Authorization: Bearer ...`", {"WWW-Authenticate": "Bearer"}
        )
    return RedirectResponse("/login?" + urlencode({"to": asked}), 303)
