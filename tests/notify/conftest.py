"""Projects that tell a mail server and a web server of loopback."""

from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import pytest

import apportion
from apportion.books.hooks import News
from apportion.render.notify.samples import SAID
from apportion.verbs.notify import enrol
from apportion.verbs.project import Project
from tests.hooks.conftest import receiver, small
from tests.notify.mailbox import Mailbox, receiving
from tests.web import world

__all__ = ["receiver", "small"]  # fixtures

TODAY = date(2026, 11, 16)
MAIL = """
[[notify]]
name = "mail"
kind = "email"
host = "127.0.0.1"
port = PORT
tls = "none"
from = "costs@example.com"
to = ["finance@example.com", "ops@example.com"]
"""
BY_TEAM = MAIL.replace(
    'to = ["finance@example.com", "ops@example.com"]',
    'to = {vision = "vision@example.com", zebra = ["zebra@example.com"]}',
)
SLACK = '\n[[notify]]\nname = "chat"\nkind = "slack"\nurl = "env:CHAT_URL"\n'
WIRE = '\n[[notify]]\nname = "wire"\nkind = "webhook"\nurl = "env:WIRE_URL"\nsecret = "env:WIRE_SECRET"\n'

Made = Callable[..., Project]


@pytest.fixture
def mailbox() -> Iterator[Mailbox]:
    with receiving(Mailbox()) as box:
        yield box


@pytest.fixture
def made(small: Project, tmp_path: Path, mailbox: Mailbox) -> Made:
    """A project with these stanzas; `PORT` in them is the mail server's."""

    def make(stanzas: str, folder: str = "mine") -> Project:
        path = tmp_path / folder
        if not path.exists():
            world.copied(small, path)
        settings = path / "apportion.toml"
        text = settings.read_text("utf-8").partition("\n# told\n")[0]
        told = stanzas.replace("PORT", str(mailbox.port))
        settings.write_text(f"{text}\n# told\n[webhooks]\nallow_private = true\n{told}", "utf-8")
        return apportion.open_project(path)

    return make


def news(about: str, team: str = "") -> News:
    return News("anomaly.found", about, {**SAID["anomaly.found"], "team": team, "text": about}, team=team)


def told(project: Project, *about: str) -> int:
    """Some news, and the second at which they were made."""
    enrol(project)
    project.books.hooks.tell([news(one) for one in about])
    return project.books.hooks.tellings()[-1].made_s
