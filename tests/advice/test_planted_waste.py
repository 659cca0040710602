"""Planted waste is found and what resembles it is left alone, in months that no threshold was tuned on."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import apportion
from apportion.reports.advice.kinds import KINDS, findings
from apportion.sources.demo import read
from apportion.verbs.advise import gathered
from apportion.verbs.advising.charged import with_charges
from apportion.verbs.report import read_record
from tests.advice.months import PERIOD, SCALE, ZONE, planted_in, scores, works_in, write_planted

TUNED_ON = (101, 102, 103)
NEVER_LOOKED_AT = (307, 311, 313, 317)
PRECISION, RECALL, LEAST = 0.9, 0.8, 25


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
    seed = 331
    project = apportion.open_project(write_planted(tmp_path / "planted", seed))
    apportion.ingest(project)
    apportion.apply(project, PERIOD, made=apportion.plan(project, PERIOD).plan)
    record = with_charges(project, read_record(project, [PERIOD]), PERIOD)
    found = findings(*gathered(project, PERIOD, record))
    count, planted, both = scores(found, planted_in(seed))["overall"]
    print(f"through the books: {count} found, {planted} planted, {both} both")
    assert both / count >= PRECISION
    assert both / planted >= RECALL
    made = apportion.advise(project, PERIOD)
    assert record.charges is not None
    charged: Counter[str] = Counter()
    for row in record.charges.select(["workload", "amount"]).to_pylist():
        charged[row["workload"]] += row["amount"]
    paid = sum(charged[workload] for workload in {one.work.workload for one in found})
    low, high = (made.sections[0].totals[n] for n in (7, 8))
    assert 0 < low < high <= paid  # type: ignore[operator]


def test_no_evidence_tells_what_was_planted() -> None:
    settings = {"name": "demo", "kind": "demo", "scale": SCALE, "seed": 101}
    with_waste, without = (next(iter(read(settings | more, Path(), None))) for more in ({"waste": True}, {}))
    for name, table in with_waste.tables.items():
        assert table.schema == without.tables[name].schema

    def labels(one: Any) -> set[str]:
        return {key for row in one.tables["workloads"]["labels"].to_pylist() for key, _ in row}

    def names(one: Any) -> set[str]:
        return {str(name).partition("-")[0] for name in one.tables["workloads"]["name"].to_pylist()}

    assert names(with_waste) == names(without)
    more = labels(with_waste) - labels(without)
    assert {key.rpartition(".")[2] for key in more} == {
        "config",
        "experiment",
        "gpu_memory_gib",
        "last_read",
        "keep_until",
    }
    planted = set(planted_in(101))
    rows = with_waste.tables["workloads"].to_pylist()
    for key in more:  # on honest runs as on waste
        carriers = {row["workload"] for row in rows if key in dict(row["labels"])}
        assert carriers - planted
        assert carriers & planted or key == "tag.keep_until"
