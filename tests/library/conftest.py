"""One small organisation, for all that the library answers of it."""

import pytest

from apportion.verbs.project import Project
from tests.web import world


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Read only."""
    return world.make(tmp_path_factory.mktemp("library") / "project")
