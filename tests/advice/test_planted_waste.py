"""Planted waste is found and what resembles it is left alone, in months that no threshold was tuned on."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import apportion
from apportion.reports.advice.kinds import KINDS, findings
from apportion.sources.demo import Demo, make_demo
from apportion.sources.demo.tables import workload_table
from apportion.verbs.advising.charged import with_charges
from apportion.verbs.report import read_record
from tests.advice.months import PERIOD, SCALE, ZONE, demo_of, planted_in, scores, works_in, write_planted

TUNED_ON = (101, 102, 103)
NEVER_LOOKED_AT = (401, 409, 419)
PRECISION, RECALL, LEAST = 0.9, 0.8, 15


@pytest.fixture(scope="module")
def summed() -> dict[str, tuple[int, int, int]]:
    sums: dict[str, Counter[int]] = {}
    for seed in NEVER_LOOKED_AT:
        for kind, counts in scores(findings(works_in(seed), ZONE), planted_in(seed)).items():
            sums.setdefault(kind, Counter()).update(dict(enumerate(counts)))
    return {kind: (found[0], found[1], found[2]) for kind, found in sums.items()}


@pytest.mark.parametrize("kind", [*KINDS, "overall"])
def test_precision_and_recall(summed: dict[str, tuple[int, int, int]], kind: str, record_property: Any) -> None:
    found, planted, both = summed[kind]
    precision, recall = both / found, both / planted
    told = f"{kind}: {found} found, {planted} planted; precision {precision:.3f}, recall {recall:.3f}"
    print(told)
    record_property(f"advice, {kind}", told)
    assert not set(TUNED_ON) & set(NEVER_LOOKED_AT)
    assert planted >= LEAST
    assert precision >= PRECISION, told
    assert recall >= RECALL, told


def test_from_files_to_advice(tmp_path: Path) -> None:
    """The same through ingest, plan, apply and the books; savings are never more than what was charged."""
    seed = 421
    project = apportion.open_project(write_planted(tmp_path / "planted", seed))
    apportion.ingest(project)
    apportion.apply(project, PERIOD, made=apportion.plan(project, PERIOD).plan)
    made = apportion.advise(project, PERIOD)
    told: Any = made.more["advice"]
    found, truth = {(name, one["kind"]) for one in told for name in one["workloads"]}, planted_in(seed).items()
    both = found & truth
    print(f"through the books: {len(found)} found, {len(truth)} planted, {len(both)} both")
    assert len(both) / len(found) >= PRECISION
    assert len(both) / len(truth) >= RECALL
    charged: Counter[str] = Counter()
    for row in with_charges(project, read_record(project, [PERIOD]), PERIOD).charges.to_pylist():  # type: ignore[union-attr]
        charged[row["workload"]] += row["amount"]
    low, high = (made.sections[0].totals[n] for n in (7, 8))
    assert 0 < low < high <= sum(charged[workload] for workload, _ in found)  # type: ignore[operator]


def test_no_evidence_tells_what_was_planted() -> None:
    seed = NEVER_LOOKED_AT[0]
    with_waste, without = (workloads_of(demo) for demo in (demo_of(seed), make_demo(seed=seed, scale=SCALE)))

    def labels(rows: list[dict[str, Any]]) -> set[str]:
        return {key for row in rows for key, _ in row["labels"]}

    def names(rows: list[dict[str, Any]]) -> set[str]:
        return {str(row["name"]).partition("-")[0] for row in rows}

    assert names(with_waste) == names(without)
    more = labels(with_waste) - labels(without)
    words = {"config", "experiment", "gpu_memory_gib", "last_read", "keep_until", "needed_by"}
    assert {key.rpartition(".")[2] for key in more} == words
    planted = set(planted_in(seed))
    for key in more:  # on honest runs as on waste
        carriers = {row["workload"] for row in with_waste if key in dict(row["labels"])}
        assert carriers - planted


def workloads_of(demo: Demo) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = workload_table(demo.month, demo.flows, "demo").to_pylist()
    return rows
