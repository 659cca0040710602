"""One small world, exported once; tests that change the books make their own."""

from pathlib import Path

import pytest

from apportion.verbs.focus import Form, export_focus
from apportion.verbs.project import Project
from tests.focus_export import rules, world


@pytest.fixture(scope="session")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """September closed; October open, with corrections of September and transfers in it."""
    project = world.make(tmp_path_factory.mktemp("project"))
    world.with_corrections(project)
    return project


@pytest.fixture(scope="session")
def folder(settled: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """October as CSV and as Parquet."""
    made = tmp_path_factory.mktemp("focus")
    for kind in ("csv", "parquet"):
        export_focus(settled, "2026-10", made, Form(kind))
    return made / "2026-10"


@pytest.fixture(scope="session")
def export(settled: Project, folder: Path) -> rules.Export:
    return rules.read(folder, world.ledger(settled, "2026-10"))
