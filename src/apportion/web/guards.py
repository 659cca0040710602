"""What every answer carries, so that a browser lets nothing in and nothing out."""

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request, Response
from starlette.middleware.gzip import GZipMiddleware

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


def add_guards(app: FastAPI) -> None:
    app.add_middleware(GZipMiddleware, minimum_size=1024)

    @app.middleware("http")
    async def headed(request: Request, go_on: Callable[[Request], Awaitable[Response]]) -> Response:
        response = await go_on(request)
        response.headers.update(HEADERS)
        static = request.url.path.startswith("/static/")
        response.headers.setdefault("Cache-Control", "public, max-age=3600" if static else "private, no-store")
        return response
