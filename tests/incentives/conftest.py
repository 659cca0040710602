"""Two small worlds: one of hours that cost differently, one whose use was measured."""

import shutil
from pathlib import Path

import pytest

import apportion
from apportion.verbs.project import Project
from tests.cli.conftest import run
from tests.estimate.conftest import own, small, small_once
from tests.incentives.world import write_measured

__all__ = ["own", "run", "small", "small_once"]


@pytest.fixture(scope="session")
def measured_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return posted(write_measured(tmp_path_factory.mktemp("measured")))


@pytest.fixture(scope="session")
def measured(measured_once: Path) -> Project:
    """To read."""
    return apportion.open_project(measured_once)


def posted(folder: Path) -> Path:
    project = apportion.open_project(folder)
    apportion.ingest(project)
    for month in ("2026-09", "2026-10"):
        apportion.plan(project, month)
        apportion.apply(project, month)
    return folder


@pytest.fixture
def copied(measured_once: Path, tmp_path: Path) -> Path:
    """To change."""
    return Path(shutil.copytree(measured_once, tmp_path / "copied"))
