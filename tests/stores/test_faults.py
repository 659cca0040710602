"""A store that is busy, slow, cut off, damaged, changed, not ours or not there: asked again where that helps, else a sentence; no secret in any of them."""

import base64
import hashlib
import hmac
import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
import trustme

from apportion.errors import ApportionError
from apportion.sources.files.places import Place
from apportion.sources.settings import Stanza
from tests.clouds import ACCOUNT, ACCOUNT_KEY, Cloud, ask
from tests.loopback import free_port
from tests.outside.server import serving
from tests.stores.proxy import Between, between

SECRET = "s3-very-secret"
DATA = bytes(range(256)) * 20_000
KEY = "faults/big.csv"


@pytest.fixture(scope="module")
def store(s3: Cloud) -> Iterator[Between]:
    s3.put(KEY, DATA)
    with between(s3.url) as found:
        yield found


@pytest.fixture
def faulty(store: Between, s3: Cloud, monkeypatch: pytest.MonkeyPatch) -> Between:
    for name, value in s3.environment.items():
        monkeypatch.setenv(name, value)
    store.faults, store.opaque = {}, False
    store.seen.clear()
    return store


def fetched(url: str, path: str = f"s3://bills/{KEY}", **settings: Any) -> bytes:
    known = {
        "access_key": "env:S3_KEY",
        "secret_key": "env:S3_SECRET",
        "retries": 1,
        "region": "eu-west-1",
    }
    found = {"path": path, "endpoint": url, **known, **settings}
    stanza = Stanza({key: value for key, value in found.items() if value is not None}, "source 'it'")
    with Place.of(stanza, Path()) as place:
        (file,) = place.files(["csv"])
        return file.path.read_bytes()


def patience(fault: str) -> dict[str, Any]:
    """Short for a store that is slow on purpose; one on a busy machine is waited for."""
    return {"timeout_s": 1} if fault in ("slow", "stall") else {}


def refused(url: str, path: str = f"s3://bills/{KEY}", **settings: Any) -> ApportionError:
    with pytest.raises(ApportionError) as caught:
        fetched(url, path, **settings)
    error = caught.value
    assert error.hint
    seen: BaseException | None = error
    while seen is not None:  # nor in the chain that a traceback would print
        assert SECRET not in f"{seen!r} {seen}"
        assert "AWS4-HMAC" not in f"{seen!r} {seen}"
        seen = seen.__cause__ or seen.__context__
    return error


@pytest.mark.parametrize("fault", ["503 SlowDown", "500 InternalError", "429 TooManyRequests", "cut", "half", "stall"])
def test_what_may_pass_is_asked_again(fault: str, faulty: Between) -> None:
    faulty.faults = {"get": [fault]}
    assert fetched(faulty.url, **patience(fault)) == DATA
    first, second = [seen.headers for seen in faulty.seen if seen.what == "get"]
    assert second["if-match"] == first["if-match"]
    assert ("range" in second) == (fault in ("half", "stall")), "what came is not fetched twice"


def test_a_listing_is_asked_for_again(faulty: Between) -> None:
    faulty.faults = {"list": ["503 SlowDown", "cut"]}
    assert fetched(faulty.url, "s3://bills/faults/", retries=2) == DATA
    assert faulty.count("list") == 3


@pytest.mark.parametrize(
    ("fault", "code", "tries"),
    [
        ("503 SlowDown", "rate-limited", 2),
        ("429 TooManyRequests", "rate-limited", 2),
        ("503 ServiceUnavailable", "unreachable", 2),
        ("cut", "unreachable", 2),
        ("half", "half-response", 2),
        ("stall", "too-slow", 2),
        ("slow", "too-slow", 2),
        ("403 AccessDenied", "login-refused", 1),
        ("403 InvalidAccessKeyId", "login-refused", 1),
        ("401 Unauthorized", "login-refused", 1),
        ("400 AuthorizationHeaderMalformed", "bad-response", 1),
        ("301 PermanentRedirect", "bad-response", 1),
        ("404 NoSuchKey", "no-such-file", 1),
        ("404 NoSuchBucket", "no-such-file", 1),
        ("412 PreconditionFailed", "object-changed", 1),
        ("etag", "object-changed", 1),
        ("shorter", "object-changed", 1),
    ],
)
def test_what_does_not_pass_is_told(fault: str, code: str, tries: int, faulty: Between) -> None:
    faulty.faults = {"get": [fault] * 9}
    error = refused(faulty.url, **patience(fault))
    assert (error.code, faulty.count("get")) == (code, tries)
    assert f"s3://bills/{KEY}" in error.message


def test_a_damaged_object_is_fetched_again(faulty: Between) -> None:
    faulty.faults = {"get": ["damaged"]}
    assert fetched(faulty.url) == DATA
    assert faulty.count("get") == 2


def test_bytes_that_differ_each_time_are_refused(faulty: Between, s3: Cloud) -> None:
    s3.put("other/x.csv", DATA[:100])
    faulty.opaque = True
    faulty.faults = {"get": ["damaged"]}
    assert refused(faulty.url, "s3://bills/other/x.csv").code == "half-response"


def test_an_etag_that_is_no_digest_costs_one_fetch_more(faulty: Between, s3: Cloud) -> None:
    for number in range(10):
        s3.put(f"opaque/{number}.csv", DATA[: 100 + number])
    faulty.opaque = True
    found = Stanza({"path": "s3://bills/opaque/", **s3.settings, "endpoint": faulty.url}, "source 'it'")
    with Place.of(found, Path()) as place:
        files = place.files(["csv"])
        assert [file.path.read_bytes() for file in files] == [DATA[: 100 + number] for number in range(10)]
        assert place.files(["csv"]) == files
    assert faulty.count("get") <= 10 + 4, "those that were under way at once"
    assert faulty.count("list") == 1


def test_the_folder_is_gone_after_a_failure(
    faulty: Between, s3: Cloud, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    faulty.faults = {"get": ["403 AccessDenied"]}
    assert refused(faulty.url).code == "login-refused"
    assert list(tmp_path.iterdir()) == []


def test_no_room_is_seen_before_anything_is_fetched(faulty: Between, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=len(DATA) - 1))
    assert refused(faulty.url).code == "too-large"
    assert faulty.count("get") == 0


def test_what_answers_may_be_no_store(faulty: Between) -> None:
    faulty.faults = {"list": ["page"] * 9}
    assert refused(faulty.url, "s3://bills/faults/").code == "bad-response"
    assert refused(f"http://127.0.0.1:{free_port()}").code == "unreachable"


def test_certificates_are_checked(tmp_path: Path, faulty: Between) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    with serving(context) as (url, _):
        assert refused(url, "s3://bills/x/").code == "tls-failed"
        assert refused(url, "s3://bills/x/", ca_file=str(tmp_path / "ca.pem")).code == "bad-response"


@pytest.mark.parametrize("host", ["169.254.169.254", "[fd00:ec2::254]", "100.100.100.200"])
def test_metadata_addresses_are_not_asked(host: str, faulty: Between) -> None:
    assert refused(f"http://{host}").code == "address-refused"
    assert faulty.seen == []


def test_credentials_of_the_stanza_are_whole(faulty: Between, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of-the-environment")
    monkeypatch.setenv("TOKEN", "of-the-stanza")
    fetched(faulty.url)
    fetched(faulty.url, session_token="env:TOKEN")
    tokens = [seen.headers.get("x-amz-security-token") for seen in faulty.seen if seen.what == "get"]
    assert tokens == [None, "of-the-stanza"]
    assert "Credential=AKIDSTORES/" in faulty.seen[0].headers["authorization"]
    assert "/eu-west-1/s3/" in faulty.seen[0].headers["authorization"]


def test_credentials_of_the_environment_hold_without_any(faulty: Between, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDENVIRONMENT")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    fetched(faulty.url, access_key=None, secret_key=None)
    assert "Credential=AKIDENVIRONMENT/" in faulty.seen[0].headers["authorization"]


def test_without_credentials_anywhere_it_is_said(faulty: Between, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    with serving() as (url, behaviour):  # stands for the instance's own service, which knows of none
        behaviour.faults = ["status 404"] * 9
        monkeypatch.setenv("AWS_METADATA_ENDPOINT", url)
        error = refused(faulty.url, access_key=None, secret_key=None)
    assert error.code == "login-refused"
    assert "no credentials were found" in error.message
    assert faulty.seen == []


def test_nothing_is_signed_for_what_everybody_may_read(faulty: Between, s3: Cloud) -> None:
    ask(s3.url, "PUT", "/bills/public/x.csv", DATA, {"x-amz-acl": "public-read", "Content-Type": "text/csv"})
    known: dict[str, Any] = {"access_key": None, "secret_key": None, "anonymous": True}
    assert fetched(faulty.url, "s3://bills/public/x.csv", **known) == DATA
    assert refused(faulty.url, **known).code == "login-refused"
    assert all("authorization" not in seen.headers for seen in faulty.seen)


def test_whoever_asks_may_pay(faulty: Between) -> None:
    fetched(faulty.url, f"s3://bills/{KEY.replace('big', 'b*')}", requester_pays=True)
    assert {seen.what for seen in faulty.seen} == {"list", "get"}
    assert all(seen.headers["x-amz-request-payer"] == "requester" for seen in faulty.seen)


def test_azure_refuses_another_key(az: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    az.put("keys/x.csv", DATA[:10])
    monkeypatch.setenv("WRONG", "c2VjcmV0IHRoYXQgaXMgd3Jvbmc=")
    known = {"access_key": None, "secret_key": None, "region": None, "account": ACCOUNT, "account_key": "env:WRONG"}
    for path in ("az://bills/keys/", "az://bills/keys/x.csv"):
        error = refused(az.settings["endpoint"], path, **known)
        assert error.code == "login-refused"
        assert "c2Vj" not in str(error)


def test_azure_takes_a_signature_that_may_list_and_read(az: Cloud, monkeypatch: pytest.MonkeyPatch) -> None:
    az.put("signed/x.csv", DATA[:10])
    monkeypatch.setenv("SAS", container_signature("rl"))
    known = {"access_key": None, "secret_key": None, "region": None, "account": ACCOUNT, "sas_token": "env:SAS"}
    assert fetched(az.settings["endpoint"], "az://bills/signed/", **known) == DATA[:10]
    monkeypatch.setenv("SAS", container_signature("r"))
    error = refused(az.settings["endpoint"], "az://bills/signed/", **known)
    assert error.code == "login-refused"
    assert "sig=" not in str(error)


def container_signature(permissions: str) -> str:
    """https://learn.microsoft.com/rest/api/storageservices/create-service-sas"""
    until, version = "2099-01-01T00:00:00Z", "2020-12-06"
    signed = [permissions, "", until, f"/blob/{ACCOUNT}/bills", "", "", "", version, "c", *[""] * 7]
    digest = hmac.new(base64.b64decode(ACCOUNT_KEY), "\n".join(signed).encode(), hashlib.sha256).digest()
    signature = quote(base64.b64encode(digest).decode(), safe="")
    return f"?sp={permissions}&se={quote(until)}&sv={version}&sr=c&sig={signature}"


def test_a_service_account_is_read_from_its_file(gs: Cloud, tmp_path: Path) -> None:
    gs.put("account/x.csv", DATA[:10])
    account = tmp_path / "account.json"
    told = {"gcs_base_url": gs.settings["endpoint"], "disable_oauth": True}
    account.write_text(json.dumps({**told, "client_email": "", "private_key": "", "private_key_id": ""}))
    known = {"access_key": None, "secret_key": None, "region": None, "service_account": str(account)}
    assert fetched(gs.settings["endpoint"], "gs://bills/account/", **known) == DATA[:10]
