"""One project for all: nothing here writes to it."""

import pytest

from apportion.verbs.project import Project
from tests.cli.conftest import run as run  # noqa: PLC0414 - a fixture
from tests.facets import world


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return world.make(tmp_path_factory.mktemp("facets"))
