"""A server of ours that is told, and projects that tell it."""

import hashlib
import hmac
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

import apportion
from apportion.verbs.project import Project
from tests.loopback import listening
from tests.web import world


@dataclass
class Receiver:
    """What came, in its order; `answers` are the next status codes, 200 after them."""

    address: str = ""
    answers: list[int] = field(default_factory=list)
    came: list[tuple[dict[str, str], bytes]] = field(default_factory=list)

    @property
    def bodies(self) -> list[Any]:
        return [json.loads(body) for _, body in self.came]


def is_signed(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """As a receiver checks it, with nothing of ours."""
    parts = dict(part.split("=", 1) for part in headers["apportion-signature"].split(","))
    expected = hmac.new(secret.encode(), parts["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(parts["v1"], expected)


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    found = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            found.came.append(({name.lower(): value for name, value in self.headers.items()}, body))
            status = found.answers.pop(0) if found.answers else 200
            self.send_response(status)
            self.send_header("Location", "http://169.254.169.254/latest")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with listening(Handler) as address:
        found.address = address
        yield found


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return world.make(tmp_path_factory.mktemp("small") / "project")


@pytest.fixture
def project(small: Project, tmp_path: Path) -> Project:
    """To write in; it may tell servers of this machine."""
    folder = world.copied(small, tmp_path / "mine").folder
    with (folder / "apportion.toml").open("a", encoding="utf-8") as file:
        file.write("\n[webhooks]\nallow_private = true\n")
    return apportion.open_project(folder)
