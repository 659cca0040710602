"""Allocations never exceed what a node, or a board of it, has; only pods may ask for more cores and memory than there are."""

from collections import defaultdict
from collections.abc import Iterable

import pyarrow as pa

from apportion.model.meters import GPU
from apportion.sources.demo import Demo


def peak(rows: Iterable[tuple[int, int, int]]) -> int:
    """The most held at once by rows of (start, end, amount)."""
    events = sorted(event for start, end, amount in rows for event in ((start, amount), (end, -amount)))
    level = most = 0
    for _, change in sorted(events, key=lambda event: (event[0], event[1])):
        level += change
        most = max(most, level)
    return most


def test_nodes(evidence: dict[str, pa.Table]) -> None:
    offered = {(row["resource"], row["meter"]): row["amount"] for row in evidence["capacity"].to_pylist()}
    held = defaultdict(list)
    for row in evidence["usage"].to_pylist():
        on_cpu_node = row["resource"].startswith("cpu-") and row["meter"] in {"cpu", "memory"}
        if row["meter"] == "gpu" or on_cpu_node:
            held[row["resource"], row["meter"]].append((row["start_s"], row["end_s"], row["allocated"]))
    assert len(held) > 10
    for key, rows in held.items():
        assert peak(rows) <= offered[key], key


def test_boards_that_are_shared(demo: Demo) -> None:
    held = defaultdict(list)
    for found in demo.month.held:
        if board := found.work.labels.get("gpu.board"):
            held[found.node.name, board].append((found.work.start, found.work.end, found.gpu))
    assert {node.split("-")[0] for node, _ in held} == {"a100", "l40s"}
    assert all(peak(rows) <= GPU for rows in held.values())
    assert max(peak(rows) for rows in held.values()) == GPU  # and some are full


def test_machines_do_fill_up_and_then_jobs_wait(demo: Demo) -> None:
    waited = [work.start - work.submit for work in demo.month.works]
    assert min(waited) == 0
    assert sum(seconds > 600 for seconds in waited) > 20


def test_nothing_runs_on_a_node_that_is_down_or_drained(demo: Demo) -> None:
    for standing in demo.month.standings:
        if standing.state == "up":
            continue
        for found in demo.month.held:
            if found.node is standing.node:
                assert found.work.end <= standing.start or found.work.start >= standing.end


def test_used_is_never_more_than_allocated(evidence: dict[str, pa.Table]) -> None:
    for row in evidence["usage"].to_pylist():
        assert row["allocated"] >= 0
        assert row["used"] is None or 0 <= row["used"] <= row["allocated"]
        assert row["start_s"] < row["end_s"]
