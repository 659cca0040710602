"""What trackers count becomes labels of the jobs, in the order of the runs; what is no count is none."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from apportion.errors import ProjectError
from apportion.model.times import instant_text
from apportion.sources.trackers import mlflow, wandb
from apportion.sources.trackers.runs import whole
from tests.facets.world import HOUR, START
from tests.trackers.server import Fake, mlflow_run, serving
from tests.trackers.test_trackers import ask, labels


@pytest.fixture
def fake() -> Iterator[Fake]:
    with serving(Fake()) as found:
        yield found


def counted(number: int, job: str, **metrics: Any) -> dict[str, Any]:
    run = mlflow_run(number, START, START + HOUR, {"slurm.job_id": job, "slurm.cluster": "c"}, num_tokens="7")
    run["data"]["metrics"] = [{"key": key, "value": value, "step": 3} for key, value in metrics.items()]
    return run


def test_mlflow_counts_by_metrics_before_parameters(fake: Fake) -> None:
    fake.runs = [counted(1, "17", Tokens_Seen=2.5e9), counted(2, "17"), counted(3, "18", seen="NaN", mine=12)]
    found = labels(ask(mlflow, fake, samples=["seen", "Mine"]))
    assert (found["slurm/c/17"]["ml.run"], found["slurm/c/17"]["ml.tokens"]) == ("run-1,run-2", "2500000000,7")
    assert "ml.samples" not in found["slurm/c/17"]
    assert (found["slurm/c/18"]["ml.tokens"], found["slurm/c/18"]["ml.samples"]) == ("7", "12")


def test_wandb_counts_by_its_summary(fake: Fake) -> None:
    def run(name: str, summary: object) -> dict[str, Any]:
        times = {"createdAt": instant_text(START), "heartbeatAt": instant_text(START + HOUR)}
        return {
            "name": name,
            "displayName": name,
            "state": "finished",
            "tags": ["slurm.job_id:5"],
            "config": "{}",
            "summaryMetrics": summary,
            **times,
        }

    fake.runs = [
        run("a", json.dumps({"train/tokens": 500})),
        run("b", "no json"),
        run("c", json.dumps({"tokens": 700})),
    ]
    found = labels(ask(wandb, fake, entity="e", projects=["pretraining"], cluster="c"))["slurm/c/5"]
    assert (found["ml.run"], found["ml.tokens"]) == ("a,b,c", "500,,700")


def test_a_list_too_long_to_keep_is_not_begun(fake: Fake) -> None:
    fake.runs, fake.page = [counted(n, "17", tokens=10**12) for n in range(100)], 1000
    found = labels(ask(mlflow, fake))["slurm/c/17"]
    assert "ml.tokens" not in found


@pytest.mark.parametrize(
    ("said", "number"),
    [(5, "5"), ("1e6", "1000000"), (1.5e3, "1500"), (0, ""), (-4, ""), ("NaN", ""), (float("inf"), ""), ("many", ""), (True, ""), (None, ""), ([1], ""),
     (1e300, "")],
)  # fmt: skip
def test_what_is_a_count(said: object, number: str) -> None:
    assert whole(said) == number


def test_names_are_a_list(fake: Fake) -> None:
    with pytest.raises(ProjectError, match="tokens"):
        ask(mlflow, fake, tokens="env:MLFLOW_TOKEN")
