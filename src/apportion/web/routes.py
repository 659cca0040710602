"""How pages are reached. A route is a path, a function and what one must be allowed to see it; `.json` and `.csv` come by themselves.

A form that changes something posts to a route with a `deed` of its own, and answers with another page to look at.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from gzip import compress, decompress
from urllib.parse import quote, unquote

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse, StreamingResponse
from starlette.concurrency import run_in_threadpool

from apportion.books.audit import acting
from apportion.errors import ProjectError
from apportion.web.ask import DOTS, Ask, NotAllowedError, NotThereError
from apportion.web.door.entering import entered
from apportion.web.door.session import csrf_of, form_of, is_csrf
from apportion.web.frame import Entry, asked_path, html, rendered, split_form
from apportion.web.page import Page
from apportion.web.viewer import Deed

PACKED = 6  # how hard a page is packed
Showing = Callable[..., Page]  # (ask, *names of the path)
Doing = Callable[..., str | Page]  # (ask, form, *names of the path) -> where to look next, or what is shown this once
Answering = Callable[[Request, Ask], Response]


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
        add(app, anything(download.path), answering(download.deed, sending(download)))
    for route in routes:
        shown_at = [anything(route.path)]
        if "{" not in route.path and route.path != "/":
            shown_at += [route.path + form for form in (".json", ".csv")]
        for path in shown_at:
            add(app, path, answering(route.deed, showing(route, entries)))
    for action in actions:
        add(app, anything(action.path), doing(action, entries), "POST")


def add(app: FastAPI, path: str, endpoint: Callable[..., object], method: str = "GET") -> None:
    app.add_api_route(path, endpoint, methods=[method], include_in_schema=False, response_model=None)


def answering(deed: Deed, answer: Answering) -> Callable[[Request], Response]:
    """What is only looked at."""

    def endpoint(request: Request) -> Response:
        return answer(request, entered(request, deed))

    return endpoint


def anything(path: str) -> str:
    """The last name of a path takes all that is left, but for fixed words behind it: names have slashes."""
    before, brace, after = path.rpartition("}")
    return f"{before}:path{brace}{after}" if brace else path


def sending(download: Download) -> Answering:
    def answer(request: Request, ask: Ask) -> Response:
        file = download.make(ask, *names_in(download.path, asked_path(request)))
        headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{quote(file.name, safe='')}"}
        return StreamingResponse(file.parts, media_type=file.kind, headers=headers)

    return answer


def showing(route: Route, entries: Sequence[Entry]) -> Answering:
    def answer(request: Request, ask: Ask) -> Response:
        path, form = split_form(asked_path(request))
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

    return answer


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


def doing(action: Action, entries: Sequence[Entry]) -> Callable[[Request], object]:
    """A form is read when it is known who sent it, and counts with the token of their session."""

    async def endpoint(request: Request) -> Response:
        ask = entered(request, action.deed)
        fields = await form_of(request)
        if not is_csrf(request, fields.pop("csrf", "")):
            raise NotAllowedError(action.deed)

        def act() -> Response:
            with acting(ask.viewer.name):
                next_ = action.do(ask, fields, *names_in(action.path, asked_path(request)))
            return (
                RedirectResponse(next_, 303) if isinstance(next_, str) else html(ask, next_, entries, csrf_of(request))
            )

        return await run_in_threadpool(act)

    return endpoint
