"""Runs of trackers become labels on the jobs and pods that they name; never a quantity."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import InputError, ProjectError
from apportion.model.delivery import Delivery
from apportion.model.times import DAY_S, Interval, instant_text, parse_instant
from apportion.sources.trackers import mlflow, wandb
from tests.sources import making
from tests.trackers.server import Fake, mlflow_run, serving

START = parse_instant("2026-10-05T00:00:00Z")
DAY = Interval(START, START + DAY_S)
HOUR = 3600
JOB = {"slurm.job_id": "4242", "slurm.cluster": "hpc"}
UID = "3f0c9a52-7b1e-4a43-9d5e-3b8a7c6d5e4f"


@pytest.fixture
def fake() -> Iterator[Fake]:
    with serving(Fake()) as found:
        yield found


def ask(source: Any, fake: Fake, window: Interval = DAY, **settings: Any) -> Delivery:
    stanza = {"name": "tracker", "kind": "x", "url": fake.url, "retries": 0, **settings}
    (found,) = (one for one in source.read(stanza, Path(), window) if isinstance(one, Delivery))
    return found


def labels(found: Delivery) -> dict[str, dict[str, str]]:
    assert set(found.tables) == {"workloads"}, "never a quantity"
    return {row["workload"]: dict(row["labels"]) for row in found.tables["workloads"].to_pylist()}


def test_a_run_gives_its_experiment_and_model_to_its_job(fake: Fake) -> None:
    fake.runs = [mlflow_run(1, START + HOUR, START + 2 * HOUR, {**JOB, "dataset": "imagenet"}, model="resnet-50")]
    found = ask(mlflow, fake, tags=["dataset"])
    assert labels(found) == {
        "slurm/hpc/4242": {
            "ml.tracker": "mlflow", "ml.experiment": "resnet", "ml.run": "run-1", "ml.run_name": "brave-fox-1", "ml.user": "ann",
            "ml.model": "resnet-50", "ml.tag.dataset": "imagenet",
        }
    }  # fmt: skip
    (row,) = found.tables["workloads"].to_pylist()
    assert (row["start_s"], row["end_s"], row["outcome"], row["run"]) == (
        START + HOUR, START + 2 * HOUR, "completed", "slurm/hpc/4242",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("tags", "ids"),
    [
        (JOB, ["slurm/hpc/4242"]),
        ({"SLURM_JOB_ID": "4242"}, ["slurm/lab/4242"]),
        ({"slurm.job_id": "4242, 4250"}, ["slurm/lab/4242", "slurm/lab/4250"]),
        ({"k8s.pod_uid": UID}, [f"k8s/lab/{UID}"]),
        ({"k8s.pod": "train-0", "k8s.namespace": "vision", "k8s.cluster": "c1"}, ["k8s/c1/vision/train-0"]),
        ({"k8s.pod": "train-0"}, []),
        ({}, []),
    ],
)
def test_where_a_run_says_that_it_ran(tags: dict[str, str], ids: list[str], fake: Fake) -> None:
    fake.runs = [mlflow_run(1, START, START + HOUR, tags)]
    found = ask(mlflow, fake, cluster="lab")
    assert list(labels(found)) == ids
    assert [problem.code for problem in found.problems] == ([] if ids else ["run-without-job"])


def test_runs_of_the_window_are_those_that_began_ended_or_still_run(fake: Fake) -> None:
    lives = [
        (-3 * DAY_S, -2 * DAY_S), (-HOUR, HOUR), (HOUR, 2 * HOUR), (2 * HOUR, 3 * DAY_S), (-5 * DAY_S, None), (HOUR, None), (DAY_S, None), (DAY_S, DAY_S + 5),
    ]  # fmt: skip
    fake.runs = [
        mlflow_run(n, START + start, None if end is None else START + end, {"slurm.job_id": str(n)})
        for n, (start, end) in enumerate(lives)
    ]
    found = ask(mlflow, fake, cluster="c")
    assert list(labels(found)) == [f"slurm/c/{n}" for n in (1, 2, 3, 4, 5)]
    assert len(fake.asked) > 4, "pages are turned"
    ends = {row["workload"]: row["end_s"] for row in found.tables["workloads"].to_pylist()}
    assert ends["slurm/c/4"] == DAY.end_s, "what runs reaches the window's end"


def test_a_sweep_in_one_job_is_told_and_keeps_all_that_its_runs_say(fake: Fake) -> None:
    fake.runs = [mlflow_run(n, START, START + HOUR, JOB, model=f"m{n % 2}") for n in range(5)]
    found = ask(mlflow, fake)
    assert labels(found)["slurm/hpc/4242"]["ml.model"] == "m0,m1"
    assert [problem.code for problem in found.problems] == ["several-runs"]


def test_wandb_by_its_api(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(number: int, **more: Any) -> dict[str, Any]:
        return {
            "name": f"id{number}", "displayName": f"fine-sun-{number}", "state": "finished", "createdAt": instant_text(START + number * HOUR),
            "heartbeatAt": instant_text(START + number * HOUR + 60), "user": {"username": "bob"}, "tags": [], "config": "{}", **more,
        }  # fmt: skip

    fake.password = "hush"
    monkeypatch.setenv("WANDB_API_KEY", "hush")
    fake.runs = [
        run(1, tags=["slurm.job_id:17", "baseline"]),
        run(2, config=json.dumps({"k8s.pod_uid": {"value": UID}, "model_name": {"value": "llama"}})),
        run(3, tags=[f"pod_uid={UID}x"], sweepName="s1", jobType="tune"),
        run(30, tags=["slurm.job_id:18"]),
    ]
    settings: dict[str, Any] = {"entity": "team", "username": "api", "password": "env:WANDB_API_KEY", "cluster": "c"}
    found = labels(ask(wandb, fake, projects=["pretraining"], **settings))
    assert list(found) == [f"k8s/c/{UID}", f"k8s/c/{UID}x", "slurm/c/17"]
    assert found[f"k8s/c/{UID}"]["ml.model"] == "llama"
    assert (found["slurm/c/17"]["ml.run"], found["slurm/c/17"]["ml.experiment"]) == ("id1", "pretraining")
    assert (found[f"k8s/c/{UID}x"]["ml.sweep"], found[f"k8s/c/{UID}x"]["ml.job_type"]) == ("s1", "tune")
    with pytest.raises(InputError, match="could not find project"):
        ask(wandb, fake, projects=["other"], **settings)
    with pytest.raises(ProjectError, match="projects is missing"):
        ask(wandb, fake, **settings)


def test_probes(fake: Fake, tmp_path: Path) -> None:
    stanza = {"name": "t", "kind": "mlflow", "url": fake.url, "retries": 0}
    fake.runs = [mlflow_run(1, START, None, JOB)]
    assert [sign.status for sign in mlflow.probe(stanza, Path())] == ["ok", "ok"]
    fake.runs.append(mlflow_run(2, START, None, {}))
    signs = list(mlflow.probe(stanza, Path()))
    assert (signs[1].status, "MLFLOW_RUN_CONTEXT" in signs[1].fix) == ("note", True)
    making.put(tmp_path / "runs.jsonl", '{"id": "a", "created_at": "2026-10-05T00:00:00"}\n')
    (sign,) = wandb.probe({"name": "w", "kind": "wandb", "path": "runs.jsonl"}, tmp_path)
    assert (sign.status, sign.text) == ("note", "0 of 1 runs exported name a job or a pod")


def test_saved_files_that_are_none_are_refused(tmp_path: Path) -> None:
    making.put(tmp_path / "a.json", '{"runs": [')
    making.put(tmp_path / "b.json", "{}")
    making.put(tmp_path / "c.jsonl", "{}\n{oops\n")
    for source, name, code, where in (
        (mlflow, "a.json", "corrupt-file", "a.json:1"),
        (mlflow, "b.json", "no-rows", "t"),
        (wandb, "c.jsonl", "corrupt-file", "c.jsonl:2"),
    ):
        with pytest.raises(InputError) as caught:
            list(source.read({"name": "t", "kind": "x", "path": name}, tmp_path, None))
        assert (caught.value.code, caught.value.where) == (code, where)
