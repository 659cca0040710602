"""The files say the same as `read`, through the readers that anybody's files go through."""

import csv
import tomllib
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from apportion.errors import ApportionError
from apportion.model.delivery import Delivery
from apportion.sources.demo import Demo, read
from apportion.sources.demo.files import natural, write
from apportion.sources.focus import read as read_focus
from apportion.sources.usage import read as read_usage
from tests.sources_demo.conftest import SCALE

READERS = {"focus": read_focus, "usage": read_usage}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("demo")
    write(folder, scale=SCALE)
    return folder


@pytest.fixture(scope="module")
def read_back(project: Path) -> dict[str, Delivery]:
    stanzas = tomllib.loads((project / "apportion.toml").read_text("utf-8"))["sources"]
    return {
        stanza["name"]: delivery for stanza in stanzas for delivery in READERS[stanza["kind"]](stanza, project, None)
    }


def rows(tables: Iterable[pa.Table], *but: str) -> list[str]:
    found = (row for table in tables for row in table.drop_columns(list(but)).to_pylist())
    return sorted(
        repr(sorted((key, sorted(value) if isinstance(value, list) else value) for key, value in row.items()))
        for row in found
    )


def test_nothing_is_a_problem(read_back: dict[str, Delivery]) -> None:
    assert len(read_back) == 9
    assert [problem for delivery in read_back.values() for problem in delivery.problems] == []


@pytest.mark.parametrize("name", ["usage", "capacity", "reservations"])
def test_tables_are_the_same(read_back: dict[str, Delivery], evidence: dict[str, pa.Table], name: str) -> None:
    """A log's rows name their set of labels; the demo's own workloads have one each, and need no name for it."""
    found = [delivery.tables[name] for delivery in read_back.values() if name in delivery.tables]
    but = ("source", "label_set") if name == "usage" else ("source",)
    assert rows(found, *but) == rows([evidence[name]], *but)


def test_workloads_are_the_same(read_back: dict[str, Delivery], evidence: dict[str, pa.Table]) -> None:
    """The power meters know only the ids of workloads, so theirs are left out. Each workload has one set of labels, whether it is named or not."""
    found = [
        delivery.tables["workloads"]
        for name, delivery in read_back.items()
        if "workloads" in delivery.tables and name != "power"
    ]
    but = ("source", "label_set")
    assert rows(found, *but) == rows([evidence["workloads"]], *but)
    known = set(evidence["workloads"]["workload"].to_pylist())
    assert len(known) == len(evidence["workloads"])
    assert set(read_back["power"].tables["workloads"]["workload"].to_pylist()) <= known


@pytest.mark.parametrize("name", ["cloud", "datacentre"])
def test_bills_are_the_same(read_back: dict[str, Delivery], deliveries: list[Delivery], name: str) -> None:
    expected = next(delivery for delivery in deliveries if delivery.source == f"demo-{name}")
    but = ("source", "line_id")
    assert rows([read_back[name].tables["cost_lines"]], *but) == rows([expected.tables["cost_lines"]], *but)
    assert read_back[name].scopes[0].issuer == expected.scopes[0].issuer
    assert read_back[name].window == expected.window


def test_a_gang_is_a_row_for_each_of_its_nodes(project: Path, demo: Demo) -> None:
    with (project / "usage/slurm_jobs.csv").open(encoding="utf-8", newline="") as lines:
        nodes = defaultdict(set)
        for row in csv.DictReader(lines):
            nodes[row["job"]].add(row["node"])
            assert row["start"].endswith("Z")
    expected = defaultdict(set)
    for held in demo.month.held:
        if not held.work.kubernetes:
            expected[held.work.workload].add(held.node.name)
    assert nodes == expected


def test_writing_twice_gives_the_same_bytes(project: Path, tmp_path: Path) -> None:
    for path in write(tmp_path, scale=SCALE):
        assert path.read_bytes() == (project / path.relative_to(tmp_path)).read_bytes()


@pytest.mark.parametrize(
    ("amount", "text"), [(8, "8"), (2, "2"), ((1, 4), "0.25"), ((3, 7), "3/7"), ((371, 1000), "0.371"), (0, "0")]
)
def test_amounts_are_written_exactly(amount: Any, text: str) -> None:
    above, below = amount if isinstance(amount, tuple) else (amount, 1)
    assert natural(504_000 * above // below, 504_000) == text


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ({"scael": "1"}, "scael"),
        ({"scale": "0"}, "scale"),
        ({"scale": "many"}, "many"),
        ({"seed": "x"}, "'x'"),
        ({"month": "October"}, "October"),
    ],
)
def test_wrong_settings_are_refused(setting: dict[str, str], words: str) -> None:
    with pytest.raises(ApportionError, match=words):
        next(iter(read({"name": "demo", "kind": "demo", **setting}, Path(), None)))
