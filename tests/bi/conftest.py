"""A small organisation with a closed month, in SQLite and, restored from its backup, in PostgreSQL."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import apportion
from apportion.books.open import restore
from apportion.verbs.project import Project
from apportion.verbs.views import views
from tests.books import postgres
from tests.web import world


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """September closed, October posted and disputed, with two budgets; read only."""
    project = world.make(tmp_path_factory.mktemp("small") / "project")
    apportion.set_budget(project, "vision", "9000", "2026-09")
    apportion.set_budget(project, "vision", "12000", "2026-10")
    apportion.set_budget(project, "speech/asr", "500", "2026-09")
    apportion.set_budget(project, "speech/asr", "0", "2026-10")
    views(project)
    return project


@pytest.fixture(scope="session")
def postgres_socket() -> Iterator[Path]:
    reason = postgres.cannot_start()
    if reason:
        pytest.skip(reason)
    with postgres.server() as folder:
        yield folder


@pytest.fixture(scope="session")
def served(small: Project, postgres_socket: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """The same organisation in PostgreSQL."""
    folder = tmp_path_factory.mktemp("served")
    backup = folder / "books.backup"
    apportion.backup(small, backup)
    url = postgres.new_database(postgres_socket, "served")
    own = f'\n[books]\nurl = "{url}"\nwarehouse = "warehouse"\n'
    (folder / "apportion.toml").write_text(world.SETTINGS + own, "utf-8")
    (folder / "policy.yaml").write_text(world.POLICY, "utf-8")
    project = apportion.open_project(folder)
    restore(backup, *project.places(), key=project.names_key()).close()
    views(project)
    yield project
    project.books.close()
