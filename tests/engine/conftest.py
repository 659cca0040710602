"""One DuckDB for the whole block, with nothing left in it after a test: every query looks through the tables that there are."""

from collections.abc import Iterator

import pytest

from apportion.engine.backend import Backend
from apportion.engine.backends.duckdb import connect_duckdb


@pytest.fixture(scope="session")
def connected() -> Backend:
    return connect_duckdb(threads=1)


@pytest.fixture
def backend(connected: Backend) -> Iterator[Backend]:
    yield connected
    connected.forget()
