"""What stands in front of every request and around every answer: whose host it is meant for, how fast and how large it may be, where it was
sent from, and headers by which a browser lets nothing in and nothing out. Plain ASGI, so that answers can stream and little is done for each.
"""

import logging
import os
import traceback
from secrets import token_hex
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request

from apportion.client.shapes import Problem
from apportion.verbs.web_settings import ANYONE, is_loopback
from apportion.web.door.door import Door, bearer
from apportion.web.door.session import is_csrf
from apportion.web.faults import API, METRICS, answer
from apportion.web.moments import Moments
from apportion.web.probes import PROBES
from apportion.web.traced import Traced

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

FROM_US = ("script-src", "style-src", "connect-src", "font-src", "form-action")
POLICY = "; ".join(
    [
        "default-src 'none'",
        *(f"{kind} 'self'" for kind in FROM_US),
        "img-src 'self' data:",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
ENCRYPTED = {"Strict-Transport-Security": "max-age=31536000"}
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
STATIC = "/static/"
LOG = logging.getLogger("apportion.web")


def add_guards(app: FastAPI, door: Door) -> None:
    app.add_middleware(Moments)
    app.add_middleware(GZipMiddleware, minimum_size=1024)
    app.add_middleware(Guards, door=door)
    app.add_middleware(Traced)


class Guards:
    """Around all that answers, so that errors are guarded, too."""

    def __init__(self, app: "ASGIApp", door: Door) -> None:
        self.app = app
        self.door = door
        self.headers = HEADERS | (ENCRYPTED if door.is_https else {})

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def headed(message: "Message") -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                headers.update(self.headers)
                headers.setdefault("Cache-Control", kept(scope["path"], message["status"]))
            await send(message)

        request = Request(scope, receive)
        try:
            refused = refusal(self.door, request)
            if refused:
                response = answer(request, refused[0])
                response.headers.update(refused[1])
                await response(scope, receive, headed)
            else:
                await self.app(scope, bounded(receive, self.door.web.body_bytes), headed)
        except Exception as error:  # noqa: BLE001  # whatever it is, nobody gets to see more than its number
            problem = unexpected(scope, error)
            if started:
                raise ConnectionError(
                    f"the answer broke off, see {problem.detail}"
                ) from None  # so that nobody takes it for whole
            await answer(request, problem)(scope, receive, headed)


def kept(path: str, status: int) -> str:
    return "public, max-age=3600" if path.startswith(STATIC) and status < 400 else "private, no-store"


Refusal = tuple[Problem, dict[str, str]]


def refusal(door: Door, request: Request) -> Refusal | None:
    """The first reason not to go on."""
    if not is_our_host(door, request) and not is_asked_by_address(door, request):
        return refused(400, "wrong-host", "These pages are elsewhere", "they answer at their own address alone")
    if not request.url.path.startswith(STATIC) and (wait := door.requests.take(door.caller(request))):
        told = refused(429, "too-fast", "Too many requests", f"try again in {wait} s")
        return told[0], {"Retry-After": str(wait)}
    if declared(request) > door.web.body_bytes:
        return refused(413, "too-large", "That is too large", f"at most {door.web.body_bytes:,} bytes at once")
    if request.method not in SAFE and is_foreign(door, request):
        return refused(403, "cross-site", "That came from another site", "send it from these pages, or with a token")
    return None


def refused(status: int, code: str, title: str, detail: str) -> Refusal:
    return Problem(status=status, code=code, title=title, detail=detail), {}


def is_asked_by_address(door: Door, request: Request) -> bool:
    """Programs of a cluster know no names. No page of another site can bring a token, and what is open to anyone needs no guard."""
    path = request.url.path
    return path in PROBES or (path == METRICS and (bool(bearer(request)) or door.web.metrics == ANYONE))


def is_our_host(door: Door, request: Request) -> bool:
    """A name that somebody else made point here is not ours (DNS rebinding)."""
    hosts = request.headers.getlist("host")
    if len(hosts) != 1:
        return False
    host = hosts[0].rpartition("]")[0].removeprefix("[") if hosts[0].startswith("[") else hosts[0].partition(":")[0]
    return is_loopback(host.lower()) or host.lower() == door.host != ""


def declared(request: Request) -> int:
    text = request.headers.get("content-length", "0")
    return int(text) if text.isdecimal() and len(text) < 20 else 0


def is_foreign(door: Door, request: Request) -> bool:
    """Whoever brings a token meant it. A browser says where it was sent from; the API asks for that, or for the session's token."""
    if bearer(request):
        return False
    site, origin = request.headers.get("sec-fetch-site", ""), request.headers.get("origin", "")
    if site not in ("", "same-origin", "none") or (origin and origin not in our_origins(door, request)):
        return True
    is_ours = site == "same-origin" or bool(origin)
    by_cookie = door.cookie in request.cookies and request.url.path.startswith(API)
    return by_cookie and not is_ours and not is_csrf(request, request.headers.get("x-csrf-token", ""))


def our_origins(door: Door, request: Request) -> tuple[str, ...]:
    own = f"{request.url.scheme}://{request.headers.get('host', '')}"
    return (door.address,) if door.address and not is_loopback(request.url.hostname or "") else (door.address, own)


def bounded(receive: "Receive", most: int) -> "Receive":
    """A body without a stated length is counted while it comes."""
    size = 0

    async def counted() -> "Message":
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > most:
            raise HTTPException(413, f"at most {most:,} bytes at once")
        return message

    return counted


def unexpected(scope: "Scope", error: Exception) -> Problem:
    """The log gets the place and kind of the failure under a number; its words may hold what is nobody's business."""
    number = token_hex(4)
    steps = traceback.extract_tb(error.__traceback__)[-8:]
    frames = "\n".join(f"  {step.filename}:{step.lineno} in {step.name}" for step in steps)
    words = f": {error}" if os.environ.get("APPORTION_DEBUG") else ""
    LOG.error(
        "failure %s at %s %s: %s%s\n%s", number, scope["method"], scope["path"], type(error).__name__, words, frames
    )
    detail = f"this is a defect; the server's log has it under {number}"
    return Problem(status=500, code="unexpected", title="Something went wrong here", detail=detail)
