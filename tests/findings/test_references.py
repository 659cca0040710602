"""A source whose money is only compared with a bill may measure usage all the same: what it says of usage is a finding, of money a note."""

from dataclasses import replace
from pathlib import Path

import pytest

from apportion.errors import Problem
from apportion.verbs.findings import divide_problems
from apportion.verbs.project import open_project
from tests.books.rows import MONTH, cost_line, cost_lines, delivery, gpu_hours, scope
from tests.cli.tiny import write_tiny

CODES = ("unreconciled", "no-hours", "malformed-row", "list-prices")
COMPARED = (scope("OpenCost", role="reference"),)
LINES = cost_lines([cost_line("1", "10", source="opencost")])
USAGE = {"usage": gpu_hours(3, source="opencost")}


@pytest.mark.parametrize(("usage", "expected"), [(USAGE, {"no-hours", "malformed-row"}), ({}, set())])
def test_usage_counts_whatever_the_money_is_for(usage: dict, expected: set[str], tmp_path: Path) -> None:  # type: ignore[type-arg]
    project = open_project(write_tiny(tmp_path / "tiny"))
    told = tuple(Problem(f"answer.json:{place}", code, "look") for place, code in enumerate(CODES))
    given = delivery(MONTH, "opencost", cost_lines=LINES, **usage)
    project.books.ingest(replace(given, scopes=COMPARED, problems=told))
    findings, notes = ({one.problem.code for one in part} for part in divide_problems(project))
    assert findings == expected
    assert findings | notes == set(CODES)


def test_the_money_of_a_bill_counts(tmp_path: Path) -> None:
    project = open_project(write_tiny(tmp_path / "tiny"))
    told = (Problem("bill.csv:2", "invalid-tags", "look"),)
    given = delivery(MONTH, "cloud", cost_lines=cost_lines([cost_line("1", "10", source="cloud")]))
    project.books.ingest(replace(given, scopes=(scope("Cloud"),), problems=told))
    findings, notes = divide_problems(project)
    assert [one.problem.code for one in findings] == ["invalid-tags"]
    assert notes == []
