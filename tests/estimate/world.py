"""A small world, checked by hand: the first day of two months.

October: 8 H100 cost 8.00 an hour until noon and 16.00 after it, so that a GPU-hour is 1.00 and then 2.00; vision holds 4 of them from 06:00 to 18:00
(72.00), and bears the 216.00 that stood idle. A L40S is 0.50 by the list, 0.25 for low work. Of the CPU server vision and speech use as much, and
speech's batch work weighs half; a tenth of tax is on it. In September a H100-hour was 1.00 all day. Support follows cost.
"""

from pathlib import Path

from tests.cli.tiny import HEAD

SEPTEMBER = "2026-09-01T00:00:00Z,2026-10-01T00:00:00Z"
OCTOBER = "2026-10-01T00:00:00Z,2026-11-01T00:00:00Z"


def line(month: str, charged: str, cost: str, what: tuple[str, str], kind: str = "Usage") -> str:
    service, node = what
    money = ",".join([cost] * 4)
    return f"Acme,1,{month},{charged},{kind},{money},USD,{service},Compute,{node},{service} {kind},"


BILL = "\n".join([
    HEAD,
    line(SEPTEMBER, "2026-09-01T00:00:00Z,2026-09-02T00:00:00Z", "192.00", ("H100", "n1")),
    line(OCTOBER, "2026-10-01T00:00:00Z,2026-10-01T12:00:00Z", "96.00", ("H100", "n1")),
    line(OCTOBER, "2026-10-01T12:00:00Z,2026-10-02T00:00:00Z", "192.00", ("H100", "n1")),
    line(OCTOBER, "2026-10-01T00:00:00Z,2026-10-02T00:00:00Z", "12.00", ("L40S", "n2")),
    line(OCTOBER, "2026-10-01T00:00:00Z,2026-10-02T00:00:00Z", "19.968", ("CPU", "c1")),
    line(OCTOBER, "2026-10-01T00:00:00Z,2026-11-01T00:00:00Z", "1.9968", ("CPU", ""), "Tax"),
    line(OCTOBER, "2026-10-01T00:00:00Z,2026-11-01T00:00:00Z", "30.00", ("Support", "")),
    "",
])  # fmt: skip
JOBS = """\
job,team,project,node,start,end,gpus,cores,gib,qos,class
s1,vision,seg,n1,2026-09-01T00:00:00Z,2026-09-01T12:00:00Z,4,,,,
j1,vision,seg,n1,2026-10-01T06:00:00Z,2026-10-01T18:00:00Z,4,,,,
j2,speech,asr,n2,2026-10-01T00:00:00Z,2026-10-01T06:00:00Z,4,,,,
j3,speech,asr,c1,2026-10-01T00:00:00Z,2026-10-01T05:00:00Z,,10,20,,batch
j4,vision,seg,c1,2026-10-01T00:00:00Z,2026-10-01T05:00:00Z,,10,20,,
"""
NODES = """\
node,meter,start,end,amount,model
n1,gpu,2026-09-01T00:00:00Z,2026-09-02T00:00:00Z,8,NVIDIA-H100-80GB
n1,gpu,2026-10-01T00:00:00Z,2026-10-02T00:00:00Z,8,NVIDIA-H100-80GB
n2,gpu,2026-10-01T00:00:00Z,2026-10-02T00:00:00Z,4,L40S
c1,cpu,2026-10-01T00:00:00Z,2026-10-02T00:00:00Z,64,
c1,memory,2026-10-01T00:00:00Z,2026-10-02T00:00:00Z,256,
"""
SETTINGS = """\
[project]
name = "small"

[[sources]]
name = "acme"
kind = "focus"
path = "acme.csv"

[[sources]]
name = "jobs"
kind = "usage"
path = "jobs.csv"
time_zone = "UTC"
columns = { workload = "job", resource = "node", start = "start", end = "end" }
meters = { gpu = "gpus", cpu = "cores", memory = "gib" }
labels = { team = "team", project = "project", qos = "qos", class = "class" }

[[sources]]
name = "nodes"
kind = "usage"
records = "capacity"
path = "nodes.csv"
time_zone = "UTC"
columns = { resource = "node", meter = "meter", start = "start", end = "end", amount = "amount" }
labels = { "gpu.model" = "model" }
"""
POLICY = """\
policy: small
effective: 2026-09-01
currency: USD
time_zone: UTC
teams:
  vision: {department: research, cost_centre: "1"}
  speech: {department: research, cost_centre: "2"}
  robots: {department: research, cost_centre: "3"}
owners:
  - {when: {team: "*"}, team: "{team}", project: "{project}"}
pools:
  big: {costs: {ServiceName: H100}, usage: {node: n1}, meter: gpu, method: capacity_rate, idle: proportional}
  small:
    costs: {ServiceName: L40S}
    usage: {node: n2}
    meter: gpu
    method: rate_card
    prices: [{when: {qos: low}, price: 0.25}, {price: 0.5}]
  cpu:
    costs: {ServiceName: CPU}
    usage: {node: c1}
    meter: {cpu: 0.9, memory: 0.1}
    method: capacity_rate
    weights: {class: {batch: 0.5}}
    idle: central
  rest: {costs: otherwise, by: cost, over: all}
adjustments:
  - {when: {qos: preemptible}, percent: -60, sponsor: robots, why: "may be put out"}
quotas:
  - {team: vision, meter: gpu, hours: 100, per: month}
"""


def write_small(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
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
