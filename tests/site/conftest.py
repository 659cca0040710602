from pathlib import Path

import pytest

from tests.site import sites


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real site, built once, without a warning."""
    folder = tmp_path_factory.mktemp("site") / "built"
    done = sites.build(sites.ROOT, folder)
    assert (done.returncode, "WARNING" in done.stdout) == (0, False), done.stdout
    return folder
