"""Two posted months of a small organisation, one of them closed; read only: who writes takes a copy."""

import pytest

from apportion.verbs.project import Project
from tests.web import world


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return world.make(tmp_path_factory.mktemp("backtest") / "project")
