"""One small organisation for all tests of the pages, a server in this process, and whoever asks."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from apportion.books.doors import Person
from apportion.verbs.project import Project
from apportion.web.app import create_app
from apportion.web.door.session import COOKIE
from tests.web import world
from tests.web.patience import patient_scrapes

__all__ = ["patient_scrapes"]

PEOPLE = {
    "admin": Person("root", "admin", None, "link"),
    "finance": Person("fin", "finance", None, "link"),
    "lead": Person("grace", "lead", frozenset({"speech"}), "link"),
    "viewer": Person("ada", "viewer", frozenset({"vision"}), "link"),
    "nobody": Person("new", "viewer", frozenset(), "link"),
}
OUR_HOST = "http://127.0.0.1"  # as a browser at this machine names it
Clients = Callable[[str], TestClient]


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Read only: whoever writes takes `world.copied`."""
    return world.make(tmp_path_factory.mktemp("small") / "project")


@pytest.fixture(scope="session")
def clients(small: Project) -> Clients:
    """Somebody of a role, logged in."""
    return clients_of(small.folder)


def clients_of(folder: Path) -> Clients:
    return clients_at(create_app(folder))


def clients_at(app: FastAPI) -> Clients:
    def client(role: str) -> TestClient:
        key = app.state.desk.books.doors.open_session(PEOPLE[role], 3600)
        return TestClient(app, OUR_HOST, cookies={COOKIE: key}, raise_server_exceptions=False)

    return client


@pytest.fixture
def entering(app: FastAPI) -> Clients:
    """Somebody of a role, logged in at the server of one module."""
    return clients_at(app)
