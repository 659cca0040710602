"""Login at a real OpenID provider, through its real redirects; and tokens that no provider would make, at the check of tokens."""

import base64
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from fastapi import FastAPI
from joserfc import jwt
from joserfc.jwk import KeySet, OctKey, RSAKey

from apportion.sources.settings import Stanza
from apportion.verbs.project import Project
from apportion.verbs.web_settings import Oidc, Web
from apportion.web.app import create_app
from apportion.web.door.oidc import LoginError, Provider, checked_metadata, key_set, person_of
from tests.web import world
from tests.web.doors import FAST, OURS, Browser, no_provider, provider, with_web

WEB = """\
login = "oidc"
{fast}

[web.oidc]
issuer = "{issuer}"
client_id = "apportion"
client_secret = "env:APPORTION_TEST_CLIENT"
scopes = ["openid", "profile"]

[web.groups]
ml-vision = {{ role = "viewer", teams = ["vision"] }}
ml-speech = {{ role = "lead", teams = ["speech"] }}
costs-admins = {{ role = "admin" }}
"""


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    if reason := no_provider():
        pytest.skip(reason)
    with provider() as address:
        yield address


@pytest.fixture(scope="module")
def app(small: Project, issuer: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FastAPI]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("APPORTION_TEST_CLIENT", "a secret/with+odd:letters")
        folder = tmp_path_factory.mktemp("oidc") / "project"
        yield create_app(with_web(small, folder, WEB.format(issuer=issuer, fast=FAST)).folder)


@pytest.fixture
def browser(app: FastAPI, issuer: str) -> Iterator[Browser]:
    """Of `ada`, unless somebody else is named."""
    httpx.get(f"{issuer}/people/ada")
    made = Browser(app)
    yield made
    made.close()


def who(text: str) -> str:
    found = re.search(r'<div class="who"><span>(.*?)</span></span>', text)
    return re.sub(r"<[^>]+>", "", found[1]).strip() if found else ""


def csrf(text: str) -> str:
    return re.search(r'name="csrf" value="(\w+)"', text)[1]  # type: ignore[index]


def test_a_page_leads_to_the_provider_and_back_to_itself(browser: Browser) -> None:
    shown = browser.open("/?period=2026-10")
    assert (shown.status_code, who(shown.text)) == (200, "ada viewer")
    assert browser.seen[-1] == f"{OURS}/?period=2026-10"
    assert not [word for word in world.SECRET if word in shown.text]
    asked = next(parse_qs(urlsplit(url).query) for url in browser.seen if "/auth?" in url)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["response_type"] == ["code"]
    assert len(asked["state"][0]) > 30
    assert len(asked["nonce"][0]) > 30
    cookie = next(one for one in browser.ours.cookies.jar if one.name == "apportion")
    assert cookie.has_nonstandard_attr("HttpOnly")


def test_several_groups_give_the_highest_role_and_their_teams(browser: Browser, issuer: str) -> None:
    httpx.get(f"{issuer}/people/boss")
    assert who(browser.open("/").text) == "boss admin"


def test_whoever_is_in_no_group_sees_nothing_and_is_told_so(browser: Browser, issuer: str) -> None:
    httpx.get(f"{issuer}/people/lost")
    shown = browser.open("/")
    assert shown.status_code == 200
    assert "no team is yours to see yet" in shown.text
    assert not [word for word in (*world.SECRET, "vision", "speech") if word in shown.text]


def test_a_callback_is_good_once(browser: Browser) -> None:
    browser.open("/", until="/login/callback")
    callback = browser.seen[-1]
    kept = dict(browser.ours.cookies)
    assert browser.get(callback).status_code == 303
    browser.ours.cookies.clear()
    browser.ours.cookies.update(kept)  # as if the login cookie had not been taken back
    again = browser.get(callback)
    assert again.status_code == 401
    assert "is over already" in again.text
    assert "set-cookie" not in again.headers


def test_a_code_is_good_once_even_with_a_new_state(browser: Browser) -> None:
    browser.open("/", until="/login/callback")
    code = parse_qs(urlsplit(browser.seen[-1]).query)["code"][0]
    assert browser.get(browser.seen[-1]).status_code == 303
    browser.ours.cookies.clear()
    browser.theirs.cookies.clear()
    browser.open("/", until="/login/callback")
    answer = browser.get(re.sub(r"code=[^&]+", f"code={code}", browser.seen[-1]))
    assert answer.status_code == 401
    assert "apportion=" not in str(answer.headers)


def test_a_login_belongs_to_the_browser_that_began_it(browser: Browser, app: FastAPI) -> None:
    browser.open("/", until="/login/callback")
    other = Browser(app)
    try:
        assert other.get(browser.seen[-1]).status_code == 401
    finally:
        other.close()


@pytest.mark.parametrize("change", ["state", "iss", "no iss", "error"])
def test_an_answer_that_was_changed_lets_nobody_in(browser: Browser, change: str) -> None:
    browser.open("/", until="/login/callback")
    url = browser.seen[-1]
    changed = {
        "state": re.sub(r"state=[^&]+", "state=guessed", url),
        "iss": re.sub(r"iss=[^&]+", "iss=https%3A%2F%2Felsewhere.example", url),
        "no iss": re.sub(r"&?iss=[^&]+", "", url),
        "error": re.sub(r"code=[^&]+", "error=access_denied", url),
    }[change]
    assert changed != url
    answer = browser.get(changed)
    assert answer.status_code == 401
    assert "apportion=" not in str(answer.headers)


@pytest.mark.parametrize(
    "to",
    ["https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example", "/\t/elsewhere.example", "/login"],
)
def test_a_login_leads_to_no_foreign_place(browser: Browser, to: str) -> None:
    start = browser.ours.get("/login/start", params={"to": to})
    browser.seen.append(start.headers["location"])
    answer = browser.theirs.get(start.headers["location"])
    while not (answer.is_redirect and answer.headers["location"].startswith(OURS)):
        answer = browser.theirs.get(httpx.URL(str(answer.url)).join(answer.headers["location"]))
    assert browser.get(answer.headers["location"]).headers["location"] == "/"


def test_after_logout_the_session_is_dead_and_the_provider_is_told(browser: Browser, issuer: str) -> None:
    shown = browser.open("/")
    key = browser.ours.cookies["apportion"]
    without = browser.ours.post("/logout", data={"csrf": "guessed"})
    assert without.headers["location"] == "/"
    assert browser.ours.get("/").status_code == 200
    out = browser.ours.post("/logout", data={"csrf": csrf(shown.text)})
    assert out.headers["location"] == "/logout/done"
    done = browser.ours.get("/logout/done")
    assert f"url={issuer}/session/end?client_id=apportion&post_logout_redirect_uri=" in done.headers["refresh"]
    assert browser.theirs.get(done.headers["refresh"].partition("url=")[2]).status_code == 200
    browser.ours.cookies.set("apportion", key)
    assert browser.ours.get("/").headers["location"].startswith("/login")


def test_a_rotated_key_is_fetched(browser: Browser, issuer: str) -> None:
    assert browser.open("/").status_code == 200
    httpx.post(f"{issuer}/keys")
    browser.ours.cookies.clear()
    browser.theirs.cookies.clear()
    assert who(browser.open("/").text) == "ada viewer"


def test_a_login_is_in_the_audit_log(browser: Browser, app: FastAPI) -> None:
    browser.open("/")
    last = [note for note in app.state.desk.books.audit() if note.what == "login"][-1]
    assert (last.who, last.detail) == ("ada", "ada by oidc as viewer")


# What the real provider would never make.

KEY = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
OTHER = RSAKey.generate_key(2048, {"kid": "one", "use": "sig"})
ISSUER = "https://login.example"
SETTINGS = Oidc(ISSUER, "apportion", Stanza({}, "apportion.toml:1"))
NONCE = "the nonce of this login"


@pytest.fixture
def door(monkeypatch: pytest.MonkeyPatch) -> Provider:
    """A provider whose document and keys are known already."""
    made = Provider(SETTINGS)
    later = time.monotonic() + 3600
    made._metadata = (later, {"issuer": ISSUER, "jwks_uri": f"{ISSUER}/jwks"})
    made._keys = (later, key_set(KeySet([KEY]).as_dict(private=False)))
    monkeypatch.setattr(made, "_get", lambda _: KeySet([KEY]).as_dict(private=False))
    return made


def claims(**changes: Any) -> dict[str, Any]:
    now = int(time.time())
    whole = {"iss": ISSUER, "sub": "1", "aud": "apportion", "iat": now, "exp": now + 300, "nonce": NONCE, **changes}
    return {name: value for name, value in whole.items() if value is not None}


def signed(body: dict[str, Any], key: Any = KEY, alg: str = "RS256") -> str:
    return jwt.encode({"alg": alg, "kid": "one"}, body, key, algorithms=[alg])


def bare(body: dict[str, Any]) -> str:
    from joserfc.util import urlsafe_b64encode

    parts = (json.dumps(part).encode() for part in ({"alg": "none", "kid": "one"}, body))
    return b".".join([*(urlsafe_b64encode(part) for part in parts), b""]).decode()


def by_public_key(body: dict[str, Any]) -> str:
    """Signed with what everybody knows, as if it were a shared secret."""
    return jwt.encode(
        {"alg": "HS256", "kid": "one"},
        body,
        OctKey.import_key(base64.b64encode(KEY.as_der(private=False)).decode()),
        algorithms=["HS256"],
    )


def test_a_token_in_order_is_taken(door: Provider) -> None:
    assert door.checked(signed(claims()), NONCE)["sub"] == "1"
    assert door.checked(signed(claims(aud=["apportion"])), NONCE)
    assert door.checked(signed(claims(aud=["apportion", "other"], azp="apportion")), NONCE)


NOW = int(time.time())
WRONG: dict[str, Callable[[], str]] = {
    "another audience": lambda: signed(claims(aud="other")),
    "audiences without ours": lambda: signed(claims(aud=["other", "third"])),
    "for another party": lambda: signed(claims(aud=["apportion", "other"], azp="other")),
    "several audiences and no party": lambda: signed(claims(aud=["apportion", "other"])),
    "no audience": lambda: signed(claims(aud=None)),
    "another issuer": lambda: signed(claims(iss="https://elsewhere.example")),
    "expired": lambda: signed(claims(exp=NOW - 3600, iat=NOW - 7200)),
    "no expiry": lambda: signed(claims(exp=None)),
    "an expiry that is no number": lambda: signed(claims(exp="tomorrow")),
    "from the future": lambda: signed(claims(iat=NOW + 7200, exp=NOW + 9000)),
    "no time": lambda: signed(claims(iat=None)),
    "not valid yet": lambda: signed(claims(nbf=NOW + 7200)),
    "nobody": lambda: signed(claims(sub=None)),
    "another nonce": lambda: signed(claims(nonce="of another login")),
    "no nonce": lambda: signed(claims(nonce=None)),
    "unsigned": lambda: bare(claims()),
    "signed with the public key": lambda: by_public_key(claims()),
    "signed by somebody else": lambda: signed(claims(), OTHER),
    "an unknown key": lambda: jwt.encode({"alg": "RS256", "kid": "two"}, claims(), OTHER),
    "cut off": lambda: signed(claims())[:-10],
    "no token": lambda: "nothing",
    "not even text": lambda: "ü.ü.ü",
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_token_is_refused_that_is(door: Provider, name: str) -> None:
    with pytest.raises(LoginError) as refused:
        door.checked(WRONG[name](), NONCE)
    assert refused.value.code == "login-failed"
    assert WRONG[name]() not in str(refused.value)


GOOD = {
    "issuer": ISSUER, "authorization_endpoint": f"{ISSUER}/auth", "token_endpoint": f"{ISSUER}/token", "jwks_uri": f"{ISSUER}/jwks",
}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"issuer": "https://elsewhere.example"},
        {"token_endpoint": "http://login.example/token"},
        {"jwks_uri": None},
        {"jwks_uri": 7},
    ],
)
def test_a_document_of_somebody_else_is_refused(change: dict[str, Any]) -> None:
    assert checked_metadata(GOOD, ISSUER)
    with pytest.raises(Exception, match=r"provider|endpoint"):
        checked_metadata({**GOOD, **change}, ISSUER)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"preferred_username": "ada", "groups": ["a", 7, None]}, ("ada", "lead", frozenset({"vision"}))),
        ({"preferred_username": "ada", "groups": "a"}, ("ada", "lead", frozenset({"vision"}))),
        ({"preferred_username": "ada", "groups": {"a": 1}}, ("ada", "viewer", frozenset())),
        ({"preferred_username": "ada"}, ("ada", "viewer", frozenset())),
    ],
)
def test_groups_are_what_the_claim_says_however_it_is_written(
    said: dict[str, Any], found: tuple[str, str, frozenset[str]]
) -> None:
    from apportion.verbs.web_settings import Group

    web = Web(oidc=SETTINGS, login="oidc", groups={"a": Group("lead", frozenset({"vision"}))})
    person = person_of(said, web)
    assert (person.name, person.role, person.teams) == found


@pytest.mark.parametrize("name", [None, "", "  ", 7, ["ada"]])
def test_nobody_without_a_name_comes_in(name: object) -> None:
    with pytest.raises(LoginError, match="does not say who you are"):
        person_of({"preferred_username": name, "sub": "1"}, Web(oidc=SETTINGS, login="oidc"))


def test_a_missing_secret_is_said_when_the_server_starts(
    small: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("APPORTION_TEST_CLIENT", raising=False)
    made = with_web(small, tmp_path / "project", WEB.format(issuer="https://login.example", fast=FAST))
    with pytest.raises(Exception, match="no secret at env:APPORTION_TEST_CLIENT"):
        create_app(made.folder)
