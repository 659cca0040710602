"""Prices, adjustments and facets read labels of work: where only nodes have a label, the rule that asks for it is told with its place."""

from pathlib import Path

import pytest

from apportion.model.findings import JudgedFinding
from apportion.verbs.ingest import ingest
from apportion.verbs.plan import plan
from apportion.verbs.project import open_project
from tests.cli.tiny import edit
from tests.findings.conftest import MONTH

METHOD = "    method: capacity_rate\n    idle: central\n"
CARD = "    method: rate_card\n    prices:\n      - {{when: {}, price: 3}}\n      - {{price: 2}}\n"


def told(folder: Path) -> list[JudgedFinding]:
    project = open_project(folder)
    ingest(project)
    return [one for one in plan(project, MONTH).findings if one.finding.code == "label-of-nodes"]


def test_a_price_for_a_node_is_told_with_its_line_and_stops(sound: Path) -> None:
    edit(sound / "policy.yaml", METHOD, CARD.format("{node: n1}"))
    (found,) = told(sound)
    lines = (sound / "policy.yaml").read_text("utf-8").splitlines()
    line = next(number for number, text in enumerate(lines, 1) if "{node: n1}" in text)
    column = lines[line - 1].index("node:") + 1
    assert found.finding.message.startswith(
        f"policy.yaml:{line}:{column} asks for 'node', which nodes say and no work does"
    )
    assert (found.finding.pool, found.stops) == ("gpu", True)


def test_a_price_for_what_work_says_is_none(sound: Path) -> None:
    """The log labels its work with the node, too."""
    edit(sound / "policy.yaml", METHOD, CARD.format("{node: n1}"))
    edit(sound / "apportion.toml", 'labels = { team = "team"', 'labels = { node = "node", team = "team"')
    assert told(sound) == []


@pytest.mark.parametrize("label", ["{team: vision}", "{user: nobody}"])
def test_labels_that_nodes_do_not_have_are_none(sound: Path, label: str) -> None:
    edit(sound / "policy.yaml", METHOD, CARD.format(label))
    assert told(sound) == []


def test_an_adjustment_and_a_facet_that_is_priced_are_told_alike(sound: Path) -> None:
    rules = "facets:\n  - {when: {resource: n1}, phase: training}\n"
    edit(sound / "policy.yaml", "pools:\n", rules + "pools:\n")
    assert told(sound) == [], "nothing asks for the phase"
    weighed = "    weights: {phase: {training: 2}}\n"
    edit(sound / "policy.yaml", METHOD, METHOD + weighed)
    adjusted = 'adjustments:\n  - {when: {node: n1}, percent: -10, sponsor: vision, why: "old"}\n'
    with (sound / "policy.yaml").open("a", encoding="utf-8") as policy:
        policy.write(adjusted)
    (found,) = told(sound)
    assert found.finding.pool == ""
    assert "asks for 'node'" in found.finding.message
    assert "(and 1 more)" in found.finding.message
