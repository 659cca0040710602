"""A scrape of a server in this process waits for its figures, however busy the machine is."""

from collections.abc import Iterator

import pytest

from apportion.web import metrics


@pytest.fixture(autouse=True, scope="session")
def patient_scrapes() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metrics, "PATIENCE_S", 120)
        yield
