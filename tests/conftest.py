"""What all tests share: how long to search, and how Hypothesis behaves.

`make test` keeps every block under three minutes. `make test-long` sets APPORTION_LONG: tests marked `long` join in,
and those that take `long_run` look further.
"""

import os
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings

from tests import processes

LONG = bool(os.environ.get("APPORTION_LONG"))

# No deadlines: a busy machine is not a failure. The short search is the same every time; the long one looks elsewhere each time.
settings.register_profile(
    "short", deadline=None, derandomize=True, max_examples=25, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("long", settings.get_profile("short"), derandomize=False, max_examples=10_000)
settings.load_profile("long" if LONG else "short")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew; read the diff")


@pytest.fixture(scope="session")
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def long_run() -> bool:
    return LONG


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if LONG:
        return
    kept = [item for item in items if not item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = kept


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    processes.forget()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that fails shows what its processes said last."""
    report = yield
    if report.failed:
        report.sections += processes.sections()
    return report
