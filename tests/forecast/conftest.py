"""Two posted months of a small organisation and a third that runs; read only, but for a budget that is set before anybody reads."""

import pytest

import apportion
from apportion.verbs.project import Project
from tests.web import world


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Project:
    made = world.make(tmp_path_factory.mktemp("forecast") / "project")
    apportion.set_budget(made, "vision", "1500", "2026-09", "as agreed")
    return made
