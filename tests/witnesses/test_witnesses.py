"""Workloads that several sources saw: compared second by second with a reading in plain Python that shares no code with the engine."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apportion.engine import witnesses
from apportion.engine.backends.duckdb import DuckDB, connect_duckdb
from apportion.engine.plan import World
from apportion.engine.witnesses import hear
from apportion.model.rows import TABLES, USAGE, WORKLOADS, empty
from apportion.model.times import parse_period
from apportion.policy.document import Policy
from apportion.policy.load import load_policy
from tests.conftest import LONG

Row = dict[str, Any]
Levels = dict[tuple[str, str, str, int], tuple[int, int | None]]
POLICY = "policy: p\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\ndecides: {decides}\n"
SOURCES = ("agent", "opencost", "prometheus")


@pytest.fixture(autouse=True, scope="module")
def slack() -> Iterator[None]:
    """These worlds last seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(witnesses, "SLACK_S", SLACK)
        yield


@pytest.fixture(scope="module")
def backend() -> DuckDB:
    return connect_duckdb(threads=1)


def policy(decides: str = "{}") -> Policy:
    return load_policy(POLICY.replace("{decides}", decides), "policy.yaml")


def use(  # noqa: PLR0917 - a row, in the order of its story
    source: str, workload: str, start: int, end: int, held: int, used: int | None = None, **more: Any
) -> Row:
    usual = {"meter": "gpu", "resource": "n1", "allocated": held, "used": used}
    return {"source": source, "workload": workload, "start_s": start, "end_s": end, **usual, **more}


def work(source: str, workload: str, start: int = 0, end: int = 100, **labels: str) -> Row:
    named = [(name.replace("_", "."), value) for name, value in labels.items()]
    usual = {"run": workload, "name": None, "outcome": "completed", "labels": sorted(named)}
    return {"source": source, "workload": workload, "start_s": start, "end_s": end, **usual}


def pod(source: str, uid: str, start: int = 0, end: int = 100) -> Row:
    return work(source, f"k8s/c/{uid}", start, end, k8s_cluster="c", k8s_namespace="ns", k8s_pod="train-0")


def world(usage: list[Row], workloads: list[Row], rules: Policy) -> World:
    tables = {name: empty(name) for name in TABLES}
    tables["usage"] = pa.Table.from_pylist(usage, schema=USAGE)
    tables["workloads"] = pa.Table.from_pylist(workloads, schema=WORKLOADS)
    return World(parse_period("2026-10"), rules, **tables)


def heard(
    backend: DuckDB, usage: list[Row], workloads: list[Row], decides: str = "{}"
) -> tuple[list[Row], Counter[str]]:
    found = hear(world(usage, workloads, policy(decides)), backend)
    rows = found.usage if isinstance(found.usage, pa.Table) else found.usage.to_pyarrow()
    rows = sorted(rows.to_pylist(), key=lambda row: [str(row[name]) for name in USAGE.names])
    backend.forget()
    return rows, Counter(problem.code for problem in found.problems)


def levels(rows: list[Row]) -> Levels:
    """What is held and used in each second; None where nobody measured."""
    out: Levels = {}
    for row in rows:
        for second in range(row["start_s"], row["end_s"]):
            key = (row["workload"], row["meter"], row["resource"], second)
            held, used = out.get(key, (0, None))
            mine = row["used"]
            out[key] = (held + row["allocated"], used if mine is None else (used or 0) + mine)
    return out


def test_what_one_source_tells_is_left_alone(backend: DuckDB) -> None:
    usage = [use("slurm", "a", 0, 10, 4), use("other", "b", 0, 10, 4, 1)]
    found = world(usage, [work("slurm", "a"), work("other", "b")], policy())
    assert hear(found, backend) == found
    assert hear(found, backend).usage is found.usage


def test_the_first_by_name_decides_and_it_is_said(backend: DuckDB) -> None:
    usage = [use("prometheus", "a", 0, 10, 4), use("opencost", "a", 0, 12, 5)]
    both = [work("prometheus", "a"), work("opencost", "a")]
    rows, problems = heard(backend, usage, both)
    assert levels(rows) == levels([usage[1]])
    assert problems == {"two-sources": 1}
    rows, problems = heard(backend, usage, both, "{gpu: prometheus}")
    assert levels(rows) == levels([usage[0]])
    assert not problems


def test_another_measures_what_the_first_only_held(backend: DuckDB) -> None:
    usage = [
        use("slurm", "a", 0, 100, 8),
        use("agent", "a", 10, 20, 0, 3),
        use("agent", "a", 15, 30, 0, 2),  # another board of the node
        use("agent", "a", 90, 120, 0, 7),  # its clock is late
    ]
    rows, problems = heard(backend, usage, [work("slurm", "a"), work("agent", "a")])
    found = levels(rows)
    assert {second: used for (*_, second), (held, used) in found.items() if held == 8 and used is not None} == {
        **dict.fromkeys(range(10, 15), 3),
        **dict.fromkeys(range(15, 20), 5),
        **dict.fromkeys(range(20, 30), 2),
        **dict.fromkeys(range(90, 100), 7),
    }
    assert {second for *_, second in found} == set(range(100))
    assert not problems


def test_meters_are_decided_one_by_one_and_flows_are_not_cut(backend: DuckDB) -> None:
    usage = [
        use("slurm", "a", 0, 100, 8),
        use("slurm", "a", 0, 100, 5000, meter="energy"),
        use("agent", "a", 0, 50, 3000, meter="energy"),
        use("agent", "a", 50, 100, 3500, meter="energy"),
    ]
    rows, _ = heard(backend, usage, [work("slurm", "a"), work("agent", "a")], "{energy: [agent], gpu: slurm}")
    assert [(row["meter"], row["allocated"]) for row in rows] == [("energy", 3000), ("energy", 3500), ("gpu", 8)]


def test_a_pod_without_a_uid_is_the_one_that_lived_then(backend: DuckDB) -> None:
    pods = [pod("prometheus", "u1", 0, 40), pod("prometheus", "u2", 50, 100)]
    loose = work("opencost", "k8s/c/ns/train-0", 0, 100, k8s_label_team="vision")
    usage = [
        use("prometheus", "k8s/c/u1", 0, 40, 4),
        use("prometheus", "k8s/c/u2", 50, 100, 4),
        use("opencost", "k8s/c/ns/train-0", 0, 45, 4),
        use("opencost", "k8s/c/ns/train-0", 48, 100, 900, meter="network"),
        use("opencost", "k8s/c/ns/train-0", 200, 210, 900, meter="network"),  # nobody lived then
    ]
    rows, _ = heard(backend, usage, [*pods, loose], "{gpu: prometheus}")
    assert [(row["workload"], row["meter"], row["start_s"], row["end_s"]) for row in rows] == [
        ("k8s/c/ns/train-0", "network", 200, 210),
        ("k8s/c/u2", "network", 48, 100),
        ("k8s/c/u1", "gpu", 0, 40),
        ("k8s/c/u2", "gpu", 50, 100),
    ]


def test_a_job_by_its_number_is_the_attempt_that_ran_then(backend: DuckDB) -> None:
    tries = [work("slurm", "slurm/lab/42@100", 100, 140), work("slurm", "slurm/lab/42@150", 150, 200)]
    usage = [
        use("slurm", "slurm/lab/42@100", 100, 140, 4),
        use("slurm", "slurm/lab/42@150", 150, 200, 4),
        use("agent", "slurm/lab/42", 110, 130, 0, 3),
        use("agent", "slurm/lab/42", 160, 170, 0, 1),
    ]
    rows, problems = heard(backend, usage, [*tries, work("agent", "slurm/lab/42", 110, 170)])
    assert not problems
    used = Counter[str]()
    for (name, *_, _second), (held, seen) in levels(rows).items():
        assert held == 4
        used[name] += seen or 0
    assert used == {"slurm/lab/42@100": 60, "slurm/lab/42@150": 10}


def test_labels_of_a_loose_name_are_those_of_the_workload(backend: DuckDB) -> None:
    from apportion.engine.workloads import unite

    loose = work("opencost", "k8s/c/ns/train-0", 0, 100, team="vision")
    usage = [use("prometheus", "k8s/c/u1", 0, 40, 4), use("opencost", "k8s/c/ns/train-0", 0, 45, 4)]
    found = hear(world(usage, [pod("prometheus", "u1"), loose], policy()), backend)
    labels = {row["workload"]: dict(row["labels"]) for row in unite(found.workloads).to_pylist()}
    assert labels["k8s/c/u1"] == {"k8s.cluster": "c", "k8s.namespace": "ns", "k8s.pod": "train-0", "team": "vision"}


def test_use_on_a_node_of_another_name_is_told(backend: DuckDB) -> None:
    usage = [use("slurm", "a", 0, 10, 8), use("agent", "a", 0, 10, 0, 3, resource="n1.example")]
    rows, problems = heard(backend, usage, [work("slurm", "a"), work("agent", "a")])
    assert levels(rows) == levels([usage[0]])
    assert problems == {"measured-elsewhere": 1}


def test_a_node_that_two_sources_describe_is_offered_once_with_the_labels_of_both(backend: DuckDB) -> None:
    from apportion.engine.resources import read_resources
    from apportion.model.rows import CAPACITY

    def offer(source: str, amount: int, resource: str = "n1", **labels: str) -> Row:
        named = {"source": source, "resource": resource, "meter": "gpu", "start_s": 0, "end_s": 9, "state": "up"}
        return {**named, "amount": amount, "labels": sorted(labels.items())}

    rows = [offer("kubernetes", 8, pool="h100"), offer("prometheus", 7, model="H100"), offer("prometheus", 4, "n2")]
    found = world([], [], policy("{gpu: prometheus}"))
    found = replace(found, capacity=pa.Table.from_pylist(rows, schema=CAPACITY))
    told = hear(found, backend).capacity
    assert told.schema.equals(CAPACITY)
    assert [(row["resource"], row["amount"]) for row in told.to_pylist() if row["amount"]] == [("n1", 7), ("n2", 4)]
    labels = read_resources(backend.lend(found.usage), told, {}).labels["n1"]
    assert (labels["pool"], labels["model"]) == ("h100", "H100")


# The same by a reading in plain Python.

ids = st.sampled_from(["w", "k8s/c/u1", "k8s/c/u2", "k8s/c/ns/train-0"])
rows_drawn = st.builds(
    lambda source, workload, start, length, held, used, where: use(
        source, workload, start, start + length, held, used, meter=where[0], resource=where[1]
    ),
    st.sampled_from(SOURCES),
    ids,
    st.integers(0, 30),
    st.integers(1, 12),
    st.integers(0, 3),
    st.none() | st.integers(0, 3),
    st.sampled_from([("gpu", "n1"), ("gpu", "n2"), ("network", "n1")]),
)
LIVES = {"k8s/c/u1": (0, 8), "k8s/c/u2": (12, 20)}
SLACK = 3


def pieces(row: Row) -> list[Row]:
    """A loose row by the lives that it meets: each second is of the last that had begun by then, the first of them before that."""
    met = sorted(
        (start, name)
        for name, (start, end) in LIVES.items()
        if start - SLACK < row["end_s"] and end + SLACK > row["start_s"]
    )
    if row["workload"] != "k8s/c/ns/train-0" or not met:
        return [row]
    whose: dict[str, list[int]] = defaultdict(list)
    for second in range(row["start_s"], row["end_s"]):
        whose[max([one for one in met if one[0] <= second], default=met[0])[1]].append(second)
    found = []
    for name, seconds in whose.items():
        part = {**row, "workload": name, "start_s": seconds[0], "end_s": seconds[-1] + 1}
        if row["meter"] == "network":
            span, before = row["end_s"] - row["start_s"], seconds[0] - row["start_s"]
            until = before + len(seconds)
            part["allocated"] = row["allocated"] * until // span - row["allocated"] * before // span
        found.append(part)
    return found


def rank(source: str, order: list[str]) -> tuple[int, str]:
    return order.index(source) if source in order else len(order), source


def read_plainly(rows: list[Row], order: list[str]) -> tuple[Levels, Counter[tuple[str, str]]]:
    """Levels by second, and the flows that count."""
    told: dict[tuple[str, str], dict[str, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in (part for whole in rows for part in pieces(whole)):
        told[row["workload"], row["meter"]][row["source"]].append(row)
    kept: list[Row] = []
    flows: Counter[tuple[str, str]] = Counter()
    for (name, meter), by_source in told.items():
        decides = min(by_source, key=lambda s: (max(r["allocated"] for r in by_source[s]) == 0, *rank(s, order)))
        if meter == "network":
            flows.update({(name, decides): sum(row["allocated"] for row in by_source[decides])})
            continue
        seen = {s: [r for r in mine if r["used"] is not None] for s, mine in by_source.items()}
        watching = [s for s in seen if seen[s]]
        measures = min(watching, key=lambda s: (max(r["used"] for r in seen[s]) == 0, *rank(s, order)), default="")
        mine = by_source[decides]
        kept += measured_by(mine, seen[measures]) if measures and not seen[decides] else mine
    return levels(kept), flows


def measured_by(mine: list[Row], theirs: list[Row]) -> list[Row]:
    """Second by second, what the other measured on the same resource."""
    places = {row["resource"] for row in theirs} & {row["resource"] for row in mine}
    out = [row for row in mine if row["resource"] not in places]
    for place in places:
        held = levels([row for row in mine if row["resource"] == place])
        used = levels([row for row in theirs if row["resource"] == place])
        for (name, meter, resource, second), (amount, _) in held.items():
            seen = used.get((name, meter, resource, second), (0, None))[1]
            out.append(use("x", name, second, second + 1, amount, seen, meter=meter, resource=resource))
    return out


@settings(
    max_examples=100 if LONG else 25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(st.lists(rows_drawn, min_size=2, max_size=12), st.permutations(SOURCES), st.integers(0, 3))
def test_second_by_second_as_the_rule_says(backend: DuckDB, drawn: list[Row], order: list[str], ranked: int) -> None:
    told = {(row["source"], row["workload"]) for row in drawn}
    told |= {("prometheus", name) for name in LIVES}
    works = [
        pod(source, name.rpartition("/")[2], *LIVES[name]) if name in LIVES else work(source, name, 0, 40)
        for source, name in sorted(told)
    ]
    named = order[:ranked]
    decides = f"{{gpu: [{', '.join(named)}], network: [{', '.join(named)}]}}" if named else "{}"
    rows, _ = heard(backend, drawn, works, decides)
    expected, flows = read_plainly(drawn, named)
    assert levels([row for row in rows if row["meter"] == "gpu"]) == expected
    found: Counter[tuple[str, str]] = Counter()
    for row in rows:
        if row["meter"] == "network":
            found[row["workload"], row["source"]] += row["allocated"]
    assert +found == +flows


def test_the_loose_form_is_what_sources_write() -> None:
    from apportion.engine.witnesses import LOOSE

    assert re.match(LOOSE, "k8s/c/ns/pod-1")
    assert re.match(LOOSE, "slurm/lab/42")
    for full in ("k8s/c/0f3a-77", "slurm/lab/42@1790000000", "job-7", "storage/lustre/user/ana"):
        assert not re.match(LOOSE, full)
