"""A source that names its cluster after months without one: open months follow, a closed one stays as it was."""

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from apportion.verbs.apply import apply
from apportion.verbs.close import close
from apportion.verbs.ingest import ingest
from apportion.verbs.plan import plan
from apportion.verbs.project import Project, open_project

SETTINGS = """\
[project]
name = "p"
[[sources]]
name = "cloud"
kind = "focus"
path = "bill.csv"
[[sources]]
name = "jobs"
kind = "usage"
path = "jobs.csv"
columns = { workload = "job", resource = "node", start = "start", end = "end" }
meters = { gpu = "gpu" }
labels = { team = "team" }
"""
HEADER = (
    "ChargePeriodStart,ChargePeriodEnd,BillingPeriodStart,BillingPeriodEnd,BillingAccountId,BillingCurrency,ChargeCategory,"
    "InvoiceIssuerName,ServiceName,ServiceCategory,ResourceId,BilledCost,EffectiveCost\n"
)
LINE = "2026-{0:02}-05T00:00:00Z,2026-{0:02}-06T00:00:00Z,2026-{0:02}-01T00:00:00Z,2026-{1:02}-01T00:00:00Z,1,USD,Usage,Nimbus,VM,Compute,g01,60,60\n"
POLICY = """\
policy: p
effective: 2026-08-01
currency: USD
time_zone: UTC
teams: {vision: {}}
owners:
  - {when: {team: "*"}, team: "{team}"}
pools:
  gpus: {costs: {ServiceName: VM}, usage: {node: "g*"}, meter: gpu, method: proportional}
"""
LOG = """\
job,node,start,end,gpu,team
1,g01,2026-09-05T00:00:00Z,2026-09-05T10:00:00Z,1,vision
2,g01,2026-09-30T20:00:00Z,2026-10-01T04:00:00Z,1,vision
3,g01,2026-10-05T00:00:00Z,2026-10-05T10:00:00Z,1,vision
"""
NEW = """\
job,node,start,end,gpu,team
4,g01,2026-11-05T00:00:00Z,2026-11-05T10:00:00Z,1,vision
"""


def rows(project: Project, *columns: str) -> list[tuple[object, ...]]:
    found = project.books.scan("usage", columns=[*columns], where=pc.field("source") == "jobs")
    return sorted(zip(*(found[name].to_pylist() for name in columns), strict=True), key=repr)


def before_october(project: Project) -> pa.Table:
    found = project.books.scan("usage", where=pc.field("end_s") <= 1_790_812_800)  # 2026-10-01
    return found.sort_by([("workload", "ascending"), ("start_s", "ascending")])


def test_open_months_follow_and_a_closed_one_stays(tmp_path: Path) -> None:
    (tmp_path / "apportion.toml").write_text(SETTINGS, "utf-8")
    (tmp_path / "bill.csv").write_text(HEADER + LINE.format(9, 10) + LINE.format(10, 11), "utf-8")
    (tmp_path / "policy.yaml").write_text(POLICY, "utf-8")
    (tmp_path / "jobs.csv").write_text(LOG, "utf-8")
    project = open_project(tmp_path)
    assert [one.relabelled for one in ingest(project)] == [0, 0]
    plan(project, "2026-09")
    apply(project, "2026-09")
    assert close(project, "2026-09", override="the bill is final").closed
    digest = plan(project, "2026-10").plan.postings
    closed = before_october(project)

    (tmp_path / "apportion.toml").write_text(SETTINGS + 'cluster = "east"\n', "utf-8")
    (tmp_path / "jobs.csv").write_text(NEW, "utf-8")
    project = open_project(tmp_path)
    told = ingest(project)
    assert [one.relabelled for one in told] == [0, 2]
    assert "jobs: 2 rows of open months stated no cluster and now have the stanza's" in told.sheet().notes
    assert rows(project, "workload", "cluster") == [
        ("1", None), ("2", "east"), ("2", None), ("3", "east"), ("4", "east"),
    ]  # fmt: skip
    assert before_october(project).filter(pc.field("workload") != "2").equals(closed)
    assert plan(project, "2026-10").plan.postings.equals(digest)
    assert [one.relabelled for one in ingest(project)] == [0, 0]
