"""The first hour of somebody who has a Prometheus and a bill: init, ingest, plan, apply, showback, and not a line of YAML."""

import json
import sys
import tomllib
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from apportion.policy.load import load_policy
from tests import processes
from tests.prometheus.conftest import SEEDS, add
from tests.prometheus.server import backfill, cannot_start, served
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


def apportion(folder: Path, *words: str) -> processes.CompletedProcess[str]:
    command = [str(Path(sys.executable).with_name("apportion")), *words]
    return processes.run(command, cwd=folder, text=True)


def test_from_nothing_to_a_showback(server: tuple[str, World], tmp_path: Path) -> None:
    url, made = server
    (tmp_path / "bill.csv").write_text(bill(made))
    begun = apportion(tmp_path, "init", "costs", "--prometheus", url, "--bill", "bill.csv", "-o", "json")
    assert begun.returncode == 0, begun.stderr
    said = " ".join(f"{one['text']} {one['fix']}" for one in json.loads(begun.stdout)["findings"])
    assert "namespace" in said or "team" in said
    project = tmp_path / "costs"
    for words in (["ingest"], ["plan"], ["apply", "--accept", "no-rows", "--why", "the server knows the first days"]):
        done = apportion(project, *words, "--period", "2026-10")
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


HELD = {
    "east": ("vision", 4, 800),
    "west": ("speech", 8, 80),
}  # team, GPUs of the 8 of its g01 that it holds all day, and what the node costs
DAY_S = 1_791_158_400  # 2026-10-05


def two_clusters() -> str:
    """OpenMetrics of two clusters that each have a node g01 and a pod train-0."""
    families: dict[str, list[str]] = {}
    for cluster, (team, gpus, _) in HELD.items():
        pod = f'cluster="{cluster}",namespace="{team}",pod="train-0",uid="uid-{cluster}"'
        node, unit = f'cluster="{cluster}",node="g01"', 'resource="nvidia_com_gpu",unit="integer"'
        for name, labels, value in (
            ("kube_pod_status_phase", f'{pod},phase="Running"', 1),
            ("kube_pod_info", f'{pod},node="g01"', 1),
            ("kube_pod_container_resource_requests", f'{pod},container="main",node="g01",{unit}', gpus),
            ("kube_node_info", node, 1),
            ("kube_node_status_capacity", f"{node},{unit}", 8),
        ):
            ticks = range(DAY_S, DAY_S + 86_401, 300)
            families.setdefault(name, []).extend(f"{name}{{{labels}}} {value} {at}" for at in ticks)
    return "\n".join(
        [*(line for name, lines in families.items() for line in (f"# TYPE {name} gauge", *lines)), "# EOF", ""]
    )


def test_several_clusters_of_one_server_have_a_stanza_and_a_price_each(tmp_path: Path) -> None:
    """M8: vision holds half of the eastern node, speech all of the western one: 400, 80, and 400 idle."""
    if reason := cannot_start():
        pytest.skip(reason)
    (tmp_path / "world.om").write_text(two_clusters())
    backfill(tmp_path / "world.om", tmp_path / "data")
    day = "2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,2026-10-05T00:00:00Z,2026-10-06T00:00:00Z"
    lines = [
        f'{price},{price},{price},{price},USD,1,{day},Usage,Cloud,Compute,Machines,g01,"{{""cluster"": ""{cluster}""}}"'
        for cluster, (*_, price) in HELD.items()
    ]
    (tmp_path / "bill.csv").write_text("\n".join([f"{HEADER},Tags", *lines, ""]))
    with served(tmp_path / "data") as url:
        begun = apportion(tmp_path, "init", "costs", "--prometheus", url, "--bill", "bill.csv", "-o", "json")
        assert begun.returncode == 0, begun.stderr
        texts = [one["text"] for one in json.loads(begun.stdout)["findings"]]
        assert "the series are of 2 clusters: east, west; each has a stanza of its own" in texts
        project = tmp_path / "costs"
        _, *stanzas = tomllib.loads((project / "apportion.toml").read_text())["sources"]
        assert [(one["name"], one["cluster"], one["match"]) for one in stanzas] == [
            (name, name, f'cluster="{name}"') for name in HELD
        ]
        assert {(one["kind"], one["url"]) for one in stanzas} == {("prometheus", url)}
        read = apportion(project, "ingest", "--period", "2026-10")
        assert read.returncode == 0, read.stderr
    planned = apportion(project, "plan", "--period", "2026-10", "-o", "json")
    assert planned.returncode == 0, planned.stderr
    owed = {row["owner"]: row["after"] for row in json.loads(planned.stdout)["rows"]}
    assert owed == {"vision": "400", "speech": "80", "_idle": "400"}


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
