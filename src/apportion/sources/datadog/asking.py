"""Asking Datadog through its own client. The client waits as X-RateLimit-Reset says; an answer that breaks off is asked for again here,
since the client repeats no POST whose answer it has begun to read.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from decimal import Decimal
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from apportion.errors import InputError, ProjectError
from apportion.sources.datadog.settings import Server
from apportion.sources.outside.addresses import check_host
from apportion.sources.outside.web import LARGEST, TryAgainError, persisting

Ask = Callable[[Mapping[str, Any]], Mapping[str, Any]]
MENDING = "see api_key and app_key of the source: the application key needs the permission timeseries_query, and site must be theirs"


@contextmanager
def connected(server: Server, where: str, **more: Any) -> Iterator[Any]:
    """Datadog's client with the server's keys; `more` goes to its configuration."""
    library = client_library(where)
    parts = urlsplit(server.url)
    check_host(parts.hostname or "", parts.port or 443, where, allowed=server.allow_link_local)
    settings = library.Configuration(
        host=server.url,
        ssl_ca_cert=server.ca_file or None,
        enable_retry=True,
        max_retries=server.retries,
        request_timeout=server.timeout_s,
        **more,
    )
    settings.api_key = {
        "apiKeyAuth": server.api_key.reveal() if server.api_key else "",
        "appKeyAuth": server.app_key.reveal() if server.app_key else "",
    }
    with library.ApiClient(settings) as client:
        yield client


@contextmanager
def asking(server: Server, where: str) -> Iterator[Ask]:
    """A function that takes a request's body and gives the answer's; fractions come as Decimal, as they were written."""
    with connected(server, where, preload_content=False) as client:

        def ask(body: Mapping[str, Any]) -> Mapping[str, Any]:
            return persisting(server.retries, once, client, body, urlsplit(server.url).netloc, where)

        yield ask


def client_library(where: str) -> Any:
    try:
        import datadog_api_client  # noqa: PLC0415 - an extra, and slow
    except ImportError as error:
        raise ProjectError(
            "datadog-missing",
            f"Datadog is asked, and its Python client is not installed ({error})",
            where=where,
            hint='pip install "apportion[datadog]"',
        ) from error
    return datadog_api_client


def once(client: Any, body: Mapping[str, Any], host: str, where: str) -> Mapping[str, Any]:
    from datadog_api_client.v2.api import metrics_api  # noqa: PLC0415

    api: Any = metrics_api
    with failures(host, where):
        response = api.MetricsApi(client).query_timeseries_data(body=request(body))
        data = response.read(LARGEST + 1, decode_content=True)
        response.release_conn()
    return parsed(data, host, where)


def request(body: Mapping[str, Any]) -> Any:
    """The client takes objects of its own, whose names are the body's but for `from`."""
    asked = body["data"]["attributes"]
    sources = form("metrics_data_source")
    queries = [
        form("metrics_timeseries_query")(data_source=sources(one["data_source"]), name=one["name"], query=one["query"])
        for one in asked["queries"]
    ]
    attributes = form("timeseries_formula_request_attributes")(
        _from=asked["from"],
        to=asked["to"],
        interval=asked["interval"],
        queries=form("timeseries_formula_request_queries")(queries),
        formulas=[form("query_formula")(formula=one["formula"]) for one in asked["formulas"]],
    )
    kind = form("timeseries_formula_request_type")(body["data"]["type"])
    data = form("timeseries_formula_request")(type=kind, attributes=attributes)
    return form("timeseries_formula_query_request")(data=data)


def form(module: str) -> Any:
    """One of the client's models: importing all of them takes seconds."""
    found = import_module(f"datadog_api_client.v2.model.{module}")
    return getattr(found, "".join(word.capitalize() for word in module.split("_")))


def parsed(data: bytes, host: str, where: str) -> Mapping[str, Any]:
    if len(data) > LARGEST:
        raise InputError("bad-response", f"{host} answered with more than {LARGEST:,} bytes", where=where)
    try:
        found = json.loads(data, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        begin = data[:60].decode("utf-8", "replace")
        raise InputError("bad-response", f"{host} did not answer in JSON but with {begin!r}", where=where) from error
    if not isinstance(found, dict):
        raise InputError("bad-response", f"{host} answered with a {type(found).__name__}", where=where)
    return found


@contextmanager
def failures(host: str, where: str, mending: str = MENDING) -> Iterator[None]:
    """What the client and urllib3 raise, as what a person can do about it. No message carries a header: keys stand there."""
    from datadog_api_client.exceptions import ApiException, OpenApiException  # noqa: PLC0415
    from urllib3.exceptions import HTTPError, MaxRetryError  # noqa: PLC0415

    try:
        yield
    except ApiException as error:
        raise refused(error, host, where, mending) from None
    except OpenApiException as error:
        raise InputError("bad-response", f"{host} cannot be asked that: {error}", where=where) from None
    except MaxRetryError as error:
        raise exhausted(error, host, where) from None
    except HTTPError as error:
        raise broken(error, host, where) from None


def refused(error: Any, host: str, where: str, mending: str) -> InputError:
    if error.status in (401, 403):
        return InputError("login-refused", f"{host} refused the keys ({error.status})", where=where, hint=mending)
    if not error.status:  # TLS: the client hides the rest
        return InputError(
            "tls-failed",
            f"the certificate of {host} is not trusted",
            where=where,
            hint="set ca_file to the authority that signed it; the check cannot be switched off",
        )
    body = error.body.decode("utf-8", "replace") if isinstance(error.body, bytes) else str(error.body or "")
    code = "rate-limited" if error.status == 429 else "unreachable" if error.status >= 500 else "bad-response"
    return InputError(code, f"{host} answered {error.status}: {' '.join(body.split())[:200]}", where=where)


def exhausted(error: Any, host: str, where: str) -> InputError:
    from urllib3.exceptions import ConnectTimeoutError, NewConnectionError, ReadTimeoutError, SSLError  # noqa: PLC0415

    reason = error.reason
    if isinstance(reason, SSLError):
        return InputError(
            "tls-failed",
            f"the certificate of {host} is not trusted: {reason}",
            where=where,
            hint="set ca_file to the authority that signed it; the check cannot be switched off",
        )
    if isinstance(reason, (ConnectTimeoutError, ReadTimeoutError)) and not isinstance(reason, NewConnectionError):
        return InputError(
            "too-slow", f"{host} did not answer in time", where=where, hint="raise timeout_s of the source"
        )
    if "429" in str(reason):
        return InputError(
            "rate-limited",
            f"{host} is busy (429), and stayed so",
            where=where,
            hint="raise retries or interval_s of the source, or ask again later",
        )
    return InputError("unreachable", f"{host} cannot be reached: {reason}", where=where)


def broken(error: Any, host: str, where: str) -> TryAgainError:
    from urllib3.exceptions import TimeoutError as TooSlowError  # noqa: PLC0415

    if isinstance(error, TooSlowError):
        told = InputError(
            "too-slow", f"{host} did not answer in time", where=where, hint="raise timeout_s of the source"
        )
    else:
        told = InputError("half-response", f"{host} broke off its answer", where=where)
    return TryAgainError(told)
