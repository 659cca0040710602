"""Projects made of traces of real clusters, with a bill of one dollar for each unit-second: then what an owner owes is what it held, to the last digit.

The traces lie beside a development checkout. Some lack an id or an end that a log must have; the query that makes the log says what was added.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb

TRACES = Path(__file__).parents[2] / ".." / "shared" / "data" / "traces"
MISSING = "no ../shared/data/traces beside this checkout"
HEAD = (
    "InvoiceIssuerName,BillingAccountId,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,BilledCost,EffectiveCost,"
    "ListCost,ContractedCost,BillingCurrency,ServiceName,ServiceCategory,ResourceId,ChargeDescription"
)
SETTINGS = """\
[project]
name = "trace"

[[sources]]
name = "bill"
kind = "focus"
path = "bill.csv"
"""
POLICY = """\
policy: trace
effective: {effective}
currency: USD
time_zone: {zone}
owners:
  - {{when: {{team: "*"}}, team: "{{team}}"}}
pools:
  cluster: {{costs: {{ServiceName: Cluster}}, usage: {{resource: "*"}}, {rule}}}
"""


@dataclass(frozen=True)
class Line:
    """Money from one local time until another; `resource` is the node that it names, if any."""

    start: str
    end: str
    amount: Decimal
    resource: str = ""


def facts(trace: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((TRACES / trace / "facts.json").read_text(encoding="utf-8"))
    return found


def write_log(path: Path, query: str, **files: str) -> None:
    """The rows of a query over trace files that it names in braces."""
    named = {name: f"read_parquet('{TRACES / file}')" for name, file in files.items()}
    with duckdb.connect() as connection:
        connection.execute("set timezone = 'UTC'")
        connection.execute(f"copy ({query.format(**named)}) to '{path}' (format parquet)")


def write_project(folder: Path, sources: str, policy: Mapping[str, str], lines: list[Line]) -> Path:
    rows = [
        f"Cluster,1,{line.start},{line.end},{line.start},{line.end},Usage,{','.join([str(line.amount)] * 4)},USD,Cluster,Compute,{line.resource},made"
        for line in lines
    ]
    (folder / "bill.csv").write_text("\n".join([HEAD, *rows, ""]), encoding="utf-8")
    (folder / "apportion.toml").write_text(SETTINGS + sources, encoding="utf-8")
    (folder / "policy.yaml").write_text(POLICY.format(**policy), encoding="utf-8")
    return folder


LISA = """
with steps as (select id, duration, cpu_usage, row_number() over () as n from {steps}),
placed as (select *, sum(duration) over (partition by id order by n) - duration as since from steps)
select id, 'project-' || (id % 50) as project, 'lisa' as cluster, submission_time + since as start, submission_time + since + placed.duration as "end",
  cpu_count as cores, cpu_usage / 2100 as used_cores
from placed join {tasks} using (id)
"""
LISA_SOURCES = """
[[sources]]
name = "tasks"
kind = "usage"
path = "log.parquet"
time = "epoch_ms"
columns = {workload = "id", resource = "cluster", start = "start", end = "end"}
meters = {cpu = "cores"}
used_meters = {cpu = "used_cores"}
labels = {team = "project"}

[[sources]]
name = "hosts"
kind = "usage"
records = "capacity"
path = "hosts.csv"
columns = {resource = "cluster", start = "start", end = "end"}
meters = {cpu = "cores"}
"""


def write_lisa(folder: Path) -> Path:
    """2.3 million usage rows of one week. The trace has no owners: fifty projects by task number are made up."""
    write_log(
        folder / "log.parquet", LISA, steps="surf_lisa/cpu_usage_30s_week.parquet", tasks="surf_lisa/tasks_week.parquet"
    )
    cores = facts("surf_lisa")["tasks_week"]["capacity_units"]
    month = ("2022-10-01T00:00:00Z", "2022-11-01T00:00:00Z")
    (folder / "hosts.csv").write_text(
        f"cluster,cores,start,end\nlisa,{cores},{month[0]},{month[1]}\n", encoding="utf-8"
    )
    policy = {"effective": "2022-10-01", "zone": "Europe/Amsterdam", "rule": "meter: cpu, driver: used"}
    return write_project(folder, LISA_SOURCES, policy, [Line(*month, Decimal(cores * 31 * 86_400))])
