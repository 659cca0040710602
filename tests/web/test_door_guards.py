"""What stands in front of every request and around every answer."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from apportion.errors import ProjectError
from apportion.sources.settings import Stanza
from apportion.verbs.project import Project
from apportion.verbs.web_settings import Oidc, Proxy, Web
from apportion.web.app import create_app
from apportion.web.door.buckets import Buckets
from apportion.web.door.session import COOKIE
from apportion.web.guards import HEADERS
from apportion.web.serve import check_place
from tests.web.conftest import OUR_HOST, PEOPLE, Clients
from tests.web.doors import with_web

HTTPS = """\
address = "https://costs.example"
login = "proxy"
requests_per_minute = 1000000

[web.proxy]
trusted = ["192.0.2.1"]
"""


@pytest.fixture(scope="module")
def app(small: Project, tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    made = create_app(
        with_web(
            small, tmp_path_factory.mktemp("guards") / "project", "requests_per_minute = 1000000\nbody_bytes = 4096"
        ).folder
    )

    @made.get("/broken")
    @made.get("/api/v1/broken")
    def broken() -> None:
        raise RuntimeError("the password is swordfish")

    @made.post("/api/v1/echo")
    async def echo(body: dict[str, str]) -> dict[str, str]:
        return body

    return made


@pytest.fixture
def client(app: FastAPI) -> Iterator[TestClient]:
    key = app.state.desk.books.doors.open_session(PEOPLE["admin"], 3600)
    with TestClient(
        app, OUR_HOST, cookies={COOKIE: key}, raise_server_exceptions=False, follow_redirects=False
    ) as made:
        yield made


PATHS = (
    "/",
    "/overview.json",
    "/static/apportion.css",
    "/static/none.css",
    "/nowhere",
    "/broken",
    "/login",
    "/api/v1/reports/showback",
    "/api/v1/none",
)


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_has_the_headers(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    assert answer.headers["cache-control"] == (
        "public, max-age=3600" if path.endswith("apportion.css") else "private, no-store"
    )
    assert "strict-transport-security" not in answer.headers  # not on http


def test_refusals_have_them_too(client: TestClient) -> None:
    for answer in (client.get("/", headers={"Host": "elsewhere.example"}), client.post("/logout", content=b"x" * 5000)):
        assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS


@pytest.mark.parametrize(
    ("path", "kind"), [("/broken", "text/html; charset=utf-8"), ("/api/v1/broken", "application/problem+json")]
)
def test_a_defect_shows_a_number_and_no_word_of_what_it_was(
    client: TestClient, caplog: pytest.LogCaptureFixture, path: str, kind: str
) -> None:
    with caplog.at_level(logging.ERROR, "apportion.web"):
        answer = client.get(path)
    assert (answer.status_code, answer.headers["content-type"]) == (500, kind)
    assert "swordfish" not in answer.text + caplog.text
    assert "Traceback" not in answer.text
    assert "RuntimeError" not in answer.text
    assert "RuntimeError" in caplog.text
    number = caplog.records[-1].args[0]  # type: ignore[index]
    assert str(number) in answer.text


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("127.0.0.1", 200), ("127.0.0.1:8765", 200), ("localhost:1", 200), ("LOCALHOST", 200), ("[::1]:8765", 200),
        ("elsewhere.example", 400), ("127.0.0.1.elsewhere.example", 400), ("localhost.elsewhere.example", 400), ("costs.example", 400),
        ("", 400), ("[::1].elsewhere.example]", 400), ("10.0.0.1", 400),
    ],
)  # fmt: skip
def test_only_our_own_names_are_answered(client: TestClient, host: str, status: int) -> None:
    assert client.get("/", headers={"Host": host}).status_code == status


def form_token(client: TestClient) -> str:
    return client.get("/admin/tokens").text.split('name="csrf" value="')[1].split('"')[0]


OWN = {"Origin": OUR_HOST}
FOREIGN = [
    {"Origin": "https://elsewhere.example"},
    {"Origin": "null"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Origin": "http://127.0.0.1:1"},
]


@pytest.mark.parametrize("headers", FOREIGN)
def test_a_form_from_another_site_does_nothing_even_with_the_token(client: TestClient, headers: dict[str, str]) -> None:
    data = {"csrf": form_token(client), "label": "x", "role": "admin", "deeds": "read", "days": "1"}
    before = len(client.app.state.desk.books.tokens.listed())  # type: ignore[attr-defined]
    assert client.post("/tokens", data=data, headers=headers).status_code == 403
    assert len(client.app.state.desk.books.tokens.listed()) == before  # type: ignore[attr-defined]


@pytest.mark.parametrize("token", ["", "guessed", "ü"])
def test_a_form_without_its_token_does_nothing_even_from_here(client: TestClient, token: str) -> None:
    data = {"csrf": token, "label": "x", "role": "admin", "deeds": "read", "days": "1"}
    assert client.post("/tokens", data=data, headers=OWN).status_code == 403


def test_the_api_asks_a_session_for_its_token_or_its_origin(client: TestClient) -> None:
    csrf = form_token(client)
    assert client.post("/api/v1/echo", json={}).status_code == 403
    assert client.post("/api/v1/echo", json={}, headers={"X-CSRF-Token": "guessed"}).status_code == 403
    assert client.post("/api/v1/echo", json={}, headers={"X-CSRF-Token": csrf}).status_code == 200
    assert client.post("/api/v1/echo", json={}, headers=OWN).status_code == 200
    assert client.post("/api/v1/echo", json={}, headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200
    assert client.post("/api/v1/echo", json={}, headers={"X-CSRF-Token": csrf, **FOREIGN[0]}).status_code == 403


def chunks(size: int) -> Iterator[bytes]:
    yield b'{"a": "'
    for _ in range(size // 1024):
        yield b"x" * 1024
    yield b'"}'


def test_a_body_that_is_too_large_is_refused_also_in_chunks(client: TestClient) -> None:
    stated = client.post("/api/v1/echo", content=b"x" * 5000, headers=OWN)
    assert (stated.status_code, stated.json()["code"]) == (413, "too-large")
    kind = {"Content-Type": "application/json", **OWN}
    assert client.post("/api/v1/echo", content=chunks(2048), headers=kind).status_code == 200
    streamed = client.post("/api/v1/echo", content=chunks(9000), headers=kind)
    assert (streamed.status_code, streamed.headers["content-type"]) == (413, "application/problem+json")
    form = client.post(
        "/tokens", content=chunks(9000), headers={"Content-Type": "application/x-www-form-urlencoded", **OWN}
    )
    assert form.status_code == 413


def test_a_caller_who_is_too_fast_waits_and_others_do_not(small: Project, tmp_path: Path) -> None:
    app = create_app(with_web(small, tmp_path / "project", "requests_per_minute = 2").folder)
    with TestClient(app, OUR_HOST, follow_redirects=False) as somebody:
        answers = [somebody.get("/api/v1/none") for _ in range(3)]
        assert [one.status_code for one in answers] == [404, 404, 429]
        last = answers[-1]
        assert last.headers["content-type"] == "application/problem+json"
        assert 1 <= int(last.headers["retry-after"]) <= 30
        assert last.json()["code"] == "too-fast"
        assert somebody.get("/static/apportion.css").status_code == 200
        key = app.state.desk.books.doors.open_session(PEOPLE["viewer"], 3600)
        app.state.door.person(key)
        other = TestClient(app, OUR_HOST, cookies={COOKIE: key})
        assert other.get("/api/v1/none").status_code == 404
        made_up = [TestClient(app, OUR_HOST, cookies={COOKIE: f"made-up-{n}"}).get("/api/v1/none") for n in range(2)]
        assert [one.status_code for one in made_up] == [429, 429]  # a key that nobody has is no caller


def test_buckets_fill_up_again() -> None:
    buckets = Buckets(60)
    assert [buckets.take("a", 0) for _ in range(60)] == [0] * 60
    assert buckets.take("a", 0) == 1
    assert buckets.take("b", 0) == 0
    assert buckets.take("a", 1) == 0
    assert buckets.take("a", 1) == 1
    assert [buckets.take("a", 10_000) for _ in range(61)].count(0) == 60


def test_whoever_tries_many_links_waits(small: Project, tmp_path: Path) -> None:
    app = create_app(with_web(small, tmp_path / "project", "requests_per_minute = 1000000").folder)
    app.state.door.attempts = Buckets(2)
    with TestClient(app, OUR_HOST, follow_redirects=False) as guesser:
        answers = [guesser.get(f"/login?link=guess{n}") for n in range(3)]
    assert [one.status_code for one in answers] == [401, 401, 429]
    assert int(answers[-1].headers["retry-after"]) <= 30


def test_on_https_cookies_are_bound_to_the_host_and_browsers_stay(small: Project, tmp_path: Path) -> None:
    app = create_app(with_web(small, tmp_path / "project", HTTPS).folder)
    with TestClient(app, "https://costs.example", client=("192.0.2.1", 5), follow_redirects=False) as client:
        answer = client.get("/login?to=/pools", headers={"X-Forwarded-User": "ada"})
        assert answer.headers["strict-transport-security"] == "max-age=31536000"
        cookie = answer.headers["set-cookie"]
        assert cookie.startswith("__Host-apportion=")
        assert {part.strip().lower() for part in cookie.split(";")[1:]} >= {
            "httponly",
            "secure",
            "path=/",
            "samesite=lax",
        }
        assert "domain" not in cookie.lower()
        assert client.get("/", headers={"Host": "elsewhere.example"}).status_code == 400
    behind = TestClient(
        app, "http://costs.example", client=("192.0.2.1", 5), follow_redirects=False
    )  # the proxy does TLS
    assert "secure" in behind.get("/login", headers={"X-Forwarded-User": "ada"}).headers["set-cookie"].lower()


OIDC = Oidc("https://login.example", "apportion", Stanza({}, ""))


@pytest.mark.parametrize(
    ("web", "host", "code"),
    [
        (Web(), "127.0.0.1", ""),
        (Web(), "localhost", ""),
        (Web(), "0.0.0.0", "no-login"),
        (Web(), "::", "no-login"),
        (Web(address="https://costs.example"), "127.0.0.1", "no-login"),
        (Web(login="oidc", oidc=OIDC), "127.0.0.1", ""),
        (Web(login="oidc", oidc=OIDC), "0.0.0.0", "no-address"),
        (Web(login="oidc", oidc=OIDC, address="https://costs.example"), "0.0.0.0", ""),
        (Web(login="proxy", proxy=Proxy(), address="https://costs.example"), "10.0.0.1", ""),
    ],
)
def test_where_others_can_come_they_must_be_able_to_log_in(web: Web, host: str, code: str) -> None:
    if not code:
        check_place(web, host)
        return
    with pytest.raises(ProjectError) as refused:
        check_place(web, host)
    assert refused.value.code == code


def test_logout_counts_at_once(clients: Clients) -> None:
    client = clients("admin")
    csrf = form_token(client)
    assert client.get("/overview.json").status_code == 200
    assert client.post("/logout", data={"csrf": csrf}, follow_redirects=False).headers["location"] == "/logout/done"
    client.cookies.clear()
    assert client.get("/overview.json").status_code == 401
