"""One small organisation for all tests of metrics."""

from collections.abc import Iterator

import pytest

from apportion.verbs.project import Project
from tests.metrics.scraping import make
from tests.web.patience import patient_scrapes

__all__ = ["patient_scrapes"]


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """Read only: whoever writes takes `world.copied`."""
    made = make(tmp_path_factory.mktemp("small") / "project")
    yield made
    made.books.close()
