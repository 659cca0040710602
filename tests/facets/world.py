"""A month of a small cluster: jobs with names, images, commands and comments, two trackers that know some of them, and a bill with support."""

import json
from pathlib import Path
from typing import Any

import apportion
from apportion.model.times import DAY_S, instant_text, parse_instant
from apportion.verbs.draft import facet_rules
from apportion.verbs.project import Project
from tests.sources import making
from tests.trackers.server import mlflow_run

START = parse_instant("2026-10-05T00:00:00Z")
HOUR = 3600
SETTINGS = """\
[project]
name = "experiments"

[[sources]]
name = "bill"
kind = "focus"
path = "bill.csv"

[[sources]]
name = "slurm"
kind = "usage"
path = "jobs.csv"
columns = { workload = "job", run = "run", name = "name", resource = "node", start = "start", end = "end", outcome = "state" }
meters = { gpu = "gpus" }
labels = { "slurm.account" = "account", "slurm.image" = "image", "slurm.command" = "command", "slurm.comment.framework" = "framework" }
window = "2026-10"

[[sources]]
name = "mlflow"
kind = "mlflow"
path = "runs.json"

[[sources]]
name = "wandb"
kind = "wandb"
path = "runs.jsonl"
samples = ["seen"]
"""
HEAD = """\
policy: experiments
effective: 2026-10-01
currency: USD
time_zone: UTC
teams: {vision: {}, language: {}}
owners: [{when: {slurm.account: "*"}, team: "{slurm.account}"}]
pools:
  gpu: {costs: {ServiceCategory: Compute}, usage: {node: "n*"}, meter: gpu, method: proportional}
  rest: {costs: otherwise, by: cost, over: all}
"""
# number, run, name, account, gpus, hours, outcome, and what else is known
JOBS: tuple[tuple[Any, ...], ...] = (
    ("1", "1", "train-llama", "language", 8, 6, "NODE_FAIL", {"image": "nvcr.io/pytorch:24"}),
    ("2", "1", "train-llama", "language", 8, 5, "COMPLETED", {"image": "nvcr.io/pytorch:24"}),
    ("3", "3", "x1", "language", 16, 7, "COMPLETED", {"command": "deepspeed pretrain.py --model Qwen2"}),
    ("4", "4", "x2", "language", 16, 3, "COMPLETED", {"command": "deepspeed pretrain.py --model Qwen2"}),
    ("5", "5", "x3", "vision", 1, 11, "FAILED", {"framework": "jax"}),
    ("9_1", "9", "sweep-lr", "vision", 1, 2, "COMPLETED", {}),
    ("9_2", "9", "sweep-lr", "vision", 1, 3, "PREEMPTED", {}),
    ("9_3", "9", "sweep-lr", "vision", 1, 5, "COMPLETED", {}),
    ("7", "7", "notebook", "vision", 0.5, 13, "CANCELLED", {}),
    ("8", "8", "x4", "vision", 2, 1, "COMPLETED", {"image": "resnet/tensorflow"}),
)


def tags(*numbers: str) -> dict[str, str]:
    return {"slurm.job_id": ",".join(numbers), "slurm.cluster": "hpc"}


def mlflow_runs() -> list[dict[str, Any]]:
    """Of job 1 and 2 together, of 3 (which has counted nothing), of 4 (which began in September)."""
    runs = [
        mlflow_run(1, START, START + 12 * HOUR, tags("1", "2"), model="llama-3-8b"),
        mlflow_run(2, START, START + HOUR, tags("3"), num_tokens="0"),
        mlflow_run(3, START - 30 * DAY_S, START + HOUR, tags("4"), num_tokens="1000"),
    ]
    runs[0]["data"]["metrics"] = [{"key": "tokens", "value": 3e6}, {"key": "loss", "value": "NaN"}]
    return runs


def wandb_runs() -> list[dict[str, Any]]:
    """Two runs in job 8, which both count their samples."""
    return [
        {"id": f"w{n}", "name": f"sun-{n}", "project": "boxes", "created_at": "2026-10-05T00:00:00Z", "heartbeat_at": "2026-10-05T01:00:00Z",
         "tags": ["slurm.job_id:8", "slurm.cluster:hpc"], "summary": {"seen": n * 1000}, "config": {"model_name": "resnet50"}}
        for n in (1, 2)
    ]  # fmt: skip


def job_rows() -> list[dict[str, Any]]:
    clock, rows = {"1": 0}, []
    for number, run, name, account, gpus, hours, state, more in JOBS:
        begin = clock.get(run, 0)
        clock[run] = begin + hours
        at = [instant_text(START + hour * HOUR) for hour in (begin, begin + hours)]
        rows += [
            {"job": f"slurm/hpc/{number}@1", "run": f"slurm/hpc/{run}", "name": name, "node": f"n{place}", "account": account, "start": at[0],
             "end": at[1], "gpus": gpus if gpus <= 8 else gpus // 2, "state": state, "image": "", "command": "", "framework": "", **more}
            for place in range(1 if gpus <= 8 else 2)
        ]  # fmt: skip
    return rows


def make(folder: Path, policy: str = "") -> Project:
    bill = making.bill_text(
        {"ResourceId": "n1", "EffectiveCost": "1234.567891", "ChargePeriodEnd": "2026-10-07T00:00:00Z"},
        {"ServiceCategory": "Other", "ServiceName": "Support", "ResourceId": "", "EffectiveCost": "100.01", "Tags": ""},
    )
    for name, text in (
        ("apportion.toml", SETTINGS),
        ("policy.yaml", HEAD + (policy or facet_rules())),
        ("bill.csv", bill),
        ("jobs.csv", making.csv_text(job_rows())),
        ("runs.json", json.dumps({"experiments": [{"experiment_id": "7", "name": "chat"}], "runs": mlflow_runs()})),
        ("runs.jsonl", "".join(json.dumps(run) + "\n" for run in wandb_runs())),
    ):
        making.put(folder / name, text)
    project = apportion.open_project(folder)
    apportion.ingest(project)
    apportion.plan(project, "2026-10")
    apportion.apply(project, "2026-10")
    return project
