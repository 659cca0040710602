"""The door of one server process: the settings of [web], who came in a moment ago, and how fast they may ask."""

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from apportion.books.doors import Person, hashed
from apportion.books.tokens import TOUCH_S, Token
from apportion.errors import BooksError
from apportion.web.door.buckets import Buckets, Known
from apportion.web.door.oidc import Provider
from apportion.web.door.proxied import client_address
from apportion.web.viewer import Viewer, token_viewer

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

    from apportion.web.desk import Desk

COOKIE = "apportion"
LOGINS_PER_MINUTE = 60  # from one address: a room full of people, or one who guesses


class Door:
    """`address` is the base of our own links, such as `https://costs.example`; where it is empty, that of the request."""

    def __init__(self, desk: "Desk") -> None:
        self.desk = desk
        self.web = desk.project.settings.web
        self.address = self.web.address
        self.is_https = self.address.startswith("https://")
        self.host = (urlsplit(self.address).hostname or "").lower()
        self.provider = Provider(self.web.oidc) if self.web.login == "oidc" and self.web.oidc else None
        self.requests = Buckets(self.web.requests_per_minute)
        self.attempts = Buckets(LOGINS_PER_MINUTE)
        self._known = Known()
        self._used: dict[str, float] = {}
        self._notes = ThreadPoolExecutor(1, "token-use")  # beside the request, which must not wait for another writer

    @property
    def cookie(self) -> str:
        """Where the connection is encrypted, browsers take the prefix as a promise that nobody else set it."""
        return f"__Host-{COOKIE}" if self.is_https else COOKIE

    @property
    def lasts_s(self) -> int:
        return self.web.session_hours * 3600

    def base(self, request: "HTTPConnection") -> str:
        return self.address or f"{request.url.scheme}://{request.url.netloc}"

    def caller(self, request: "HTTPConnection") -> str:
        """For the limits: somebody known by their key, anybody else by their address."""
        key = hashed(bearer(request) or request.cookies.get(self.cookie, ""))
        return key if self._known.has(key) else client_address(request, self.web.proxy)

    def person(self, key: str) -> Person | None:
        """Asked of the books each time, as is a token: what was ended by whatever process is over for all."""
        found = self.desk.books.doors.session(key)
        if found is not None:
            self._known.add(hashed(key))
        return found

    def token(self, key: str) -> Viewer | None:
        """Whoever brings a token."""
        found = self.desk.books.tokens.known(key)
        if found is None:
            return None
        self._known.add(hashed(key))
        token, owner = found
        now = time.time()
        if max(token.used_s, self._used.get(token.id, 0)) <= now - TOUCH_S:
            self._used[token.id] = now
            self._notes.submit(self._touch, token)
        return token_viewer(token, owner)

    def _touch(self, token: Token) -> None:
        with suppress(BooksError):  # the next use tries again
            self.desk.books.tokens.touch(token)

    def settled(self) -> None:
        """Until all uses are noted."""
        self._notes.submit(int).result()

    def begin(self, person: Person) -> str:
        return self.desk.books.doors.open_session(person, self.lasts_s)


def bearer(request: "HTTPConnection") -> str:
    """The token of a program; empty where the request has none."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else ""
