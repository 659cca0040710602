"""A real MLflow server, where one is installed: runs made through its own API, read back as labels."""

import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from apportion.model.delivery import Delivery
from apportion.model.times import DAY_S, Interval, parse_instant
from apportion.sources.trackers import mlflow
from tests import processes
from tests.loopback import free_port

START = parse_instant("2026-10-05T00:00:00Z")
DAY = Interval(START, START + DAY_S)
API = "/api/2.0/mlflow"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    command = shutil.which("mlflow")
    if command is None:
        pytest.skip("no mlflow command")
    folder = tmp_path_factory.mktemp("mlflow")
    port = free_port()
    options = ["--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    stores = ["--backend-store-uri", f"sqlite:///{folder}/runs.db", "--default-artifact-root", str(folder / "files")]
    started = processes.Process([command, "server", *options, *stores], cwd=folder, start_new_session=True)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            started.wait_until(lambda: is_well(client), "it is well")
            yield client
    finally:
        os.killpg(started.pid, signal.SIGTERM)
        started.wait(processes.PATIENCE_S)


def is_well(client: httpx.Client) -> bool:
    try:
        return client.get("/health").status_code == 200
    except httpx.TransportError:
        return False


def make_run(client: httpx.Client, experiment: str, life: tuple[int, int | None], tags: dict[str, str]) -> str:
    start, end = life
    body: dict[str, Any] = {
        "experiment_id": experiment,
        "start_time": start * 1000,
        "tags": [{"key": k, "value": v} for k, v in tags.items()],
    }
    made = client.post(f"{API}/runs/create", json=body).raise_for_status().json()["run"]["info"]["run_id"]
    client.post(
        f"{API}/runs/log-parameter", json={"run_id": made, "key": "model", "value": "resnet-50"}
    ).raise_for_status()
    if end is not None:
        done = {"run_id": made, "status": "FINISHED", "end_time": end * 1000}
        client.post(f"{API}/runs/update", json=done).raise_for_status()
    return str(made)


def test_runs_of_a_window_by_their_own_filters_and_pages(server: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mlflow, "PAGE", 2)
    made = server.post(f"{API}/experiments/create", json={"name": "resnet"}).raise_for_status().json()["experiment_id"]
    lives: dict[str, tuple[int, int | None]] = {
        "before": (START - 100, START - 50), "into": (START - 100, START + 50), "inside": (START + 5, START + 9), "out-of": (START + 5, DAY.end_s + 9),
        "long": (START - DAY_S, None), "new": (START + 7, None), "later": (DAY.end_s, None), "after": (DAY.end_s, DAY.end_s + 9),
    }  # fmt: skip
    for name, life in lives.items():
        make_run(server, made, life, {"slurm.job_id": name, "slurm.cluster": "hpc"})
    stanza = {"name": "t", "kind": "mlflow", "url": str(server.base_url)}
    (found,) = (one for one in mlflow.read(stanza, Path(), DAY) if isinstance(one, Delivery))
    rows = {row["workload"]: dict(row["labels"]) for row in found.tables["workloads"].to_pylist()}
    assert sorted(rows) == [f"slurm/hpc/{name}" for name in ("inside", "into", "long", "new", "out-of")]
    assert {(one["ml.experiment"], one["ml.model"]) for one in rows.values()} == {("resnet", "resnet-50")}
    assert [sign.status for sign in mlflow.probe(stanza, Path())] == ["ok", "ok"]
