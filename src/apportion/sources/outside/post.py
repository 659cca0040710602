"""One message to somebody else's server: to an address that was looked at first, within a time, and without believing a word of the answer."""

import socket
import ssl
from collections.abc import Mapping

import httpx

from apportion.errors import InputError
from apportion.sources.outside.addresses import is_private, is_refused
from apportion.sources.outside.web import tls_trouble

TIMEOUT_S = 10
WEB = {"http": 80, "https": 443}


def check_url(url: str) -> httpx.URL:
    """Only the web, and no password in it."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise InputError("webhook-url", "that is no address", hint="such as https://example.com/hook") from error
    if parsed.scheme not in WEB or not parsed.host:
        raise InputError("webhook-url", "a webhook begins with http:// or https:// and names a host")
    if parsed.userinfo:
        raise InputError("webhook-url", "a webhook carries no user or password", hint="messages are signed instead")
    return parsed


def address_of(url: httpx.URL, *, allow_private: bool) -> str:
    """One that may be asked. It is asked itself, so that the name cannot mean another a moment later."""
    try:
        port = url.port or WEB[url.scheme]
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(url.host, port, type=socket.SOCK_STREAM)]
    except (OSError, UnicodeError) as error:
        raise InputError("unreachable", f"{url.host} has no address") from error
    for address in found:
        if is_refused(address) or (is_private(address) and not allow_private):
            raise InputError(
                "address-refused",
                f"{url.host} is {address}, which is not of the public internet",
                hint="where it is meant, set allow_private = true under [webhooks]; link-local and metadata addresses are never told",
            )
    return found[0]


def post(url: str, body: bytes, headers: Mapping[str, str], *, allow_private: bool) -> str:
    """The status line of an answer that says yes; anything else is an error that names the host alone."""
    parsed = check_url(url)
    address = address_of(parsed, allow_private=allow_private)
    port = f":{parsed.port}" if parsed.port else ""
    asked = {
        **headers,
        "Host": f"{parsed.netloc.decode()}",
        "Content-Type": "application/json",
        "User-Agent": "apportion",
    }
    try:
        with httpx.Client(
            timeout=TIMEOUT_S, follow_redirects=False, trust_env=False, verify=ssl.create_default_context()
        ) as client:
            target = parsed.copy_with(host=address)
            request = client.build_request(
                "POST", target, content=body, headers=asked, extensions={"sni_hostname": parsed.host}
            )
            answer = client.send(request, stream=True)
            answer.close()
    except httpx.TimeoutException as error:
        raise InputError("too-slow", f"{parsed.host}{port} did not answer in {TIMEOUT_S} s") from error
    except httpx.HTTPError as error:
        trouble = tls_trouble(error)
        said = f"its certificate is not trusted: {trouble}" if trouble else type(error).__name__
        raise InputError("unreachable", f"{parsed.host}{port} cannot be reached: {said}") from error
    if not 200 <= answer.status_code < 300:
        raise InputError("bad-response", f"{parsed.host}{port} answered {answer.status_code}")
    return str(answer.status_code)
