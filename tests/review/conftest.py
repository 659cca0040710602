"""Both worlds, posted once and read only: who writes takes a copy."""

import shutil
from pathlib import Path

import pytest

import apportion
from apportion.reports.review.review import Review
from apportion.verbs.project import Project
from tests.cli.conftest import run
from tests.review import world

__all__ = ["run"]


def posted(folder: Path, *, is_planted: bool) -> Path:
    project = apportion.open_project(world.write(folder, is_planted=is_planted))
    apportion.ingest(project)
    for month in world.MONTHS:
        apportion.plan(project, month)
        apportion.apply(project, month)
    return folder


@pytest.fixture(scope="session")
def planted_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return posted(tmp_path_factory.mktemp("planted"), is_planted=True)


@pytest.fixture(scope="session")
def planted(planted_once: Path) -> Project:
    return apportion.open_project(planted_once)


@pytest.fixture(scope="session")
def made(planted: Project) -> Review:
    return apportion.review(planted, world.NOW)


@pytest.fixture
def own(planted_once: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(planted_once, tmp_path / "own"))
