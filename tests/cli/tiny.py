"""A project small enough to check by hand.

One node with 8 GPUs costs 240.00 on one day: 10.00 an hour, 1.25 a GPU-hour. vision holds 4 GPUs for 12 h (60.00), speech 8 GPUs for 6 h in two attempts
(60.00), somebody unknown 1 GPU for 2 h (2.50); the rest of the day is idle (117.50). Support of 30.00 follows what the two teams were charged.
"""

from pathlib import Path

HEAD = (
    "InvoiceIssuerName,BillingAccountId,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,"
    "BilledCost,EffectiveCost,ListCost,ContractedCost,BillingCurrency,ServiceName,ServiceCategory,ResourceId,ChargeDescription,Tags"
)
MONTH = "2026-10-01T00:00:00Z,2026-11-01T00:00:00Z"
DAY = "2026-10-01T00:00:00Z,2026-10-02T00:00:00Z"
NODE = f"Acme,1,{MONTH},{DAY},Usage,240.00,240.00,240.00,240.00,USD,GPU Compute,Compute,n1,one day of a node,"
SUPPORT = f"Acme,1,{MONTH},{MONTH},Usage,30.00,30.00,30.00,30.00,USD,Support,Other,,support,"
BILL = f"{HEAD}\n{NODE}\n{SUPPORT}\n"

JOBS = """\
job,run,team,user,node,start,end,gpus,state
j1,j1,vision,ann,n1,2026-10-01T00:00:00Z,2026-10-01T12:00:00Z,4,COMPLETED
j2.1,j2,speech,bob,n1,2026-10-01T12:00:00Z,2026-10-01T14:00:00Z,8,FAILED
j2.2,j2,speech,bob,n1,2026-10-01T14:00:00Z,2026-10-01T18:00:00Z,8,COMPLETED
j3,j3,,,n1,2026-10-01T18:00:00Z,2026-10-01T20:00:00Z,1,COMPLETED
"""
NODES = """\
node,meter,start,end,amount,state
n1,gpu,2026-10-01T00:00:00Z,2026-10-02T00:00:00Z,8,up
"""
SETTINGS = """\
[project]
name = "tiny"

[[sources]]
name = "acme"
kind = "focus"
path = "bills/acme.csv"

[[sources]]
name = "jobs"
kind = "usage"
path = "usage/jobs.csv"
time_zone = "UTC"
columns = { workload = "job", run = "run", resource = "node", start = "start", end = "end", outcome = "state" }
meters = { gpu = "gpus" }
labels = { team = "team", user = "user" }

[[sources]]
name = "nodes"
kind = "usage"
records = "capacity"
path = "usage/nodes.csv"
time_zone = "UTC"
columns = { resource = "node", meter = "meter", start = "start", end = "end", amount = "amount", state = "state" }
"""
POLICY = """\
policy: tiny
effective: 2026-10-01
currency: USD
time_zone: UTC
teams:
  vision: {department: research, cost_centre: "1"}
  speech: {department: research, cost_centre: "2"}
carried_by: {_idle: vision}
owners:
  - {when: {team: "*"}, team: "{team}", user: "{user}"}
pools:
  gpu:
    costs: {ServiceName: "GPU*"}
    meter: gpu
    method: capacity_rate
    idle: central
  rest: {costs: otherwise, by: cost, over: all}
"""


def write_tiny(folder: Path) -> Path:
    files = {
        "apportion.toml": SETTINGS,
        "policy.yaml": POLICY,
        "bills/acme.csv": BILL,
        "usage/jobs.csv": JOBS,
        "usage/nodes.csv": NODES,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    return folder


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")
