"""The tiny project, taken in once; and the places for books of tests/books."""

import shutil
from pathlib import Path

import pytest

import apportion
from apportion.verbs.project import Project
from apportion.verbs.standing import standing
from tests.books.conftest import books, kind, made_place, place, place_of, postgres_socket, templates
from tests.cli.tiny import write_tiny
from tests.quotas.world import SPEECH, TODAY, VISION, YEAR, opened

__all__ = ["books", "kind", "made_place", "place", "place_of", "postgres_socket", "templates"]


@pytest.fixture(scope="session")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_tiny(tmp_path_factory.mktemp("quotas") / "tiny")
    apportion.ingest(apportion.open_project(folder))
    return folder


@pytest.fixture(scope="session")
def counted(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With quotas of two teams, and what was used of them on TODAY kept beside it: tests do not count it again."""
    project = opened(ingested, tmp_path_factory.mktemp("counted") / "tiny", VISION, SPEECH, YEAR)
    standing(project, TODAY)
    return project.folder


@pytest.fixture
def project(counted: Path, tmp_path: Path) -> Project:
    shutil.copytree(counted, tmp_path / "p")
    return apportion.open_project(tmp_path / "p")


@pytest.fixture(scope="session")
def posted(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("posted") / "tiny"
    shutil.copytree(ingested, folder)
    project = apportion.open_project(folder)
    apportion.plan(project, "2026-10")
    apportion.apply(project, "2026-10")
    return folder
