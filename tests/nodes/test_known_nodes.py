"""A node that only another month knows keeps its money; what nobody knows as a node is spread, and told."""

from decimal import Decimal
from pathlib import Path

from apportion.model.times import Period
from apportion.verbs.ingest import ingest
from apportion.verbs.plan import compute
from apportion.verbs.project import Project, open_project
from apportion.verbs.world import pins_of

HEAD = (
    "ChargePeriodStart,ChargePeriodEnd,BillingPeriodStart,BillingPeriodEnd,BillingAccountId,BillingCurrency,ChargeCategory,"
    "InvoiceIssuerName,ServiceName,ServiceCategory,ResourceId,BilledCost,EffectiveCost,Tags\n"
)
DAY = (
    "2026-10-05T00:00:00Z,2026-10-06T00:00:00Z,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,1,USD,Usage,Nimbus,VM,Compute"
)
BILL = HEAD + "".join(f"{DAY},{node},{cost},{cost},{{}}\n" for node, cost in {"m1": 100, "m2": 900, "vol-1": 8}.items())
OCTOBER = "job,node,from,until,gpus,team\n1,m1,2026-10-05T00:00:00Z,2026-10-05T02:00:00Z,1,vision\n"
NOVEMBER = "job,node,from,until,gpus,team\n2,m2,2026-11-05T00:00:00Z,2026-11-05T02:00:00Z,1,speech\n"
SOURCE = """\
[[sources]]
name = "%s"
kind = "usage"
path = "%s.csv"
window = "%s"
columns = { workload = "job", resource = "node", start = "from", end = "until" }
meters = { gpu = "gpus" }
labels = { team = "team" }
"""
SETTINGS = '[project]\nname = "p"\n[[sources]]\nname = "cloud"\nkind = "focus"\npath = "bill.csv"\n'
POLICY = """\
policy: p
effective: 2026-10-01
currency: USD
time_zone: UTC
owners:
  - {when: {team: "*"}, team: "{team}"}
pools:
  vms: {costs: {ServiceName: VM}, usage: {team: "*"}, meter: gpu, method: proportional, scope: resource}
"""


def make(folder: Path, *months: tuple[str, str, str]) -> Project:
    settings = SETTINGS + "".join(SOURCE % (name, name, window) for name, window, _ in months)
    files = {"bill.csv": BILL, "policy.yaml": POLICY, "apportion.toml": settings}
    for name, text in (files | {f"{name}.csv": rows for name, _, rows in months}).items():
        (folder / name).write_text(text, encoding="utf-8")
    ingest(open_project(folder))
    return open_project(folder)


def october(project: Project) -> tuple[dict[str, Decimal], list[tuple[str, int, Decimal]]]:
    plan = compute(project, Period(2026, 10), project.policy, pins_of(project)).plan
    owed: dict[str, Decimal] = {}
    for row in plan.postings.to_pylist():
        owed[row["team"]] = owed.get(row["team"], Decimal(0)) + row["amount"]
    return owed, [(finding.code, finding.rows, finding.money) for finding in plan.findings]


def test_money_of_a_node_that_november_knows_stays_there(tmp_path: Path) -> None:
    project = make(tmp_path, ("october", "2026-10", OCTOBER), ("november", "2026-11", NOVEMBER))
    assert october(project) == (
        {"vision": Decimal(108), "_unallocated": Decimal(900)},
        [("untied-resource", 1, Decimal(8))],
    )


def test_money_of_what_no_month_knows_is_spread_and_told(tmp_path: Path) -> None:
    project = make(tmp_path, ("october", "2026-10", OCTOBER))
    assert october(project) == ({"vision": Decimal(1008)}, [("untied-resource", 2, Decimal(908))])


def test_each_currency_has_its_own_share(tmp_path: Path) -> None:
    """Next to nothing of the dollars, and all of the euros: the euros count."""
    project = make(tmp_path, ("october", "2026-10", OCTOBER), ("november", "2026-11", NOVEMBER))
    euros = f"{DAY.replace('USD', 'EUR').replace('Nimbus', 'Cirrus')},vol-2,500,500,{{}}\n"
    (tmp_path / "bill.csv").write_text(BILL.replace(",8,8,", ",0.01,0.01,") + euros, encoding="utf-8")
    ingest(project)
    plan = compute(project, Period(2026, 10), project.policy, pins_of(project)).plan
    assert [(one.code, one.money, one.currency, one.share) for one in plan.findings] == [
        ("untied-resource", Decimal(500), "EUR", Decimal(1))
    ]
