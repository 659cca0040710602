"""The three stores, started once."""

from collections.abc import Iterator

import pytest

from tests.clouds import Cloud, azurite, gcs_server, s3_server

STORES = {"s3": s3_server, "gs": gcs_server, "az": azurite}


@pytest.fixture(scope="session")
def s3() -> Iterator[Cloud]:
    with s3_server() as cloud:
        yield cloud


@pytest.fixture(scope="session")
def gs() -> Iterator[Cloud]:
    with gcs_server() as cloud:
        yield cloud


@pytest.fixture(scope="session")
def az() -> Iterator[Cloud]:
    with azurite() as cloud:
        yield cloud


@pytest.fixture(params=STORES)
def cloud(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Cloud:
    """Each of them in turn, with its secrets set."""
    found: Cloud = request.getfixturevalue(request.param)
    for name, value in found.environment.items():
        monkeypatch.setenv(name, value)
    return found
