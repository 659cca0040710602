"""One small organisation, its books in a folder or in PostgreSQL, and servers on them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from apportion.verbs.project import Project
from tests.books.conftest import postgres_socket
from tests.web import world
from tests.web.pushing import STANZA

__all__ = ["postgres_socket"]


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Read only."""
    made = world.make(tmp_path_factory.mktemp("small") / "project")
    with (made.folder / "apportion.toml").open("a", encoding="utf-8") as file:
        file.write(f"{STANZA}\n[webhooks]\nallow_private = true\n")
    yield made
    made.books.close()


@pytest.fixture(scope="session")
def folder(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where books of one's own are, to write in."""
    return world.copied(small, tmp_path_factory.mktemp("served") / "project").folder
