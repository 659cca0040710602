"""Projects that tell a mail server and a web server of loopback."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import apportion
from apportion.verbs.project import Project
from tests.hooks.conftest import receiver, small
from tests.notify.mailbox import Mailbox, receiving
from tests.web import world

__all__ = ["receiver", "small"]  # fixtures

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
