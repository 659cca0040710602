"""A project is filled once; each test takes a copy, which may move."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import apportion
from apportion.verbs.project import Project
from tests.erasure import worlds


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled")
    worlds.fill(worlds.start(folder)).books.close()
    return folder


@pytest.fixture
def copy(filled: Path, tmp_path: Path) -> Callable[[str], Project]:
    def make(name: str) -> Project:
        shutil.copytree(filled, tmp_path / name)
        return apportion.open_project(tmp_path / name)

    return make


@pytest.fixture
def project(copy: Callable[[str], Project]) -> Project:
    return copy("project")
