"""Two clusters that each have a node g01: from files to the plan, the lists and what is told; figures by hand (M8: 400, 80, idle 400)."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from apportion.errors import ProjectError
from apportion.reports.report import Report
from apportion.verbs.cost import cost
from apportion.verbs.ingest import ingest
from apportion.verbs.nodes import nodes
from apportion.verbs.plan import Planned, plan
from apportion.verbs.project import Project, open_project

DAY = "2026-10-05T00:00:00Z,2026-10-06T00:00:00Z"
MONTH = "2026-10-01T00:00:00Z,2026-11-01T00:00:00Z"
BILL = f"""\
ChargePeriodStart,ChargePeriodEnd,BillingPeriodStart,BillingPeriodEnd,BillingAccountId,BillingCurrency,ChargeCategory,InvoiceIssuerName,ServiceName,ServiceCategory,ResourceId,BilledCost,EffectiveCost,Tags
{DAY},{MONTH},1,USD,Usage,Nimbus,East,Compute,g01,800,800,"{{""cluster"": ""east""}}"
{DAY},{MONTH},1,USD,Usage,Nimbus,West,Compute,g01,80,80,"{{""cluster"": ""west""}}"
"""
BILLED = """
[[sources]]
name = "cloud"
kind = "focus"
path = "bill.csv"
"""
POLICY = """\
policy: p
effective: 2026-10-01
currency: USD
time_zone: UTC
teams: {vision: {}, speech: {}}
owners:
  - {when: {account: "*"}, team: "{account}"}
  - {when: {namespace: "*"}, team: "{namespace}"}
pools:
  east: {costs: {ServiceName: East}, usage: {SELECTOR: east}, meter: gpu, method: capacity_rate}
  west: {costs: {ServiceName: West}, usage: {SELECTOR: west}, meter: gpu, method: capacity_rate}
"""
NODE = (
    "NodeName=g01 Arch=x86_64 CPUTot=64 Gres=gpu:h100:8 RealMemory=1000 State=IDLE Partitions=gpu "
    "CfgTRES=cpu=64,mem=1000M,billing=64,gres/gpu=8,gres/gpu:h100=8\n"
)
ACCOUNTING = """\
JobIDRaw|JobID|Cluster|User|Account|Partition|Submit|Start|End|ElapsedRaw|State|ExitCode|NNodes|NodeList|AllocCPUS|AllocTRES
1|1|{cluster}|u|{team}|gpu|2026-10-05T00:00:00|2026-10-05T00:00:00|2026-10-06T00:00:00|86400|COMPLETED|0:0|1|g01|8|cpu=8,gres/gpu={gpus},node=1
"""
HELD = {"east": ("vision", 4), "west": ("speech", 8)}


def project(folder: Path, sources: str, selector: str) -> Project:
    (folder / "apportion.toml").write_text('[project]\nname = "p"\n' + BILLED + sources, "utf-8")
    (folder / "bill.csv").write_text(BILL, "utf-8")
    (folder / "policy.yaml").write_text(POLICY.replace("SELECTOR", selector), "utf-8")
    return open_project(folder)


def owed(made: Planned) -> dict[str, Decimal]:
    return {row.owner: row.after for row in made.rows if row.after}


def shown(found: Report) -> list[tuple[object, ...]]:
    (section,) = found.sections
    names = [column.name for column in found.columns]
    return [tuple(row[names.index(name)] for name in ("list", "node", "instance", "amount")) for row in section.rows]


EXPECTED = {"vision": Decimal(400), "speech": Decimal(80), "_idle": Decimal(400)}


@pytest.mark.parametrize("selector", ["slurm.cluster", "cluster"])
def test_two_accountings(tmp_path: Path, selector: str) -> None:
    for cluster, (team, gpus) in HELD.items():
        (tmp_path / cluster).mkdir()
        (tmp_path / cluster / "nodes.txt").write_text(NODE, "utf-8")
        text = ACCOUNTING.format(cluster=cluster, team=team, gpus=gpus)
        (tmp_path / cluster / "sacct.txt").write_text(text, "utf-8")
    stanza = '[[sources]]\nname = "{0}"\nkind = "slurm"\npath = "{0}"\nwindow = "2026-10"\n'
    made = project(tmp_path, "".join(stanza.format(cluster) for cluster in HELD), selector)
    ingest(made)
    planned = plan(made, "2026-10")
    assert owed(planned) == EXPECTED
    assert planned.plan.findings == ()
    assert sorted(shown(nodes(made, "2026-10"))) == [
        ("tied", "east/g01", "g01", Decimal(800)),
        ("tied", "west/g01", "g01", Decimal(80)),
    ]


def series(name: str, labels: dict[str, str], value: float) -> dict[str, object]:
    start = 1_791_158_400  # 2026-10-05
    return {
        "metric": {"__name__": name, **labels},
        "values": [[at, str(value)] for at in range(start, start + 86_400, 300)],
    }


def test_one_prometheus(tmp_path: Path) -> None:
    found = []
    for cluster, (team, gpus) in HELD.items():
        own = {"cluster": cluster, "namespace": team, "pod": "train-0", "uid": f"uid-{cluster}"}
        node = {"cluster": cluster, "node": "g01"}
        held = {**own, "container": "main", "resource": "nvidia_com_gpu", "node": "g01"}
        found += [
            series("kube_pod_status_phase", {**own, "phase": "Running"}, 1),
            series("kube_pod_info", {**own, "node": "g01"}, 1),
            series("kube_pod_container_resource_requests", held, gpus),
            series("kube_node_info", node, 1),
            series("kube_node_status_capacity", {**node, "resource": "nvidia_com_gpu"}, 8),
        ]
    body = {"status": "success", "data": {"resultType": "matrix", "result": found}}
    (tmp_path / "answers.json").write_text(json.dumps(body), "utf-8")
    stanza = '[[sources]]\nname = "k8s"\nkind = "prometheus"\npath = "answers.json"\ncluster = "lab"\n'
    made = project(tmp_path, stanza, "k8s.cluster")
    ingest(made)
    assert owed(plan(made, "2026-10")) == EXPECTED


LOG = """\
job,node,place,start,end,account,gpu
1,g01,east,2026-10-05T00:00:00Z,2026-10-06T00:00:00Z,vision,4
1,g01,west,2026-10-05T00:00:00Z,2026-10-06T00:00:00Z,speech,8
"""
OFFERED = """\
node,place,start,end,gpu
g01,east,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,8
g01,west,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,8
"""
LOGS = """
[[sources]]
name = "jobs"
kind = "usage"
path = "jobs.csv"
window = "2026-10"
columns = { workload = "job", resource = "node", cluster = "place", start = "start", end = "end" }
meters = { gpu = "gpu" }
labels = { account = "account" }
[[sources]]
name = "nodes"
kind = "usage"
records = "capacity"
path = "nodes.csv"
window = "2026-10"
columns = { resource = "node", cluster = "place", start = "start", end = "end" }
meters = { gpu = "gpu" }
"""


def logged(folder: Path, text: str) -> Project:
    (folder / "jobs.csv").write_text(text, "utf-8")
    (folder / "nodes.csv").write_text(OFFERED, "utf-8")
    return project(folder, LOGS, "cluster")


def test_a_log_with_a_column(tmp_path: Path) -> None:
    made = logged(tmp_path, LOG.replace("\n1,g01,west", "\n2,g01,west"))
    ingest(made)
    planned = plan(made, "2026-10")
    assert owed(planned) == EXPECTED
    assert planned.plan.findings == ()


def test_jobs_of_a_log_that_names_them_by_cluster_are_told_apart(tmp_path: Path) -> None:
    """Both clusters have a job 1."""
    logged(tmp_path, LOG)
    settings = tmp_path / "apportion.toml"
    settings.write_text(
        settings.read_text("utf-8").replace('workload = "job"', "workload = \"concat(place, '/', job)\""), "utf-8"
    )
    made = open_project(tmp_path)
    ingest(made)
    assert owed(plan(made, "2026-10")) == EXPECTED
    with pytest.raises(ProjectError, match=r"east/1 .*, west/1 ") as refused:
        cost(made, "1")
    assert refused.value.code == "ambiguous-job"
    assert [total.direct for total in cost(made, "east/1").totals] == [Decimal(400)]


def test_a_row_without_a_cluster_is_told_with_its_hours(tmp_path: Path) -> None:
    made = logged(tmp_path, LOG.replace("\n1,g01,west", "\n2,g01,"))
    ingest(made)
    finding, nowhere = plan(made, "2026-10").plan.findings
    assert (finding.code, finding.source, finding.rows) == ("cluster-not-stated", "jobs", 1)
    assert (finding.hours, finding.unit, finding.share) == (Decimal(192), "GPU", Decimal("0.666666667"))
    assert (nowhere.code, nowhere.hours, nowhere.share) == ("work-in-no-pool", Decimal(192), Decimal(0))
