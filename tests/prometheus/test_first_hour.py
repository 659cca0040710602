"""The first hour of somebody who has a Prometheus and a bill: init, ingest, plan, apply, showback, and not a line of YAML."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from apportion.policy.load import load_policy
from tests.prometheus.conftest import SEEDS, add
from tests.prometheus.server import cannot_start, served
from tests.prometheus.test_truth import ran
from tests.prometheus.world import World, make_world

PRICE = {"node-0": 80, "node-1": 30, "node-2": 10, "node-3": 30, "node-4": 5}  # of the day
HEADER = (
    "BilledCost,EffectiveCost,ContractedCost,ListCost,BillingCurrency,BillingAccountId,BillingPeriodStart,BillingPeriodEnd,"
    "ChargePeriodStart,ChargePeriodEnd,ChargeCategory,InvoiceIssuerName,ServiceCategory,ServiceName,ResourceId"
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, World]]:
    if reason := cannot_start():
        pytest.skip(reason)
    folder, made = tmp_path_factory.mktemp("alone"), make_world(SEEDS[0])
    add(folder, made)
    with served(folder / "data") as url:
        yield url, made


def bill(made: World) -> str:
    day = datetime.fromtimestamp(made.start, UTC).strftime("%Y-%m-%dT00:00:00Z")
    after = datetime.fromtimestamp(made.start + 86_400, UTC).strftime("%Y-%m-%dT00:00:00Z")
    lines = [
        f"{price},{price},{price},{price},USD,1,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,{day},{after},Usage,Cloud,Compute,Machines,{node}"
        for node, price in PRICE.items()
    ]
    return "\n".join([HEADER, *lines, ""])


def apportion(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [str(Path(sys.executable).with_name("apportion")), *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_from_nothing_to_a_showback(server: tuple[str, World], tmp_path: Path) -> None:
    url, made = server
    (tmp_path / "bill.csv").write_text(bill(made))
    begun = apportion(tmp_path, "init", "costs", "--prometheus", url, "--bill", "bill.csv", "-o", "json")
    assert begun.returncode == 0, begun.stderr
    said = " ".join(f"{one['text']} {one['fix']}" for one in json.loads(begun.stdout)["findings"])
    assert "namespace" in said or "team" in said
    project = tmp_path / "costs"
    for words in (["ingest", "--period", "2026-10"], ["plan", "--period", "2026-10"], ["apply", "--period", "2026-10"]):
        done = apportion(project, *words)
        assert done.returncode == 0, done.stderr
    check_policy((project / "policy.yaml").read_text())
    shown = apportion(project, "report", "showback", "--period", "2026-10", "-o", "json")
    assert shown.returncode == 0, shown.stderr
    (section,) = json.loads(shown.stdout)["currencies"]
    owed = {row["owner"]: Decimal(row["amount"]) for row in section["rows"]}
    assert sum(owed.values()) == sum(PRICE.values())  # the bill, to the digit
    assert owed["team-0"] > 0
    teams = {dict(pod.labels).get("team", pod.namespace) for pod in ran(made)} - {"kube-system"}
    assert teams <= set(owed)  # whoever ran is there by the label, else by the namespace


def check_policy(text: str) -> None:
    """The pool of a group claims the lines of its own nodes and no others."""
    pools = load_policy(text, "policy.yaml").pools
    own = {
        name: {
            node
            for node in PRICE
            if pool.costs and pool.costs.matches({"ResourceId": node, "ServiceCategory": "Compute"})
        }
        for name, pool in pools.items()
    }
    claimed = [node for nodes in own.values() for node in nodes]
    assert sorted(claimed) == sorted(PRICE)


def test_what_is_wrong_is_said_before_anything_is_written(tmp_path: Path, server: tuple[str, World]) -> None:
    (tmp_path / "bill.csv").write_text(bill(server[1]))
    done = apportion(tmp_path, "init", "costs", "--prometheus", "http://127.0.0.1:9", "--bill", "bill.csv")
    assert done.returncode == 1
    assert "unreachable" in done.stderr
    assert not (tmp_path / "costs").exists()
