"""The small world, posted once."""

import shutil
from pathlib import Path

import pytest

import apportion
from apportion.verbs.project import Project
from tests.cli.conftest import run
from tests.estimate.world import write_small

__all__ = ["run"]


@pytest.fixture(scope="session")
def small_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = write_small(tmp_path_factory.mktemp("small"))
    project = apportion.open_project(folder)
    apportion.ingest(project)
    for month in ("2026-09", "2026-10"):
        apportion.plan(project, month)
        apportion.apply(project, month)
    return folder


@pytest.fixture(scope="session")
def small(small_once: Path) -> Project:
    """To read."""
    return apportion.open_project(small_once)


@pytest.fixture
def own(small_once: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(small_once, tmp_path / "own"))
