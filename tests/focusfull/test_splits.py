"""Charges that a vendor split: the parts carry the money and name whom they are for; the charge beside them is refused."""

import json
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import apportion
from apportion.cli.main import main
from apportion.errors import InputError
from apportion.sources.bills import spool
from tests.conftest import LONG
from tests.focusfull import samples
from tests.sources import making

COSTS = samples.COSTS
POLICY = """\
policy: vendor-split
effective: 2026-10-01
currency: USD
time_zone: UTC
teams: {vision: {}, speech: {}, platform: {}}
owners:
  - {when: {allocated.team: "*"}, team: "{allocated.team}"}
  - {when: {line_type: Unallocated}, team: platform}
pools:
  split: {costs: {AllocatedMethodId: "*"}, method: direct}
  rest: {costs: otherwise, method: fixed, shares: {platform: 100}}
"""


def part(amount: str, ratio: str, resource: str = "", team: str = "") -> dict[str, str]:
    return {
        **dict.fromkeys(COSTS, amount), "AllocatedMethodId": "by-request", "AllocatedResourceId": resource,
        "AllocatedMethodDetails": json.dumps({"Elements": [{"AllocatedRatio": 0}]}).replace("0", ratio),
        "AllocatedTags": json.dumps({"team": team}) if team else "",
    }  # fmt: skip


WHOLE = {**dict.fromkeys(COSTS, "10.00"), "AllocatedMethodId": "", "AllocatedResourceId": ""}
PARTS = [
    part("5.000", "0.5", "pod-1", "vision"),
    part("3.00", "0.3", "pod-2", "speech"),
    part("2", "0.2"),
]


def test_parts_carry_the_money_and_the_tags_of_whom_they_are_for(tmp_path: Path) -> None:
    (delivery,) = making.read_bill(tmp_path, making.bill_text(*PARTS, {**WHOLE, "ResourceId": "node-2"}))
    first, _, idle, other = making.lines([delivery])
    assert making.codes(delivery) == []
    assert (first["line_type"], idle["line_type"], other["line_type"]) == ("Allocated", "Unallocated", None)
    assert first["Tags"] == [("allocated.team", "vision"), ("team", "vision")]
    assert idle["Tags"] == other["Tags"] == [("team", "vision")]
    assert making.total([delivery]) == 20


def test_a_charge_beside_its_parts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        making.read_bill(tmp_path, making.bill_text(*PARTS, WHOLE))
    assert (caught.value.code, caught.value.where) == ("charge-and-parts", "bill.csv:2")
    making.put(tmp_path / "b/1.csv", making.bill_text(*PARTS))
    making.put(tmp_path / "b/2.csv", making.bill_text({**PARTS[0], **WHOLE, "AllocatedTags": ""}))
    with pytest.raises(InputError) as caught:
        making.read("focus", tmp_path, path="b")
    assert (caught.value.code, caught.value.where) == ("charge-and-parts", "b/1.csv:2")


def test_a_charge_is_found_among_lines_that_lie_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spool, "IN_MEMORY", 2)
    rows = [*PARTS, *({**WHOLE, "ResourceId": f"other-{number}"} for number in range(5))]
    assert making.total(making.read_bill(tmp_path, making.bill_text(*rows, {"InvoiceId": "7"}))) == 70
    with pytest.raises(InputError, match="would count twice"):
        making.read_bill(tmp_path, making.bill_text(*rows, WHOLE))


@settings(max_examples=25 if LONG else 12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    charges=st.lists(st.lists(st.integers(1, 10**6), min_size=2, max_size=5), min_size=1, max_size=4),
    both=st.booleans(),
    chance=st.randoms(use_true_random=False),
)
def test_any_charge_beside_its_parts_is_found(
    charges: list[list[int]], both: bool, chance: Random, tmp_path: Path
) -> None:
    rows = []
    for number, amounts in enumerate(charges):
        node = {"ResourceId": f"node-{number}"}
        rows += [
            {**part(str(Decimal(amount) / 1000), "1", f"pod-{pod}"), **node, "AllocatedMethodDetails": ""}
            for pod, amount in enumerate(amounts)
        ]
        whole = str(Decimal(sum(amounts)) / 1000)
        if both and number == len(charges) - 1:
            rows.append({**WHOLE, **dict.fromkeys(COSTS, whole), **node})
        rows.append({**WHOLE, **dict.fromkeys(COSTS, whole), "ResourceId": f"other-{number}"})
    chance.shuffle(rows)
    text = making.bill_text(*rows)
    if not both:
        assert making.total(making.read_bill(tmp_path, text)) == sum(Decimal(row["EffectiveCost"]) for row in rows)
        return
    with pytest.raises(InputError, match="would count twice"):
        making.read_bill(tmp_path, text)


def test_a_split_with_a_part_missing_is_told(tmp_path: Path) -> None:
    (delivery,) = making.read_bill(tmp_path, making.bill_text(*PARTS[:2]))
    (problem,) = delivery.problems
    assert (problem.code, problem.where) == ("broken-split", "bill.csv:2")
    assert "add up to 0.8 of it" in problem.message


@pytest.mark.parametrize("scenario", ["equal", "negative", "weighted"])
def test_the_toolkits_scenarios_made_whole_bills(scenario: str, tmp_path: Path) -> None:
    rows = samples.rows_of(samples.needed() / samples.TOOLKIT / f"scenarios_sca_{scenario}.csv")
    bill = [{**row, **dict.fromkeys(COSTS, row["BilledCost"])} for row in rows]
    (delivery,) = making.read_bill(tmp_path, making.bill_text(*bill))
    assert making.codes(delivery) == []
    assert making.total([delivery]) == Decimal(str(rows[0]["x_SplitOriginCost"]))
    origin = {**bill[0], **dict.fromkeys(COSTS, rows[0]["x_SplitOriginCost"]), "AllocatedMethodId": ""}
    with pytest.raises(InputError) as caught:
        making.read_bill(tmp_path, making.bill_text(*bill, origin))
    assert caught.value.code == "charge-and-parts"


def test_a_vendors_split_is_charged_directly_and_its_idle_part_is_seen(tmp_path: Path) -> None:
    making.put(tmp_path / "bill.csv", making.bill_text(*PARTS))
    making.put(
        tmp_path / "apportion.toml",
        '[project]\nname = "split"\n[[sources]]\nname = "bill"\nkind = "focus"\npath = "bill.csv"\n',
    )
    making.put(tmp_path / "policy.yaml", POLICY)
    project = apportion.open_project(tmp_path)
    apportion.ingest(project)
    planned = apportion.plan(project, "2026-10")
    owed = {row["team"]: row["amount"] for row in planned.plan.postings.to_pylist()}
    assert owed == {"vision": 5, "speech": 3, "platform": 2}


def test_a_formula_in_a_tag_stays_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    formula = '=cmd|" /C calc"!A0'
    making.put(tmp_path / "bill.csv", making.bill_text({"Tags": json.dumps({"team": formula})}))
    making.put(
        tmp_path / "apportion.toml",
        '[project]\nname = "f"\n[[sources]]\nname = "bill"\nkind = "focus"\npath = "bill.csv"\n',
    )
    policy = POLICY.replace('allocated.team: "*"}, team: "{allocated.team}"', 'tag.team: "*"}, team: "{tag.team}"')
    making.put(tmp_path / "policy.yaml", policy.replace('AllocatedMethodId: "*"', 'ServiceName: "*"'))
    project = apportion.open_project(tmp_path)
    apportion.ingest(project)
    (line,) = project.books.scan("cost_lines").to_pylist()
    assert dict(line["Tags"])["team"] == formula
    apportion.plan(project, "2026-10")
    apportion.apply(project, "2026-10")
    with pytest.raises(SystemExit):
        main(["--project", str(tmp_path), "report", "showback", "--period", "2026-10", "-o", "csv"])
    written = capsys.readouterr().out
    assert "'=cmd" in written
    assert ",=cmd" not in written
    assert '"=cmd' not in written
