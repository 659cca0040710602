"""Drawn sites from inventory to report: nothing is lost on the way, nothing is mixed, and energy is paid once."""

import json
from collections import defaultdict
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from apportion.engine.charges import charges_of
from apportion.errors import ApportionError, BooksError
from apportion.model.currencies import CARBON, ENERGY
from apportion.render.formats import render
from apportion.render.sheet import report_sheet
from apportion.sources.tco import read
from apportion.verbs.apply import apply
from apportion.verbs.explain import explain
from apportion.verbs.ingest import ingest
from apportion.verbs.minor_units import read_posted
from apportion.verbs.plan import plan
from apportion.verbs.project import Project, open_project
from apportion.verbs.report import report
from tests.power.making import World, iso

SETTINGS = """\
[project]
name = "power"

[[sources]]
name = "own"
kind = "tco"
path = "inventory.yaml"
time_zone = "{zone}"
since = "{period}"
until = "{period}"

[[sources]]
name = "jobs"
kind = "usage"
path = "usage/jobs.csv"
time_zone = "UTC"
columns = {{ workload = "job", resource = "node", start = "start", end = "end" }}
meters = {{ gpu = "gpus" }}
labels = {{ team = "team" }}

[[sources]]
name = "nodes"
kind = "usage"
records = "capacity"
path = "usage/nodes.csv"
time_zone = "UTC"
columns = {{ resource = "node", meter = "meter", start = "start", end = "end", amount = "amount" }}
"""
POLICY = """\
policy: power
effective: {period}-01
currency: EUR
time_zone: {zone}
teams: {{vision: {{}}, speech: {{}}, office: {{}}}}
owners:
  - {{when: {{team: "*"}}, team: "{{team}}"}}
pools:
  power:
    costs: {{component: energy}}
    usage: {{node: "n*"}}
    meter: gpu
    method: capacity_rate
    slot: day
    idle: central
adjustments:
  - {{team: vision, percent: -50, sponsor: office, why: "moving in"}}
  - {{team: speech, cap: "0.01", sponsor: office, why: "first month"}}
"""
UTILITY = """\
InvoiceIssuerName,BillingAccountId,BillingPeriodStart,BillingPeriodEnd,ChargePeriodStart,ChargePeriodEnd,ChargeCategory,BilledCost,EffectiveCost,BillingCurrency,ServiceName
Utility,7,{start},{end},{start},{end},Usage,99,99,EUR,Electricity
"""


def write_project(folder: Path, seed: int) -> tuple[World, str]:
    world = World(seed, folder, whole=True)
    period = f"{datetime.fromtimestamp(world.month.start_s, world.zone):%Y-%m}"
    start, end = iso(world.month.start_s), iso(world.month.end_s)
    middle = iso((world.month.start_s + world.month.end_s) // 2)
    jobs = [f"j1,vision,n0,{start},{middle},4", f"j2,speech,n0,{middle},{end},6"]
    capacity = [f"{node.name},gpu,{start},{end},8" for node in world.nodes]
    world.document["nodes"] = [
        node.name for node in world.nodes
    ]  # the inventory has no assets: they are there all month
    files = {
        "apportion.toml": SETTINGS.format(zone=world.zone, period=period),
        "policy.yaml": POLICY.format(zone=world.zone, period=period),
        "inventory.yaml": json.dumps({"inventory": "halls", "currency": "EUR", "facility": world.document}),
        "usage/jobs.csv": "\n".join(["job,team,node,start,end,gpus", *jobs]) + "\n",
        "usage/nodes.csv": "\n".join(["node,meter,start,end,amount", *capacity]) + "\n",
        "bills/utility.csv": UTILITY.format(start=start, end=end),
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return world, period


def expected(world: World) -> dict[str, Fraction]:
    """The month of the whole site, if every node is there all month; within a nano for each node and kind."""
    sums: dict[str, Fraction] = defaultdict(Fraction)
    for node in world.nodes:
        for q in world.quarters:
            kwh = world.kw[node.name, q] / 4 * world.pue[q]
            for unit, each in ((ENERGY, Fraction(1)), ("EUR", world.price[q]), (CARBON, world.grams[q])):
                sums[unit] += kwh * each
    return sums


def by(table: Any, *keys: str) -> dict[tuple[str, ...], Decimal]:
    found = table.group_by(list(keys)).aggregate([("amount", "sum")]).to_pylist()
    return {tuple(row[key] for key in keys): row["amount_sum"] for row in found}


@pytest.fixture(scope="module", params=[1, 4])
def posted(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[World, str, Project]:
    folder = tmp_path_factory.mktemp(f"site{request.param}")
    world, period = write_project(folder, request.param)
    project = open_project(folder)
    ingest(project)
    plan(project, period)
    apply(project, period)
    return world, period, project


def test_what_was_drawn_is_what_is_posted_in_every_unit(posted: tuple[World, str, Project]) -> None:
    world, period, project = posted
    sums = {currency: amount for (currency,), amount in by(project.books.posted(period), "currency").items()}
    truth = expected(world)
    assert sums.keys() == truth.keys()
    for unit, amount in truth.items():
        assert abs(Fraction(sums[unit]) - amount) <= 2 * len(world.nodes) * Fraction(1, 10**9), unit
    lines = project.books.scan("cost_lines")
    for unit, posted_amount in sums.items():
        own = lines.filter(pc.equal(lines["BillingCurrency"], unit))
        assert sum(own["EffectiveCost"].to_pylist()) == posted_amount


def test_adjustments_and_caps_move_money_alone(posted: tuple[World, str, Project]) -> None:
    _, period, project = posted
    found = by(project.books.posted(period), "currency", "team", "reason")
    assert {currency for currency, _, reason in found if reason in ("adjustment", "subsidy")} == {"EUR"}
    for unit in (CARBON, ENERGY):
        assert ("office",) not in {key[1:2] for key in found if key[0] == unit}
        grams = {team: amount for (currency, team, _), amount in found.items() if currency == unit}
        whole = sum(grams.values())
        assert grams["vision"] > 0
        assert grams["_idle"] > whole / 4, "8 GPUs stood there, and 4 to 6 were held"


def test_charges_of_workloads_add_up_in_every_unit(posted: tuple[World, str, Project]) -> None:
    _, period, project = posted
    made = plan(project, period)
    charges: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for batch in charges_of(made.plan):
        for row in batch.to_pylist():
            charges[row["bill"], row["team"]] += row["amount"]
    usage = made.plan.postings.filter(pc.equal(made.plan.postings["reason"], "usage"))
    assert charges == by(usage, "bill", "team")


def test_the_report_of_carbon_says_what_is_posted(posted: tuple[World, str, Project]) -> None:
    world, period, project = posted
    value = json.loads(render(report_sheet(report(project, "carbon", period)), "json"))
    table = by(read_posted(project, period), "currency", "team")
    bills = by(read_posted(project, period), "currency", "team", "bill")
    for row in value["rows"]:
        team = row["owner"]
        assert Decimal(row["amount"]) == table[CARBON, team]
        assert Decimal(row["energy"]) == pytest.approx(table[ENERGY, team], abs=Decimal("0.000001"))
        assert Decimal(row["carbon"]) * 1000 == pytest.approx(table[CARBON, team], abs=Decimal("0.001"))
        mean = table[CARBON, team] / table[ENERGY, team]
        assert Decimal(row["intensity"]) == pytest.approx(mean, abs=Decimal("0.00001"))
        guessed = bills.get((CARBON, team, f"hall (estimated) {period} {CARBON}"), Decimal(0))
        assert Decimal(row["estimated"]) == pytest.approx(guessed / table[CARBON, team], abs=Decimal("0.00001"))
    assert {row["owner"] for row in value["rows"]} == {team for unit, team in table if unit == CARBON}
    if "modelled" in world.document["energy"]:
        assert {Decimal(row["estimated"]) for row in value["rows"]} == {1}


def test_money_stays_where_programs_look_for_it(posted: tuple[World, str, Project]) -> None:
    _, period, project = posted
    value = json.loads(render(report_sheet(report(project, "showback", period)), "json"))
    assert value["currency"] == "EUR"
    assert [part["currency"] for part in value["currencies"]] == ["EUR", CARBON, ENERGY]
    money = by(read_posted(project, period), "currency")["EUR",]
    assert Decimal(value["bill"]) == money == sum(Decimal(row["amount"]) for row in value["rows"])


def test_explanations_add_no_unit_to_another(posted: tuple[World, str, Project]) -> None:
    _, period, project = posted
    story = explain(project, "vision", period)
    posted_sums = by(project.books.posted(period), "currency", "team")
    assert {figure.currency: figure.planned for figure in story.figures} == {
        unit: amount for (unit, team), amount in posted_sums.items() if team == "vision"
    }
    roundings = [step.facts for step in story.steps if step.text.startswith("rounding")]
    assert {fact["currency"]: fact["posted"] for fact in roundings} == {
        figure.currency: figure.planned for figure in story.figures
    }


def test_a_second_price_for_the_same_electricity_is_refused_unless_it_is_a_reference(tmp_path: Path) -> None:
    _, period = write_project(tmp_path, 2)
    toml = tmp_path / "apportion.toml"
    stanza = '\n[[sources]]\nname = "utility"\nkind = "focus"\npath = "bills/utility.csv"\nelectricity_of = "hall"\n'
    toml.write_text(toml.read_text() + stanza)
    with pytest.raises(BooksError) as error:
        ingest(open_project(tmp_path))
    assert error.value.code == "scope-overlap"
    assert "electricity of hall" in error.value.message
    toml.write_text(toml.read_text() + 'role = "reference"\n')
    project = open_project(tmp_path)
    ingest(project)
    assert {bill.issuer for bill in plan(project, period).bills} <= {"Own hardware", "hall", "hall (estimated)"}


def test_without_a_tariff_the_utility_is_the_money(tmp_path: Path) -> None:
    world, period = write_project(tmp_path, 2)
    world.document.pop("tariff")
    inventory = {"inventory": "halls", "currency": "EUR", "facility": world.document}
    (tmp_path / "inventory.yaml").write_text(json.dumps(inventory))
    toml = tmp_path / "apportion.toml"
    stanza = '\n[[sources]]\nname = "utility"\nkind = "focus"\npath = "bills/utility.csv"\nelectricity_of = "hall"\n'
    toml.write_text(toml.read_text() + stanza)
    project = open_project(tmp_path)
    ingest(project)
    made = plan(project, period)
    sums = {currency: amount for (currency,), amount in by(made.plan.postings, "currency").items()}
    assert sums["EUR"] == 99
    assert sums[CARBON] > 0


def test_a_vendors_carbon_export_is_a_bill_of_its_own(tmp_path: Path) -> None:
    write_project(tmp_path, 2)
    (tmp_path / "bills/utility.csv").write_text(
        (tmp_path / "bills/utility.csv").read_text().replace(",EUR,", ",gCO2e,")
    )
    toml = tmp_path / "apportion.toml"
    toml.write_text(
        toml.read_text() + '\n[[sources]]\nname = "c"\nkind = "focus"\npath = "bills"\ncurrency = "gCO2e"\n'
    )
    project = open_project(tmp_path)
    ingest(project)
    lines = project.books.scan("cost_lines")
    own = lines.filter(pc.equal(lines["source"], "c"))
    assert own.select(["BillingCurrency", "EffectiveCost", "problem"]).to_pylist() == [
        {"BillingCurrency": "gCO2e", "EffectiveCost": Decimal(99), "problem": None}
    ]


def test_what_making_a_node_emitted_is_spread_over_its_life_and_shared_as_its_money_is(tmp_path: Path) -> None:
    asset = {"id": "a", "kind": "server", "node": "x9", "price": "365", "bought": "2026-01-01", "life_months": "12"}
    inventory = {"inventory": "halls", "currency": "EUR", "assets": [asset | {"embodied_kg": "1.46"}]}
    (tmp_path / "inventory.yaml").write_text(json.dumps(inventory))
    settings = {"name": "own", "kind": "tco", "path": "inventory.yaml", "since": "2026-02", "until": "2026-02"}
    delivery = next(iter(read(settings, tmp_path)))
    lines = {row["BillingCurrency"]: row for row in delivery.tables["cost_lines"].to_pylist()}
    assert {currency: row["EffectiveCost"] for currency, row in lines.items()} == {"EUR": 28, CARBON: 28 * 4}
    same = ("ServiceName", "component", "ResourceId", "charge_start_s", "charge_end_s", "Tags", "ChargeCategory")
    assert len({str([row[name] for name in same]) for row in lines.values()}) == 1
    assert lines[CARBON]["ChargeDescription"].startswith("Embodied carbon in grams of a, straight line: ")


def test_nodes_of_no_site_are_listed(tmp_path: Path) -> None:
    world, _ = write_project(tmp_path, 2)
    asset = {"id": "a", "kind": "server", "node": "x9", "price": "1", "bought": "2026-01-01", "life_months": "12"}
    inventory = {"inventory": "halls", "currency": "EUR", "assets": [asset], "facility": world.document}
    (tmp_path / "inventory.yaml").write_text(json.dumps(inventory))
    read = ingest(open_project(tmp_path))
    assert "no-site" in str(read)


def test_a_wrong_facility_names_its_place(tmp_path: Path) -> None:
    write_project(tmp_path, 2)
    text = "inventory: halls\ncurrency: EUR\nfacility:\n  name: hall\n  tarif: 1\n  energy: {modelled: {idle_watts: 1, full_watts: 2}}\n"
    (tmp_path / "inventory.yaml").write_text(text)
    with pytest.raises(ApportionError) as error:
        ingest(open_project(tmp_path))
    assert error.value.code == "unknown-setting"
    assert error.value.where.startswith("inventory.yaml:4")
