"""A pytest plug-in: writes what happened to the file named by APPORTION_TEST_REPORT, for tests/run.py to read.

Whatever a test says through pytest's own `record_property(name, value)` is kept too and printed under its block:
how many points a sweep hit, what a generator's worlds were like.
"""

import json
import os
from pathlib import Path
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

import pytest


class Report:
    """Counts of one pytest run. A test counts once, however many of its phases fail."""

    def __init__(self) -> None:
        self.passed: set[str] = set()
        self.failed: set[str] = set()
        self.skipped: dict[str, str] = {}
        self.properties: list[tuple[str, str]] = []
        self.deselected = 0

    def pytest_deselected(self, items: list[pytest.Item]) -> None:
        self.deselected += len(items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.skipped:
            self.skipped[report.nodeid] = reason_of(report)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.skipped:
            self.skipped[report.nodeid] = reason_of(report)
        elif report.when == "call":
            self.passed.add(report.nodeid)
        if report.when == "teardown":
            self.properties += [(name, str(value)) for name, value in report.user_properties]

    def pytest_sessionfinish(self) -> None:
        target = os.environ.get("APPORTION_TEST_REPORT")
        if target:
            summary = {
                "passed": len(self.passed - self.failed),
                "failed": len(self.failed),
                "skipped": self.skipped,
                "properties": self.properties,
                "deselected": self.deselected,
                "cpu_s": sum(used.ru_utime + used.ru_stime for used in map(getrusage, (RUSAGE_SELF, RUSAGE_CHILDREN))),
            }
            Path(target).write_text(json.dumps(summary), encoding="utf-8")


def reason_of(report: pytest.CollectReport | pytest.TestReport) -> str:
    """An expected failure needs a listed reason just as a skip does."""
    expected = getattr(report, "wasxfail", None)
    if expected is not None:
        return f"expected to fail: {expected}"
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return reason.removeprefix("Skipped: ")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Report(), "apportion-report")
