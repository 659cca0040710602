"""One node of 8 GPUs on the first day of two months, 192.00 each: a GPU-hour is 1.00. What jobs used of what they held is known.

In September vision holds 4 for ten hours and uses half of it; in October 4 for five hours and uses three quarters: half the work, better done.
speech is as good in both, but in October half of what it used was of a job that failed; a node took another one down. bio is new.
"""

from pathlib import Path

from tests.cli.tiny import HEAD
from tests.estimate.world import OCTOBER, SEPTEMBER, line

BILL = "\n".join([
    HEAD,
    line(SEPTEMBER, "2026-09-01T00:00:00Z,2026-09-02T00:00:00Z", "192.00", ("H100", "n1")),
    line(OCTOBER, "2026-10-01T00:00:00Z,2026-10-02T00:00:00Z", "192.00", ("H100", "n1")),
    "",
])  # fmt: skip
JOBS = """\
job,team,node,start,end,gpus,used,outcome
v9,vision,n1,2026-09-01T00:00:00Z,2026-09-01T10:00:00Z,4,2,completed
s9,speech,n1,2026-09-01T00:00:00Z,2026-09-01T10:00:00Z,2,1.6,completed
v10,vision,n1,2026-10-01T00:00:00Z,2026-10-01T05:00:00Z,4,3,completed
s10,speech,n1,2026-10-01T00:00:00Z,2026-10-01T10:00:00Z,1,0.8,completed
f10,speech,n1,2026-10-01T00:00:00Z,2026-10-01T10:00:00Z,1,0.8,failed
x10,speech,n1,2026-10-01T12:00:00Z,2026-10-01T22:00:00Z,1,0,node_fail
b10,bio,n1,2026-10-01T00:00:00Z,2026-10-01T10:00:00Z,1,1,completed
"""
NODES = """\
node,meter,start,end,amount
n1,gpu,2026-09-01T00:00:00Z,2026-09-02T00:00:00Z,8
n1,gpu,2026-10-01T00:00:00Z,2026-10-02T00:00:00Z,8
"""
SETTINGS = """\
[project]
name = "measured"

[[sources]]
name = "acme"
kind = "focus"
path = "acme.csv"

[[sources]]
name = "jobs"
kind = "usage"
path = "jobs.csv"
time_zone = "UTC"
columns = { workload = "job", resource = "node", start = "start", end = "end", outcome = "outcome" }
meters = { gpu = "gpus" }
used_meters = { gpu = "used" }
labels = { team = "team" }

[[sources]]
name = "nodes"
kind = "usage"
records = "capacity"
path = "nodes.csv"
time_zone = "UTC"
columns = { resource = "node", meter = "meter", start = "start", end = "end", amount = "amount" }
"""
POLICY = """\
policy: measured
effective: 2026-09-01
currency: USD
time_zone: UTC
teams: {vision: {department: r}, speech: {department: r}, bio: {department: r}}
owners: [{when: {team: "*"}, team: "{team}"}]
pools:
  big: {costs: {ServiceName: H100}, usage: {node: n1}, meter: gpu, method: capacity_rate, idle: central}
"""


def write_measured(folder: Path) -> Path:
    texts = {
        "apportion.toml": SETTINGS,
        "policy.yaml": POLICY,
        "acme.csv": BILL,
        "jobs.csv": JOBS,
        "nodes.csv": NODES,
    }
    for name, text in texts.items():
        (folder / name).write_text(text, "utf-8")
    return folder
