"""The organisation of the statements' tests, with rules to come: in October and November statements tell of both.

September is closed, and its cards were restated afterwards, so that October holds a correction.
"""

import shutil
from pathlib import Path

import pytest

import apportion
from apportion.verbs.project import Project
from tests.sources import making
from tests.stating.world import POLICY, new_project, post, write_bill

SHARED = "method: fixed, shares: {vision: 50, speech: 25, audio: 25}"
NEXT = POLICY.replace("2026-01-01", "2026-12-01").replace("meter: gpu, method: proportional", SHARED)
PREVIEW = "preview: {policy: next.yaml, from: 2026-10, until: 2026-11}\n"


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Read only: who writes takes a copy."""
    folder = tmp_path_factory.mktemp("preview") / "project"
    project = new_project(folder)
    post(project, "2026-09")
    assert apportion.close(project, "2026-09", override="small").closed
    making.put(folder / "policy.yaml", POLICY + PREVIEW)
    making.put(folder / "next.yaml", NEXT)
    project = apportion.open_project(folder)
    post(project, "2026-10")
    write_bill(folder, "2026-09", "110")
    post(project, "2026-09")
    return folder


@pytest.fixture(scope="session")
def project(kept: Path) -> Project:
    return apportion.open_project(kept)


@pytest.fixture
def own(kept: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(kept, tmp_path / "project"))
