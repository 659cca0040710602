"""A proxy that says who somebody is: believed from its own address alone."""

from collections.abc import Callable

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from starlette.requests import Request

from apportion.verbs.project import Project
from apportion.verbs.web_settings import Proxy
from apportion.web.app import create_app
from apportion.web.door.proxied import client_address
from tests.web import world
from tests.web.conftest import OUR_HOST
from tests.web.doors import FAST, with_web

WEB = f"""\
login = "proxy"
{FAST}

[web.proxy]
trusted = ["192.0.2.0/28", "2001:db8::1"]
user_header = "X-Who"
groups_header = "X-Groups"

[web.groups]
vision = {{ role = "viewer", teams = ["vision"] }}
money = {{ role = "finance" }}
"""
Asking = Callable[..., TestClient]


@pytest.fixture(scope="module")
def app(small: Project, tmp_path_factory: pytest.TempPathFactory) -> FastAPI:
    return create_app(with_web(small, tmp_path_factory.mktemp("proxy") / "project", WEB).folder)


@pytest.fixture
def asking(app: FastAPI) -> Asking:
    def client(peer: str = "192.0.2.7", **headers: str) -> TestClient:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return TestClient(app, OUR_HOST, headers=sent, client=(peer, 4000), raise_server_exceptions=False)

    return client


@pytest.mark.parametrize("peer", ["192.0.2.7", "2001:db8::1", "::ffff:192.0.2.7"])
def test_a_proxy_on_the_list_lets_people_in(asking: Asking, peer: str) -> None:
    text = asking(peer, X_Who="ada", X_Groups="vision, unknown").get("/?period=2026-10").text
    assert "ada <span" in text
    assert "vision" in text
    assert not [word for word in world.SECRET if word in text]


@pytest.mark.parametrize("peer", ["192.0.2.16", "127.0.0.1", "2001:db8::2", "testclient", ""])
def test_the_same_headers_from_anybody_else_are_nothing(asking: Asking, peer: str) -> None:
    client = asking(peer, X_Who="ada", X_Groups="money", X_Forwarded_For="192.0.2.7")
    answer = client.get("/")
    assert (answer.status_code, answer.url.path) == (401, "/login")
    assert client.get("/overview.json").status_code == 401
    assert not client.cookies


def test_other_headers_and_no_name_let_nobody_in(asking: Asking) -> None:
    for headers in ({}, {"X_Who": " "}, {"X_Forwarded_User": "ada"}, {"X_Groups": "money"}):
        assert asking(**headers).get("/").status_code == 401


def test_a_name_that_is_said_twice_is_none(asking: Asking) -> None:
    answer = asking().get("/login", headers=[("X-Who", "ada"), ("X-Who", "root")])
    assert answer.status_code == 401


def test_a_session_ends_when_the_proxy_says_something_else(asking: Asking, app: FastAPI) -> None:
    client = asking(X_Who="fin", X_Groups="money")
    assert client.get("/overview.json").status_code == 401  # a program has to come with a session or a token
    client.get("/")
    assert client.get("/overview.json").status_code == 200
    key = client.cookies["apportion"]
    for headers in ({"X_Who": "ada", "X_Groups": "money"}, {"X_Who": "fin", "X_Groups": "vision"}, {}):
        other = asking(**headers)
        other.cookies.set("apportion", key)
        assert other.get("/overview.json").status_code == 401
    outside = asking("198.51.100.1", X_Who="fin", X_Groups="money")
    outside.cookies.set("apportion", key)
    assert outside.get("/overview.json").status_code == 401


def test_a_link_is_no_way_in_here(asking: Asking, app: FastAPI) -> None:
    from apportion.web.door.link import new_link

    link = new_link(app.state.desk.books.doors, "")
    assert asking().get(link).status_code == 401


@pytest.mark.parametrize(
    ("peer", "said", "found"),
    [
        ("198.51.100.1", "203.0.113.9", "198.51.100.1"),
        ("192.0.2.7", "203.0.113.9", "203.0.113.9"),
        ("192.0.2.7", "10.9.9.9, 203.0.113.9", "203.0.113.9"),
        ("192.0.2.7", "10.9.9.9, 203.0.113.9, 192.0.2.3", "203.0.113.9"),
        ("192.0.2.7", "", "192.0.2.7"),
        ("192.0.2.7", "nonsense", "nonsense"),
    ],
)
def test_the_limits_count_the_nearest_address_that_is_no_proxy_of_ours(peer: str, said: str, found: str) -> None:
    from ipaddress import ip_network

    headers = [(b"x-forwarded-for", said.encode())] if said else []
    request = Request({"type": "http", "client": (peer, 1), "headers": headers})
    assert client_address(request, Proxy(trusted=(ip_network("192.0.2.0/28"),))) == found


def test_one_network_of_ipv6_is_one_caller() -> None:
    def of(peer: str) -> str:
        return client_address(Request({"type": "http", "client": (peer, 1), "headers": []}), Proxy())

    assert of("2001:db8::1") == of("2001:db8::ffff:1") != of("2001:db8:1::1")
