"""Disputes and credits, of small projects that are made once and copied, and of books in both databases."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import apportion
from apportion.verbs.project import Project
from tests.books.conftest import (  # noqa: F401 - fixtures of the books
    books,
    kind,
    made_place,
    place,
    place_of,
    postgres_socket,
    templates,
)
from tests.cli.tiny import write_tiny
from tests.disputes.small import bill, post, started


def two_bills(folder: Path) -> None:
    """Vision owes 60 of one bill (45 compute, 15 storage) and 30.004 of another, speech 40."""
    found = started(folder)
    bill(folder, "2026-09", [("vision", "Compute", "45"), ("vision", "Storage", "15"), ("speech", "Compute", "40")])
    bill(folder, "2026-09", [("vision", "Compute", "30.004")], "Cirrus")
    post(found, "2026-09")
    found.books.close()


def tiny(folder: Path) -> None:
    """Vision owes 60.00 for j1, speech 20.00 and 40.00 for two attempts of j2, nobody 2.50; support of 30.00 follows."""
    found = apportion.open_project(write_tiny(folder))
    post(found, "2026-10")
    found.books.close()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Callable[[Path], None]], Path]:
    """A project's folder, filled once."""
    known: dict[str, Path] = {}

    def folder_of(fill: Callable[[Path], None]) -> Path:
        name = fill.__name__
        if name not in known:
            known[name] = tmp_path_factory.mktemp(name)
            fill(known[name])
        return known[name]

    return folder_of


@pytest.fixture
def project(made: Callable[[Callable[[Path], None]], Path], tmp_path: Path) -> Project:
    return apportion.open_project(shutil.copytree(made(two_bills), tmp_path / "project"))


@pytest.fixture
def jobs(made: Callable[[Callable[[Path], None]], Path], tmp_path: Path) -> Project:
    return apportion.open_project(shutil.copytree(made(tiny), tmp_path / "jobs"))
