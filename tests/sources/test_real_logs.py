"""Traces of real clusters through the column mapping: totals as counted by others."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.sources.usage import read

TRACES = Path(__file__).parents[2] / ".." / "shared" / "data" / "traces"


def delivery(path: str, **settings: Any) -> Delivery:
    if not TRACES.exists():
        pytest.skip("no ../shared/data/traces beside this checkout")
    (found,) = read({"name": "log", "kind": "usage", "path": path, **settings}, TRACES, None)
    return found


def facts(folder: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((TRACES / folder / "facts.json").read_text(encoding="utf-8"))
    return found


def unit_seconds(found: Delivery) -> int:
    usage = found.tables["usage"]
    return int(pc.sum(pc.multiply(usage["allocated"], pc.subtract(usage["end_s"], usage["start_s"]))).as_py())


def test_milliseconds_and_durations() -> None:
    found = delivery(
        "surf_lisa/tasks_2022H2.parquet",
        columns={"workload": "id", "start": "submission_time", "duration": "duration"},
        time="epoch_ms",
        meters={"cpu": "cpu_count", "memory": "mem_capacity"},
        units={"memory": "MB", "duration": "milliseconds"},
    )
    known = facts("surf_lisa")["tasks_2022H2"]
    cores = Delivery(found.source, found.window, {"usage": found.tables["usage"].filter(pc.field("meter") == "cpu")})
    assert unit_seconds(cores) == known["total_cpu_seconds"] * 1000
    assert found.tables["workloads"].num_rows == known["rows"]
    assert found.problems == ()


def test_thousandths_of_gpus_and_pods_that_never_ran() -> None:
    found = delivery(
        "openb2023/pods.parquet",
        columns={"workload": "name", "start": "scheduled_time", "end": "deletion_time", "outcome": "pod_phase"},
        time="epoch",
        meters={"gpu": "gpu_milli"},
        units={"gpu": "milli"},
        labels={"qos": "qos"},
    )
    known = facts("openb2023")
    whole = found.tables["workloads"]
    codes = Counter(problem.code for problem in found.problems)
    assert codes == {"invalid-time": known["rows_missing_start_or_end"], "mostly-far-past": 1}, "its clock begins at 0"
    assert whole.num_rows == known["rows"] - known["rows_missing_start_or_end"]
    single = found.tables["usage"].filter(pc.less(found.tables["usage"]["allocated"], GPU))
    assert single.num_rows > 0, "shared GPUs are among them"
    assert {row["outcome"] for row in whole.to_pylist()} == {"running", "completed", "failed"}


def test_times_and_states_as_sacct_prints_them() -> None:
    found = delivery(
        "xdmod_slurm/phillips.parquet",
        columns={
            "workload": "jobid",
            "run": "jobidraw",
            "resource": "nodelist",
            "start": "start",
            "end": "end",
            "outcome": "state",
        },
        meters={"cpu": "ncpus"},
        labels={"slurm.account": "account", "slurm.user": "user"},
    )
    known = facts("xdmod_slurm")["phillips"]
    assert unit_seconds(found) == known["total_cpu_seconds"] * 1000
    assert pc.min(found.tables["usage"]["start_s"]).as_py() == known["first_start"]
    assert found.problems == ()
