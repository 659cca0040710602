"""The tiny project, taken in once; and the places for books of tests/books."""

import shutil
from pathlib import Path

import pytest

import apportion
from tests.books.conftest import books, kind, made_place, place, place_of, postgres_socket, templates
from tests.cli.tiny import write_tiny

__all__ = ["books", "kind", "made_place", "place", "place_of", "postgres_socket", "templates"]


@pytest.fixture(scope="session")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_tiny(tmp_path_factory.mktemp("quotas") / "tiny")
    apportion.ingest(apportion.open_project(folder))
    return folder


@pytest.fixture(scope="session")
def posted(ingested: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("posted") / "tiny"
    shutil.copytree(ingested, folder)
    project = apportion.open_project(folder)
    apportion.plan(project, "2026-10")
    apportion.apply(project, "2026-10")
    return folder
