"""Each request is a span and, where somebody asked for a log, a line of it: method, path, status and time. Never its query, which may be a key."""

import time
from typing import TYPE_CHECKING

from apportion.verbs import logs
from apportion.verbs.traces import Span, span
from apportion.web.probes import PROBES

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

BROKEN_OFF = 0  # no status: the connection ended before there was one


class Traced:
    def __init__(self, app: "ASGIApp") -> None:
        self.app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http" or scope["path"] in PROBES:
            await self.app(scope, receive, send)
            return
        status, began = BROKEN_OFF, time.monotonic_ns()

        async def noted(message: "Message") -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        parent = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"traceparent"), "")
        with span(scope["method"], {"http.request.method": scope["method"]}, parent=parent, serves=True) as told:
            try:
                await self.app(scope, receive, noted)
            finally:
                tell(told, scope, status)
                took_ms = (time.monotonic_ns() - began) // 1_000_000
                logs.event("request", method=scope["method"], path=scope["path"], status=status, took_ms=took_ms)


def tell(told: Span, scope: "Scope", status: int) -> None:
    """By the route and not by the path, which names teams and people."""
    route = getattr(scope.get("route"), "path", "")
    told.rename(f"{scope['method']} {route}".rstrip())
    told.say({"http.route": route, "http.response.status_code": status})
    if status >= 500 or status == BROKEN_OFF:
        told.fail(str(status))
