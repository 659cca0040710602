"""A job that Slurm measured and MLflow knows: its money goes by experiment, and stays what it was."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apportion.cli.main import main
from apportion.model.times import parse_instant
from tests.sources import making
from tests.trackers.server import mlflow_run

START = parse_instant("2026-10-05T00:00:00Z")
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
columns = { workload = "job", resource = "node", start = "start", end = "end", outcome = "state" }
meters = { gpu = "gpus" }
labels = { "slurm.account" = "account", "slurm.cluster" = "cluster", "slurm.job" = "number" }
window = "2026-10"

"""
TRACKER = '[[sources]]\nname = "mlflow"\nkind = "mlflow"\npath = "runs.json"\n'
POLICY = """\
policy: experiments
effective: 2026-10-01
currency: USD
time_zone: UTC
teams: {vision: {}}
owners:
  - {when: {slurm.account: "*", ml.experiment: "*"}, team: "{slurm.account}", project: "{ml.experiment}"}
  - {when: {slurm.account: "*"}, team: "{slurm.account}"}
pools:
  gpu: {costs: {ServiceCategory: Compute}, usage: {node: "n*"}, meter: gpu, method: proportional}
"""


@pytest.mark.parametrize(
    ("tracked", "projects"), [(False, {"vision/(none)": 10}), (True, {"vision/(none)": 5, "vision/resnet": 5})]
)
def test_money_follows_the_experiment_and_no_quantity_changes(
    tracked: bool, projects: dict[str, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs = [
        {"job": f"slurm/hpc/{number}@1", "number": number, "cluster": "hpc", "node": "n1", "account": "vision",
         "start": "2026-10-05T00:00:00Z", "end": "2026-10-05T06:00:00Z", "gpus": "4", "state": "COMPLETED"}
        for number in ("4242", "4243")
    ]  # fmt: skip
    tags = {"slurm.job_id": "4242", "slurm.cluster": "hpc"}
    runs = {
        "experiments": [{"experiment_id": "7", "name": "resnet"}],
        "runs": [mlflow_run(1, START, START + 3600, tags)],
    }
    for name, text in (
        ("apportion.toml", SETTINGS + TRACKER * tracked),
        ("policy.yaml", POLICY),
        ("bill.csv", making.bill_text({"ResourceId": "n1"})),
        ("jobs.csv", making.csv_text(jobs)),
        ("runs.json", json.dumps(runs)),
    ):
        making.put(tmp_path / name, text)
    for verb in (["ingest"], ["plan"], ["apply"], ["report", "showback", "--by", "project", "-o", "json"]):
        capsys.readouterr()
        with pytest.raises(SystemExit) as stop:
            main(["--project", str(tmp_path), *verb])
        shown = capsys.readouterr()
        assert not stop.value.code, shown.err
    found: Any = json.loads(shown.out)
    assert sum(Decimal(row["amount"]) for row in found["rows"]) == 10
    assert {row["owner"]: Decimal(row["amount"]) for row in found["rows"]} == projects
