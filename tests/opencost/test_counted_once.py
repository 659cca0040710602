"""One account seen by its bill, by a cost explorer and by OpenCost: the bill is counted once, and shared by OpenCost's hours."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apportion.cli.main import main
from apportion.model.times import DAY_S, Interval, parse_instant
from tests.opencost import answers as a
from tests.sources import making

HOUR = 3600
ISSUER = "Amazon Web Services, Inc."
ACCOUNT = {"InvoiceIssuerName": ISSUER, "BillingAccountId": "111122223333", "ServiceName": "Amazon EC2", "Tags": ""}
SPENT = {"BilledCost": "800.00", "EffectiveCost": "800.00", "ContractedCost": "800.00", "ListCost": "960.00"}
INVOICE = {
    **ACCOUNT, **SPENT, "ResourceId": "i-node-1", "ChargePeriodStart": "2026-10-05T00:00:00Z", "ChargePeriodEnd": "2026-10-06T00:00:00Z",
}  # fmt: skip
BILL = '[[sources]]\nname = "cur"\nkind = "focus"\npath = "cur.csv"\n'
EXPLORER = '[[sources]]\nname = "explorer"\nkind = "focus"\npath = "explorer.csv"\nrole = "reference"\n'
OPENCOST = '[[sources]]\nname = "opencost"\nkind = "opencost"\npath = "answers"\n'
AS_BILL = f'role = "bill"\nissuer = "{ISSUER}"\n'
POLICY = """\
policy: one-account
effective: 2026-10-01
currency: USD
time_zone: UTC
teams: {vision: {}, speech: {}}
carried_by: {_idle: speech}
owners:
  - {when: {k8s.namespace: "*"}, team: "{k8s.namespace}"}
pools:
  gpu: {costs: {ServiceCategory: Compute}, usage: {node: "node-*"}, meter: gpu, method: capacity_rate}
  rest: {costs: otherwise, by: cost, over: all}
"""
PODS = [  # 4 of 8 GPUs for 12 hours: a quarter; 8 for 6 hours: another
    a.Container("train", gpus=Decimal(4), end=12 * HOUR),
    a.Container("tune", namespace="speech", gpus=Decimal(8), start=12 * HOUR, end=18 * HOUR),
]


def project(base: Path, *stanzas: str, pods: list[a.Container] = PODS) -> Path:
    for name, text in (
        ("apportion.toml", "\n".join(['[project]\nname = "one-account"\n', *stanzas])),
        ("policy.yaml", POLICY),
        ("cur.csv", making.bill_text(INVOICE)),
        ("explorer.csv", making.bill_text({**ACCOUNT, **SPENT, "ResourceId": "", "ChargeDescription": "EC2 by day"})),
        ("answers/allocation.json", json.dumps(a.allocations(pods, a.idle_of(a.node(), pods)))),
        ("answers/assets.json", json.dumps(a.assets(a.node()))),
    ):
        making.put(base / name, text)
    return base


def run(base: Path, *arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["--project", str(base), *arguments])
    return int(stop.value.code or 0)


def posted(base: Path, capsys: pytest.CaptureFixture[str]) -> tuple[Decimal, dict[str, Decimal]]:
    """The bill, and what each owner was posted."""
    for verb in ("ingest", "plan", "apply"):
        assert run(base, verb) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert run(base, "report", "showback", "--period", "2026-10", "-o", "json") == 0
    found: Any = json.loads(capsys.readouterr().out)
    return Decimal(found["bill"]), {row["owner"]: Decimal(row["amount"]) for row in found["rows"]}


def test_three_views_of_one_account_are_one_bill(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bill, owners = posted(project(tmp_path, BILL, EXPLORER, OPENCOST), capsys)
    assert bill == 800
    assert owners == {"vision": 200, "speech": 200, "_idle": 400}


def test_the_order_in_which_they_come_does_not_matter(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bill, owners = posted(project(tmp_path, OPENCOST, EXPLORER, BILL), capsys)
    assert bill == 800
    assert owners["vision"] == 200


def test_opencost_is_the_bill_where_there_is_no_other_and_somebody_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bill, owners = posted(project(tmp_path, OPENCOST + AS_BILL, EXPLORER), capsys)
    node = Decimal("695.04")
    assert bill == node
    assert owners == {"vision": node / 4, "speech": node / 4, "_idle": node / 2}


@pytest.mark.parametrize("stanzas", [(BILL, OPENCOST + AS_BILL), (OPENCOST + AS_BILL, BILL)])
def test_a_second_bill_of_the_account_is_refused(
    stanzas: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(project(tmp_path, *stanzas), "ingest") == 1
    assert "error[scope-overlap]" in capsys.readouterr().err


def test_a_day_read_again_replaces_what_was_said_of_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Pods that the first answer lacked, since its queries ran between two scrapes, are there in the second; none is there twice."""
    assert run(project(tmp_path, BILL, OPENCOST, pods=PODS[:1]), "ingest") == 0
    for _ in range(2):
        bill, owners = posted(project(tmp_path, BILL, OPENCOST), capsys)
        assert bill == 800
        assert owners == {"vision": 200, "speech": 200, "_idle": 400}


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_pod_that_runs_into_the_next_month_keeps_its_owner_in_both(
    order: tuple[int, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each day is read by itself, in any order, and knows a day of the pod."""
    last = parse_instant("2026-10-31T00:00:00Z")
    days = [Interval(last, last + DAY_S), Interval(last + DAY_S, last + 2 * DAY_S)]
    base = project(tmp_path, OPENCOST + AS_BILL)
    for number in order:
        pods = [a.Container("train", gpus=Decimal(4), day=days[number])]
        making.put(base / "answers/allocation.json", json.dumps(a.allocations(pods)))
        making.put(base / "answers/assets.json", json.dumps(a.assets(a.node(day=days[number]))))
        assert run(base, "ingest") == 0
    for period in ("2026-10", "2026-11"):
        capsys.readouterr()
        assert run(base, "plan", "--period", period, "-o", "json") == 0
        shown = json.loads(capsys.readouterr().out)
        assert {row["owner"] for row in shown["rows"]} == {"vision", "_idle"}, shown
