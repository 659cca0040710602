"""The tiny project, taken in once; and the places for books of tests/books."""

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
