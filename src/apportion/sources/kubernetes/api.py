"""The API server, through the official client: how to log in, lists in pages, and failures as sentences."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

from apportion.errors import InputError, ProjectError
from apportion.sources.kubernetes.objects import Kind, Object, slim
from apportion.sources.outside.addresses import check_host
from apportion.sources.outside.secrets import secret
from apportion.sources.outside.web import LARGEST, RETRIES, TIMEOUT_S, TryAgainError, brief, persisting, tls_trouble
from apportion.sources.settings import Stanza

PAGE = 500
MOST_RESTARTS = 3
METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
BUSY = {429, 500, 502, 503, 504}


class GoneError(Exception):
    """The list has moved on since its first page: it must be read again from the start."""


@dataclass(frozen=True, slots=True)
class Denied:
    """The server understood who asks and does not let it look."""

    kind: Kind
    said: str


@dataclass(slots=True)
class Api:
    """One API server. `now_s` is its own clock, as its latest answer said."""

    client: Any
    where: str
    timeout_s: int
    retries: int
    page: int
    now_s: int | None = None
    versions: dict[str, list[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, found: Stanza, base: Path) -> "Api":
        client = connect(found, base)
        parts = urlsplit(client.configuration.host)
        check_host(parts.hostname or "", parts.port or 443, found.where, allowed=found.flag("allow_link_local"))
        return cls(
            client,
            found.where,
            found.number("timeout_s", TIMEOUT_S, 1, 3600),
            found.number("retries", RETRIES, 0, 20),
            found.number("page", PAGE, 1, 10_000),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.rest_client.pool_manager.clear()

    @property
    def host(self) -> str:
        return str(urlsplit(self.client.configuration.host).netloc)

    def get(self, path: str, query: Mapping[str, object] | None = None, accept: str = "application/json") -> Any:
        return self.ask("GET", f"{path}?{urlencode(query)}" if query else path, accept)

    def post(self, path: str, document: object) -> Any:
        return self.ask("POST", path, "application/json", document)

    def served(self, kind: Kind) -> str | None:
        """The best version of a kind that the server offers; None where it does not know the group."""
        if not kind.group:
            return kind.versions[0]
        if not self.versions:
            for group in self.get("/apis").get("groups") or []:
                self.versions[group.get("name")] = [each.get("version") for each in group.get("versions") or []]
        return next((version for version in kind.versions if version in self.versions.get(kind.group, [])), None)

    def all(self, kind: Kind) -> list[Object] | Denied | None:
        """Every object of a kind in all namespaces; None where the server does not have the kind."""
        version = self.served(kind)
        if version is None:
            return None
        try:
            for _ in range(MOST_RESTARTS + 1):
                with suppress(GoneError):
                    return [slim(each) for each in self.pages(kind, version)]
        except MissingError:
            return None
        except DeniedError as denied:
            return Denied(kind, str(denied))
        raise self.told(
            "half-response",
            f"{self.host} lost the list of {kind} {MOST_RESTARTS + 1} times while it was read",
            "raise page of the source, so that fewer answers make a list",
        )

    def pages(self, kind: Kind, version: str) -> Iterator[Object]:
        query: dict[str, object] = {"limit": self.page}
        while True:
            answer = self.get(kind.path(version), query, METADATA if kind.is_owner else "application/json")
            if not isinstance(answer, dict) or not isinstance(answer.get("items"), list | None):
                raise self.told("bad-response", f"{self.host}{kind.path(version)} did not answer with a list")
            yield from answer.get("items") or []
            following = (answer.get("metadata") or {}).get("continue")
            if not following:
                return
            query = {"limit": self.page, "continue": following}

    def ask(self, method: str, path: str, accept: str, document: object = None) -> Any:
        """The parsed answer. What may pass is tried again: a broken connection, a busy server, half an answer."""
        return persisting(self.retries, self.once, method, path, accept, document)

    def once(self, method: str, path: str, accept: str, document: object) -> Any:
        with self.failures(path):
            status, headers, body = self.sent(method, path, accept, document)
        if body is None:
            raise self.told(
                "bad-response", f"{self.host} answered with more than {LARGEST:,} bytes", "lower page of the source"
            )
        self.check(status, headers, body, path)
        with suppress(ValueError, KeyError):
            self.now_s = int(parsedate_to_datetime(headers["Date"]).timestamp())
        try:
            return json.loads(body)
        except (ValueError, RecursionError) as error:
            said = brief(body[:60].decode("utf-8", "replace"))
            raise self.told(
                "bad-response", f"{self.host}{place(path)} did not answer in JSON but with {said!r}"
            ) from error

    def sent(
        self, method: str, path: str, accept: str, document: object
    ) -> tuple[int, Mapping[str, str], bytes | None]:
        """Status, headers and body. Older clients raise what is no success; it is an answer all the same."""
        from kubernetes.client.exceptions import ApiException  # noqa: PLC0415 - an extra

        settings = self.client.configuration
        headers = {"Accept": accept, "Content-Type": "application/json", "User-Agent": "apportion"}
        headers |= {each["key"]: each["value"] for each in settings.auth_settings().values() if each["value"]}
        try:
            answer = self.client.rest_client.request(
                method, settings.host + path, headers=headers, body=document, _request_timeout=self.timeout_s
            )
        except ApiException as error:
            if not error.status:
                raise
            return error.status, error.headers or {}, as_bytes(error.body)
        return answer.status, answer.getheaders(), bounded(answer)

    def check(self, status: int, headers: Mapping[str, str], body: bytes, path: str) -> None:
        if 200 <= status < 300:
            return
        said = message(body)
        if status == 410:
            raise GoneError
        if status == 404:
            raise MissingError(said)
        if status == 409:
            raise ConflictError(said)
        if status == 403:
            raise DeniedError(said)
        if status == 401:
            raise self.told(
                "login-refused",
                f"{self.host} refused the credentials (401)",
                "see kubeconfig and context, or url and token, of the source: the token may have expired",
            )
        if status in BUSY:
            after = headers.get("Retry-After") or ""
            code = "rate-limited" if status == 429 else "unreachable"
            raise TryAgainError(
                self.told(code, f"{self.host}{place(path)} is busy ({status}) {said}"),
                int(after) if after.isdecimal() else None,
            )
        raise self.told("bad-response", f"{self.host}{place(path)} answered {status}: {said}")

    @contextmanager
    def failures(self, path: str) -> Iterator[None]:
        """What urllib3 and the client raise, as what a person can do about it."""
        from kubernetes.client.exceptions import ApiException  # noqa: PLC0415 - an extra
        from urllib3 import exceptions  # noqa: PLC0415 - comes with it

        try:
            yield
        except exceptions.NewConnectionError as error:  # a kind of time-out to urllib3
            raise TryAgainError(self.told("unreachable", f"{self.host} cannot be reached: {reason(error)}")) from error
        except exceptions.TimeoutError as error:
            raise TryAgainError(
                self.told(
                    "too-slow", f"{self.host}{place(path)} did not answer in time", "raise timeout_s of the source"
                )
            ) from error
        except (exceptions.IncompleteRead, exceptions.ProtocolError, exceptions.DecodeError) as error:
            raise TryAgainError(self.told("half-response", f"{self.host}{place(path)} broke off its answer")) from error
        except (ApiException, exceptions.HTTPError, OSError) as error:
            if trouble := tls_trouble(error):
                raise self.told(
                    "tls-failed",
                    f"the certificate of {self.host} is not trusted: {trouble}",
                    "name the cluster's authority: certificate-authority-data in the kubeconfig, or ca_file of the source",
                ) from error
            raise TryAgainError(self.told("unreachable", f"{self.host} cannot be reached: {reason(error)}")) from error

    def told(self, code: str, text: str, hint: str = "") -> InputError:
        return InputError(code, text, where=self.where, hint=hint)


class MissingError(Exception):
    """There is no such resource."""


class ConflictError(Exception):
    """It is there already, or another than was read (409)."""


class DeniedError(Exception):
    """Not allowed (403)."""


def connect(found: Stanza, base: Path) -> Any:
    """By `url` and `token`, by `kubeconfig` and `context`, by the pod's own service account, or by the user's own kubeconfig."""
    try:
        from kubernetes import client, config  # noqa: PLC0415 - an extra, and slow
    except ImportError as error:
        raise ProjectError(
            "kubernetes-missing",
            "the official Kubernetes client is not installed",
            where=found.where,
            hint='pip install "apportion[kubernetes]"',
        ) from error
    ways: Any = config  # it has no types
    settings = client.Configuration()
    settings.retries = False  # `Api.ask` repeats, and knows what may be repeated
    if "url" in found.settings:
        by_token(settings, found, base)
        return client.ApiClient(settings)
    file = found.text("kubeconfig", "")
    try:
        if not file and "context" not in found.settings and is_inside():
            ways.load_incluster_config(client_configuration=settings)
        else:
            ways.load_kube_config(
                config_file=str(base / Path(file).expanduser()) if file else None,
                context=found.text("context", "") or None,
                client_configuration=settings,
                persist_config=False,
            )
    except Exception as error:  # the client raises whatever its many ways to log in do
        raise InputError(
            "no-kubeconfig",
            f"there is no way to log in to the cluster: {brief(str(error))}",
            where=found.where,
            hint="set kubeconfig and context of the source, or url and token; inside a pod nothing is needed",
        ) from error
    return client.ApiClient(settings)


def is_inside() -> bool:
    """Whether this runs in a pod with a service account."""
    from kubernetes.config import incluster_config  # noqa: PLC0415 - an extra

    return Path(incluster_config.SERVICE_TOKEN_FILENAME).exists()


def by_token(settings: Any, found: Stanza, base: Path) -> None:
    url = found.text("url").rstrip("/")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ProjectError("invalid-setting", "url must begin with https:// and name a host", where=found.where)
    if parts.username or parts.password:
        raise ProjectError(
            "secret-in-settings",
            "url must not carry a user or password",
            where=found.where,
            hint='write token = "env:NAME"',
        )
    settings.host = url
    if token := secret(found, "token"):
        settings.api_key = {"authorization": f"Bearer {token.reveal()}"}
    if "ca_file" in found.settings:
        settings.ssl_ca_cert = str(base / Path(found.text("ca_file")).expanduser())


def bounded(answer: Any) -> bytes | None:
    """The body, None where it is too long. Older clients have it read already."""
    if getattr(answer, "data", None) is not None:
        return as_bytes(answer.data)
    parts, size = [], 0
    for part in answer.response.stream(2**16, decode_content=True):
        size += len(part)
        if size > LARGEST:
            return None
        parts.append(part)
    return b"".join(parts)


def as_bytes(body: object) -> bytes:
    return body if isinstance(body, bytes) else str(body or "").encode()


def message(body: bytes) -> str:
    """The sentence of a Status object, else the beginning of the body."""
    with suppress(ValueError, AttributeError):
        return brief(str(json.loads(body).get("message", "")))
    return brief(body[:200].decode("utf-8", "replace"))


def place(path: str) -> str:
    return path.partition("?")[0]


def reason(error: BaseException) -> str:
    """What the system said, without what urllib3 says around it."""
    cause: object = error.__cause__ or getattr(error, "reason", None) or error
    return brief(str(getattr(cause, "strerror", None) or cause)) or type(error).__name__
