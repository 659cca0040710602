"""The API for a program in the same process: the same answers, roles and errors as over the network, and no port that others could try."""

import asyncio
from hmac import compare_digest
from pathlib import Path
from secrets import token_urlsafe

import httpx

from apportion.books.doors import Person
from apportion.client.client import Client
from apportion.web.app import create_app
from apportion.web.desk import Desk
from apportion.web.door.door import Door
from apportion.web.viewer import Deed, Viewer, viewer_of

HERE = "http://127.0.0.1"
READS = frozenset({Deed.read, Deed.whole})


class OwnDoor(Door):
    """Lets in whoever has the key that it was made with, as one viewer, and nobody else."""

    def __init__(self, desk: Desk, viewer: Viewer, key: str) -> None:
        super().__init__(desk)
        self._own = (key, viewer)

    def token(self, key: str) -> Viewer | None:
        own, viewer = self._own
        return viewer if compare_digest(own.encode(), key.encode()) else None


class Inside(httpx.BaseTransport):
    """Requests go to the app as calls."""

    def __init__(self, app: httpx.ASGITransport) -> None:
        self._app = app

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return asyncio.run(self._answered(request))

    async def _answered(self, request: httpx.Request) -> httpx.Response:
        answer = await self._app.handle_async_request(request)
        stream = answer.stream
        body = b"".join([part async for part in stream]) if isinstance(stream, httpx.AsyncByteStream) else b""
        return httpx.Response(answer.status_code, headers=answer.headers, stream=httpx.ByteStream(body))


def reading_as(person: Person) -> Viewer:
    """What they may see, and to change nothing."""
    viewer = viewer_of(person)
    return Viewer(viewer.name, viewer.role, viewer.teams, viewer.by, viewer.deeds & READS)


def client_inside(folder: Path, viewer: Viewer) -> Client:
    key = token_urlsafe(32)
    app = create_app(folder, door=lambda desk: OwnDoor(desk, viewer, key))
    return Client(HERE, key, transport=Inside(httpx.ASGITransport(app=app)))
