"""`check` names the boards of which more was asked than there is."""

from pathlib import Path

import pytest

import apportion
from tests.cli.tiny import write_tiny


def findings(folder: Path) -> list[str]:
    project = apportion.open_project(folder)
    apportion.ingest(project)
    return [finding.text for finding in apportion.check(project, "2026-10").checks if finding.what == "capacity"]


@pytest.mark.parametrize(
    ("gpus", "ends", "said"),
    [
        ("4", "12", []),
        ("8", "12", []),
        ("12", "12", ["n1: up to 150 % of its GPUs were asked for, more than there are in 12 hours"]),
        ("17/2", "01", ["n1: up to 106 % of its GPUs were asked for, more than there are in 1 hour"]),
    ],
)
def test_more_than_there_is(gpus: str, ends: str, said: list[str], tmp_path: Path) -> None:
    """j1 of the tiny project holds 4 of the node's 8 GPUs alone, from midnight until noon."""
    folder = write_tiny(tmp_path)
    jobs = folder / "usage/jobs.csv"
    j1 = "j1,j1,vision,ann,n1,2026-10-01T00:00:00Z,2026-10-01T{}:00:00Z,{},COMPLETED"
    text = jobs.read_text("utf-8")
    assert j1.format("12", "4") in text
    jobs.write_text(text.replace(j1.format("12", "4"), j1.format(ends, gpus)), "utf-8")
    assert findings(folder) == said


def test_without_capacity_nothing_is_too_much(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path)
    nodes = folder / "usage/nodes.csv"
    nodes.write_text(nodes.read_text("utf-8").replace("n1,gpu", "n2,gpu"), "utf-8")
    assert findings(folder) == []
