"""One restless world for all tests: as it was while October ran, and with October posted. Read only: whoever writes takes a copy."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from apportion.reports.anomaly.found import Anomaly
from apportion.verbs.anomalies import anomalies
from apportion.verbs.project import Project
from tests.anomalies import world

Both = tuple[Project, Project]


@pytest.fixture(scope="session")
def both(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return world.make(tmp_path_factory.mktemp("restless") / "project")


@pytest.fixture(scope="session")
def posted(both: Both) -> Project:
    return both[1]


@pytest.fixture(scope="session")
def found(posted: Project) -> Sequence[Anomaly]:
    return anomalies(posted, world.TODAY)


@pytest.fixture
def own(posted: Project, tmp_path: Path) -> Project:
    return world.copied(posted, tmp_path / "own")
