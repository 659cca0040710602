"""From the board to the bill: batches into books, and a plan that shares the electricity by the joules that were measured."""

from decimal import Decimal
from pathlib import Path

import pyarrow.compute as pc
import pytest

from apportion.verbs.agent import Wishes, replay
from apportion.verbs.check import check
from apportion.verbs.ingest import ingest
from apportion.verbs.plan import plan
from apportion.verbs.project import open_project
from tests.agent.test_h200 import IDLE, JOB, POD, TRACE
from tests.sources.making import bill_text, put

SETTINGS = """\
[project]
name = "cluster"

[[sources]]
name = "agent"
kind = "agent"
path = "agent"

[[sources]]
name = "utility"
kind = "focus"
path = "bills/*.csv"

[[sources]]
name = "slurm"
kind = "usage"
path = "jobs.csv"
window = "2026-11"
columns = {workload = "job", resource = "node", start = "start", end = "end"}
meters = {gpu = "gpus"}
labels = {"slurm.account" = "account", "slurm.job" = "number", "slurm.cluster" = "cluster"}
"""
POLICY = """\
policy: cluster
effective: 2026-11-01
currency: USD
time_zone: UTC
teams: {vision: {}, speech: {}, platform: {}}
owners:
  - {when: {slurm.account: vis}, team: vision}
  - {when: {k8s.uid: "*"}, team: speech}
  - {when: {agent.state: _idle}, team: platform}
pools:
  energy:
    costs: {ServiceName: Electricity}
    usage: {node: "h200-*"}
    meter: energy
    method: proportional
  boards:
    costs: {ServiceName: GPU}
    usage: {node: "h200-*"}
    meter: gpu
    method: proportional
    driver: used
"""
JOBS = """\
job,node,start,end,gpus,account,number,cluster
slurm/main/4711@1794778100,h200-1,2026-11-15T21:29:40Z,2026-11-15T21:31:40Z,1,vis,4711,main
"""
BILL = {
    "BillingPeriodStart": "2026-11-01T00:00:00Z",
    "BillingPeriodEnd": "2026-12-01T00:00:00Z",
    "ChargePeriodStart": "2026-11-01T00:00:00Z",
    "ChargePeriodEnd": "2026-12-01T00:00:00Z",
    "ResourceId": "",
    "Tags": "",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    put(tmp_path / "apportion.toml", SETTINGS)
    put(tmp_path / "policy.yaml", POLICY)
    put(tmp_path / "jobs.csv", JOBS)
    lines = ({**BILL, "ServiceName": name, "EffectiveCost": "1000.00"} for name in ("Electricity", "GPU"))
    put(tmp_path / "bills/november.csv", bill_text(*lines))
    return tmp_path


def test_the_bill_is_shared_by_the_joules_that_the_board_counted(project: Path) -> None:
    measured = replay(Wishes(project / "agent", "h200-1", "main"), TRACE)
    opened = open_project(project)
    done = {one.source: one for one in ingest(opened)}
    assert done["agent"].problems == ()
    assert {one.source: one.changed for one in ingest(opened)} == dict.fromkeys(done, 0), (
        "the same again changes nothing"
    )
    postings = plan(opened, "2026-11").plan.postings
    electricity = postings.filter(pc.equal(postings["pool"], "energy"))
    owed: dict[str, Decimal] = {}
    for row in electricity.to_pylist():
        owed[row["team"]] = owed.get(row["team"], Decimal(0)) + row["amount"]
    assert sum(owed.values()) == 1000
    total = sum(measured.millijoules.values())
    for team, workload in (("vision", JOB), ("speech", POD), ("platform", IDLE)):
        assert float(owed[team]) == pytest.approx(1000 * measured.millijoules[workload] / total, rel=1e-3)
    boards = postings.filter(pc.equal(postings["pool"], "boards"))
    assert "vision" in boards["team"].to_pylist(), "the use of the job is laid beside what Slurm says it held"


def test_check_names_what_was_estimated_and_who_is_silent(project: Path) -> None:
    replay(Wishes(project / "agent", "h200-1", "main"), TRACE)
    (file,) = (project / "agent").glob("*.jsonl")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join([*lines[:2], *lines[3:]]))
    opened = open_project(project)
    ingest(opened)
    findings = [f"{finding.status} {finding.what}: {finding.text}" for finding in check(opened, "2026-11").checks]
    assert any("[estimated]" in finding and "37478 J" in finding for finding in findings), findings
