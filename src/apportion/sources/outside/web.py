"""Requests to a server that may be down, slow, busy or somebody else's: repeated within reason, bounded in size and time, told in sentences."""

import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from email.utils import parsedate_to_datetime
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_after_attempt
from tenacity.wait import wait_exponential_jitter

from apportion.errors import InputError, ProjectError
from apportion.sources.outside.addresses import check_address, check_host
from apportion.sources.outside.secrets import Secret, secret
from apportion.sources.settings import Stanza

Answer = TypeVar("Answer")
WEB_SETTINGS = (
    "url",
    "token",
    "username",
    "password",
    "ca_file",
    "timeout_s",
    "retries",
    "headers",
    "allow_link_local",
)
BUSY = {502, 503, 504}
LARGEST = 2**30
LONGEST_WAIT_S = 60
TIMEOUT_S, RETRIES = 60, 4


class TryAgainError(Exception):
    """A failure that may pass; `after` is what the server asked for, in seconds."""

    def __init__(self, told: InputError, after: int | None = None) -> None:
        super().__init__(told.message)
        self.told = told
        self.after = after


@dataclass(frozen=True, slots=True)
class Web:
    """One server. Errors name its address without anything that could be a secret."""

    client: httpx.Client
    where: str
    host: str
    retries: int
    allow_link_local: bool

    @classmethod
    def of(cls, found: Stanza) -> "Web":
        """By the settings `url`, `token` or `username` and `password`, `headers`, `ca_file`, `timeout_s`, `retries`, `allow_link_local`."""
        url = found.text("url")
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ProjectError(
                "invalid-setting",
                "url must begin with http:// or https:// and name a host",
                where=found.where,
                hint='such as url = "https://prometheus.example:9090"',
            )
        if parts.username or parts.password:
            raise ProjectError(
                "secret-in-settings",
                "url must not carry a user or password",
                where=found.where,
                hint='write username = "..." and password = "env:NAME" instead',
            )
        client = httpx.Client(
            base_url=url.rstrip("/"),
            auth=login(found),
            headers={"User-Agent": "apportion", **headers_of(found)},
            timeout=httpx.Timeout(found.number("timeout_s", TIMEOUT_S, 1, 3600)),
            verify=trust(found),
            follow_redirects=False,  # a login page is not an answer, and a redirect may lead where nobody meant
        )
        retries = found.number("retries", RETRIES, 0, 20)
        return cls(client, found.where, parts.netloc, retries, found.flag("allow_link_local"))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()

    def get(self, path: str, params: Mapping[str, Any] | None = None) -> Any:
        """Parsed JSON; numbers with a fraction come as Decimal, as they were written."""
        return self.parsed(self.fetch("GET", path, params=params), path)

    def post(self, path: str, *, form: Mapping[str, Any] | None = None, document: object = None) -> Any:
        return self.parsed(self.fetch("POST", path, form=form, document=document), path)

    def parsed(self, body: bytes, path: str) -> Any:
        try:
            return json.loads(body, parse_float=Decimal)
        except (ValueError, RecursionError) as error:
            begin = body[:60].decode("utf-8", "replace")
            raise self.told("bad-response", f"{self.host}{path} did not answer in JSON but with {begin!r}") from error

    def fetch(self, method: str, path: str, **what: Any) -> bytes:
        """The body, however it is written. What may pass is tried again: a broken connection, a busy server, half an answer."""
        return persisting(self.retries, self.once, method, path, what)

    def once(self, method: str, path: str, what: Mapping[str, Any]) -> bytes:
        check_host(
            self.client.base_url.host,
            self.client.base_url.port or 0,
            self.where,
            allowed=self.allow_link_local,
        )
        body = b"" if what.get("document") is None else json.dumps(what["document"]).encode()
        headers = {"Content-Type": "application/json"} if body else {}
        request = self.client.build_request(
            method, path, params=what.get("params"), data=what.get("form"), content=body or None, headers=headers
        )
        with self.failures(path):
            response = self.client.send(request, stream=True)
            try:
                self.check_peer(response)
                self.check_status(response, path)
                return self.body(response, path)
            finally:
                response.close()

    def check_peer(self, response: httpx.Response) -> None:
        """A name may have another address by the time it is asked."""
        stream = response.extensions.get("network_stream")
        peer = stream.get_extra_info("server_addr") if stream else None
        if peer and not self.allow_link_local:
            check_address(str(peer[0]), self.host, self.where)

    def check_status(self, response: httpx.Response, path: str) -> None:
        status = response.status_code
        if 200 <= status < 300:
            return
        response.read()
        said = brief(response.text)
        if status in (401, 403):
            raise self.told(
                "login-refused",
                f"{self.host}{path} refused the credentials ({status})",
                "see token, or username and password, of the source, and what they may read",
            )
        if status == 429:
            raise TryAgainError(
                self.told("rate-limited", f"{self.host}{path} asks for fewer requests"), after(response)
            )
        if status in BUSY:
            raise TryAgainError(
                self.told("unreachable", f"{self.host}{path} is busy ({status}): {said}"), after(response)
            )
        if 300 <= status < 400:
            raise self.told(
                "bad-response",
                f"{self.host}{path} answers from another place: {response.headers.get('location', '')[:100]}",
                "set url to that place, or add the credentials without which it leads to a login page",
            )
        raise self.told("bad-response", f"{self.host}{path} answered {status}: {said}")

    def body(self, response: httpx.Response, path: str) -> bytes:
        parts, size = [], 0
        for part in response.iter_bytes():
            size += len(part)
            if size > LARGEST:
                raise self.told("bad-response", f"{self.host}{path} answered with more than {LARGEST:,} bytes")
            parts.append(part)
        return b"".join(parts)

    @contextmanager
    def failures(self, path: str) -> Iterator[None]:
        """What httpx raises, as what a person can do about it."""
        try:
            yield
        except httpx.TimeoutException as error:
            raise TryAgainError(
                self.told("too-slow", f"{self.host}{path} did not answer in time", "raise timeout_s of the source")
            ) from error
        except (httpx.RemoteProtocolError, httpx.ReadError) as error:
            raise TryAgainError(self.told("half-response", f"{self.host}{path} broke off its answer")) from error
        except httpx.DecodingError as error:
            raise self.told("bad-response", f"{self.host}{path} sent bytes that cannot be unpacked") from error
        except httpx.TransportError as error:
            if trouble := tls_trouble(error):
                raise self.told(
                    "tls-failed",
                    f"the certificate of {self.host} is not trusted: {trouble}",
                    "set ca_file to the authority that signed it; the check cannot be switched off",
                ) from error
            hint = f"see url of the source, and whether the server runs: curl -sS {self.client.base_url}"
            raise TryAgainError(self.told("unreachable", f"{self.host} cannot be reached: {error}", hint)) from error

    def told(self, code: str, message: str, hint: str = "") -> InputError:
        return InputError(code, message, where=self.where, hint=hint)


def login(found: Stanza) -> httpx.Auth | None:
    token, password = secret(found, "token"), secret(found, "password")
    if token:
        return Bearer(token)
    if "username" in found.settings:
        return httpx.BasicAuth(found.text("username"), password.reveal() if password else "")
    return None


@dataclass(frozen=True, slots=True)
class Bearer(httpx.Auth):
    token: Secret

    def auth_flow(self, request: httpx.Request) -> Iterator[httpx.Request]:  # type: ignore[override]  # a generator is one
        request.headers["Authorization"] = f"Bearer {self.token.reveal()}"
        yield request


def headers_of(found: Stanza) -> dict[str, str]:
    """Such as `X-Scope-OrgID` of Mimir; one whose value points to a secret gets that."""
    given = found.words("headers")
    inside = Stanza(given, f"{found.where}, headers")
    pointing = {name for name, text in given.items() if text.startswith(("env:", "file:", "keyring:"))}
    return {
        name: hidden.reveal() if name in pointing and (hidden := secret(inside, name)) else text
        for name, text in given.items()
    }


def trust(found: Stanza) -> ssl.SSLContext:
    file = found.text("ca_file", "")
    try:
        return ssl.create_default_context(cafile=file or None)
    except (OSError, ssl.SSLError) as error:
        raise ProjectError(
            "invalid-setting", f"ca_file {file} cannot be read as certificates: {error}", where=found.where
        ) from error


def tls_trouble(error: BaseException) -> str:
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLError):
            return str(getattr(seen, "verify_message", "") or seen.reason or seen)
        seen = seen.__cause__ or seen.__context__
    return ""


def after(response: httpx.Response) -> int | None:
    """Retry-After: seconds or a date; X-RateLimit-Reset where a server says it so."""
    text = response.headers.get("retry-after") or response.headers.get("x-ratelimit-reset") or ""
    if text.isdecimal():
        return int(text)
    try:
        at, now = parsedate_to_datetime(text), parsedate_to_datetime(response.headers.get("date", ""))
    except (ValueError, TypeError):
        return None
    return max(0, int((at - now).total_seconds()))


GROWING = wait_exponential_jitter(multiplier=0.2, max=20, jitter=0.5)


def patience(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = error.after if isinstance(error, TryAgainError) else None
    return GROWING(state) if asked is None else min(asked, LONGEST_WAIT_S)


def persisting(retries: int, ask: Callable[..., Answer], *given: object) -> Answer:
    """Asks again while a failure may pass; then tells it."""
    tries = Retrying(
        stop=stop_after_attempt(retries + 1),
        wait=patience,
        retry=retry_if_exception_type(TryAgainError),
        reraise=True,
    )
    try:
        return tries(ask, *given)
    except TryAgainError as error:
        raise error.told from error


def brief(text: str) -> str:
    return " ".join(text.split())[:200]
