"""A server that is down, slow, busy, cut off, not ours or not trusted: a sentence each, repeated only where that helps, and no secret in any of them."""

import ssl
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import trustme

from apportion.errors import ApportionError
from apportion.sources.outside.web import Web
from apportion.sources.settings import Stanza
from tests.outside.server import serving

SECRET = "very-secret-token"


def web_of(url: str, **settings: Any) -> Web:
    return Web.of(Stanza({"url": url, "retries": 2, **settings}, "source 'it'"))


def patience(fault: str) -> dict[str, Any]:
    """Short for a server that is slow on purpose; one on a busy machine is waited for."""
    return {"timeout_s": 1} if fault.startswith("slow") else {}


def refused(url: str, path: str = "/x", **settings: Any) -> ApportionError:
    with pytest.raises(ApportionError) as caught, web_of(url, **settings) as web:
        web.get(path)
    error = caught.value
    seen: BaseException | None = error
    while seen is not None:  # nor in the chain that a traceback would print
        assert SECRET not in f"{seen!r} {seen}"
        seen = seen.__cause__ or seen.__context__
    return error


def test_numbers_come_as_they_were_written() -> None:
    with serving() as (url, _), web_of(url) as web:
        assert web.get("/x") == {"value": Decimal("1.10"), "text": "fine"}


def test_parameters_forms_and_documents_arrive() -> None:
    with serving() as (url, behaviour), web_of(url + "/prefix/") as web:
        web.get("/a", {"q": "x y"})
        web.post("/b", form={"query": 'up{a="1"}'})
        web.post("/c", document={"from": 1})
    (_, first, _, _), (_, _, _, second), (_, _, headers, third) = behaviour.seen
    assert first == "/prefix/a?q=x+y"
    assert second == b"query=up%7Ba%3D%221%22%7D"
    assert (third, headers["Content-Type"]) == (b'{"from": 1}', "application/json")


@pytest.mark.parametrize("fault", ["status 429", "status 503", "half", "cut", "slow 1.5"])
def test_what_may_pass_is_tried_again(fault: str) -> None:
    with serving() as (url, behaviour), web_of(url, **patience(fault)) as web:
        behaviour.faults = [fault]
        assert web.get("/x")["text"] == "fine"
    assert len(behaviour.seen) == 2


@pytest.mark.parametrize(
    ("fault", "code", "tries"),
    [
        ("status 429", "rate-limited", 3),
        ("status 503", "unreachable", 3),
        ("half", "half-response", 3),
        ("cut", "half-response", 3),
        ("slow 1.3", "too-slow", 3),
        ("status 401", "login-refused", 1),
        ("status 403", "login-refused", 1),
        ("status 404", "bad-response", 1),
        ("login", "bad-response", 1),
        ("text <html>hello</html>", "bad-response", 1),
        ("packed", "bad-response", 1),
    ],
)
def test_what_does_not_pass_is_told(fault: str, code: str, tries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", SECRET)
    with serving() as (url, behaviour):
        behaviour.faults = [fault] * 5
        error = refused(url, token="env:TOKEN", **patience(fault))
        assert len(behaviour.seen) == tries
        assert behaviour.seen[0][2]["Authorization"] == f"Bearer {SECRET}"
    assert (error.code, error.where) == (code, "source 'it'")
    assert url.removeprefix("http://") in error.message


def test_a_server_that_is_down() -> None:
    with serving() as (url, _):
        pass
    assert refused(url, retries=0).code == "unreachable"


def test_a_certificate_that_nobody_signed_and_one_that_our_authority_signed(tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    with serving(context) as (url, _):
        error = refused(url)
        assert (error.code, "ca_file" in error.hint) == ("tls-failed", True)
        with web_of(url, ca_file=str(tmp_path / "ca.pem")) as web:
            assert web.get("/x")["text"] == "fine"
    (tmp_path / "bad.pem").write_text("no certificate")
    assert refused("https://127.0.0.1:1", ca_file=str(tmp_path / "bad.pem")).code == "invalid-setting"


def test_user_and_password_and_headers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", SECRET)
    settings = {"username": "ana", "password": "env:TOKEN", "headers": {"X-Scope-OrgID": "ml", "X-Key": "env:TOKEN"}}
    with serving() as (url, behaviour), web_of(url, **settings) as web:
        web.get("/x")
        assert SECRET not in repr(web)
    headers = behaviour.seen[0][2]
    assert headers["Authorization"].startswith("Basic ")
    assert (headers["X-Scope-OrgID"], headers["X-Key"]) == ("ml", SECRET)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("ftp://host/x", "invalid-setting"),
        ("prometheus:9090", "invalid-setting"),
        (f"http://ana:{SECRET}@host/", "secret-in-settings"),
        ("http://169.254.169.254/latest", "address-refused"),
        ("http://[::ffff:169.254.169.254]/", "address-refused"),
        ("http://[64:ff9b::a9fe:a9fe]/", "address-refused"),
        ("http://[fd00:ec2::254]/", "address-refused"),
        ("http://0.0.0.0/", "address-refused"),
    ],
)
def test_addresses_that_are_not_asked(url: str, code: str) -> None:
    assert refused(url, retries=0).code == code
