"""From a bill and two logs to the three lists, the showback and what `check` says; figures from the files' own text."""

import csv
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from apportion.cli.main import main
from apportion.reports.report import Report
from apportion.verbs.apply import apply
from apportion.verbs.check import Checked, check
from apportion.verbs.ingest import ingest
from apportion.verbs.nodes import nodes
from apportion.verbs.plan import plan
from apportion.verbs.project import Project, open_project
from apportion.verbs.report import report

DAY = "2026-10-05T00:00:00Z,2026-10-06T00:00:00Z"
BILL = f"""\
ChargePeriodStart,ChargePeriodEnd,BillingPeriodStart,BillingPeriodEnd,BillingAccountId,BillingCurrency,ChargeCategory,InvoiceIssuerName,ServiceName,ServiceCategory,ResourceId,BilledCost,EffectiveCost,Tags
{DAY},2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,1,USD,Usage,Nimbus,VM,Compute,arn:aws:ec2:r:1:instance/i-0a1b,96.000000000000000001,96.000000000000000001,{{}}
{DAY},2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,1,USD,Usage,Nimbus,VM,Compute,i-0b2c,240,240,"{{""private_ip"": ""10.0.0.7""}}"
{DAY},2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,1,USD,Usage,Nimbus,VM,Compute,i-0fff,12.50,12.50,"{{""Name"": ""h100-03""}}"
{DAY},2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,1,USD,Usage,Nimbus,VM,Compute,,4,4,{{}}
{DAY},2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,1,USD,Usage,Nimbus,Disk,Storage,vol-1,7,7,{{}}
"""
CAPACITY = """\
node,from,until,gpus,cloud,address
h100-1,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,8,aws:///ra/i-0a1b,
h100-2,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,8,,10.0.0.7
h100-3,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,8,,
"""
JOBS = """\
job,node,from,until,gpus,team
1,h100-1,2026-10-05T00:00:00Z,2026-10-06T00:00:00Z,8,vision
2,h100-2,2026-10-05T00:00:00Z,2026-10-06T00:00:00Z,8,speech
3,h100-3,2026-10-05T00:00:00Z,2026-10-05T06:00:00Z,8,bio
"""
SETTINGS = """\
[project]
name = "p"
[[sources]]
name = "cloud"
kind = "focus"
path = "bill.csv"
[[sources]]
name = "nodes"
kind = "usage"
path = "capacity.csv"
records = "capacity"
window = "2026-10"
columns = { resource = "node", start = "from", end = "until" }
meters = { gpu = "gpus" }
labels = { provider_id = "cloud", ip = "address" }
[[sources]]
name = "jobs"
kind = "usage"
path = "jobs.csv"
window = "2026-10"
columns = { workload = "job", resource = "node", start = "from", end = "until" }
meters = { gpu = "gpus" }
labels = { team = "team" }
"""
POLICY = """\
policy: p
effective: 2026-10-01
currency: USD
time_zone: UTC
owners:
  - {when: {team: "*"}, team: "{team}"}
%s
pools:
  h100: {costs: {ServiceName: VM}, usage: {node: "h100-*"}, meter: gpu, method: proportional, scope: resource}
  disks: {costs: {ServiceName: Disk}, method: fixed, shares: {bio: 100}}
"""
RULE = 'nodes: [{when: {tag.Name: "h100-0*"}, node: "h100-3"}]'


def make(folder: Path, rules: str = "", bill: str = BILL) -> Project:
    files = {"bill.csv": bill, "capacity.csv": CAPACITY, "jobs.csv": JOBS, "apportion.toml": SETTINGS}
    for name, text in (files | {"policy.yaml": POLICY % rules}).items():
        (folder / name).write_text(text, encoding="utf-8")
    project = open_project(folder)
    ingest(project)
    return open_project(folder)


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return make(tmp_path_factory.mktemp("read"))


def rows(made: Report) -> Iterator[dict[str, object]]:
    yield from made.to_arrow().to_pylist()


def listed(made: Report, name: str) -> dict[object, tuple[object, object]]:
    return {row["instance"] or row["node"] or "": (row["node"], row["by"]) for row in rows(made) if row["list"] == name}


def compute_money() -> Decimal:
    return sum(
        (
            Decimal(row["EffectiveCost"])
            for row in csv.DictReader(BILL.splitlines())
            if row["ServiceCategory"] == "Compute"
        ),
        Decimal(0),
    )


def of_nodes(checked: Checked) -> list[str]:
    return [f"{one.text}: {one.fix}" for one in checked.checks if one.what == "nodes"]


def test_what_is_tied_what_has_no_node_and_what_has_no_money(read: Project) -> None:
    made = nodes(read, "2026-10")
    arn = "arn:aws:ec2:r:1:instance/i-0a1b"
    assert listed(made, "tied") == {arn: ("h100-1", "instance id i-0a1b"), "i-0b2c": ("h100-2", "ip 10.0.0.7")}
    assert listed(made, "no node") == {"i-0fff": ("", ""), "": ("", "")}
    assert listed(made, "no money") == {"h100-3": ("h100-3", None)}
    notes = {row["instance"]: row["note"] for row in rows(made) if row["list"] == "no node"}
    assert notes[""] == "names no instance"
    assert notes["i-0fff"] == "tried instance id i-0fff, hostname i-0fff, hostname h100-03"
    (unpaid,) = [row for row in rows(made) if row["list"] == "no money"]
    assert (unpaid["unit"], unpaid["used"], unpaid["amount"]) == ("GPU", Decimal(48), 0)
    assert sum((Decimal(str(row["amount"])) for row in rows(made)), Decimal(0)) == compute_money()
    assert made.sections[0].bill == compute_money()


def test_check_names_the_money_and_the_command(read: Project) -> None:
    (finding,) = of_nodes(check(read))
    assert "1 instance with 12.50 USD" in finding
    assert "apportion report nodes --period 2026-10" in finding


def test_a_rule_of_the_policy_ties_the_rest_and_each_job_pays_its_own_machine(tmp_path: Path) -> None:
    project = make(tmp_path, RULE)
    assert listed(nodes(project, "2026-10"), "no money") == {}
    assert of_nodes(check(project)) == []
    plan(project, "2026-10")
    apply(project, "2026-10")
    owed = {row["owner"]: row["amount"] for row in rows(report(project, "showback", "2026-10"))}
    # each machine's own price, and of the 4 USD that name no machine 24, 24 and 6 of 54 node-hours; bio also has the disk
    shares = {"vision": Decimal("96.000000000000000001") + Decimal(4) * 24 / 54, "speech": 240 + Decimal(4) * 24 / 54}
    shares["bio"] = Decimal("12.5") + Decimal(4) * 6 / 54 + 7
    assert all(abs(Decimal(str(owed[team])) - amount) < Decimal("0.01") for team, amount in shares.items())
    assert listed(nodes(project, "2026-10"), "tied")["i-0fff"] == ("h100-3", "rule 1 h100-3"), "as posted"


def test_a_converted_bill_is_listed_in_the_currency_that_it_is_posted_in(tmp_path: Path) -> None:
    (tmp_path / "fx.csv").write_text("day,from,to,rate\n2026-10-30,EUR,USD,1.5\n", encoding="utf-8")
    project = make(tmp_path, "fx: {table: fx.csv, rate: month_end}", BILL.replace("1,USD,", "1,EUR,"))
    made = nodes(project, "2026-10")
    assert [section.currency for section in made.sections] == ["USD"]
    assert {row["instance"]: row["amount"] for row in rows(made)}["i-0b2c"] == 240 * Decimal("1.5")


@pytest.mark.parametrize("form", ["json", "csv", "md", "table"])
def test_every_form_has_all_three_lists(read: Project, form: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--project", str(read.folder), "report", "nodes", "--period", "2026-10", "-o", form])
    out = capsys.readouterr().out
    assert ended.value.code in (0, None)
    assert all(word in out for word in ("no node", "no money", "h100-3", "i-0fff"))
    if form == "json":
        assert len(json.loads(out)["rows"]) == 5
