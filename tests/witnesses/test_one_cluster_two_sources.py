"""A cluster that Prometheus and OpenCost both saw: its pods are charged once, as the source that decides tells."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from apportion.model.times import parse_period
from apportion.verbs.ingest import ingest
from apportion.verbs.plan import plan
from apportion.verbs.project import Project, open_project
from tests.prometheus.exposition import answer, series
from tests.prometheus.world import Pod, World, make_world

DAY = 86_400
SOURCES = {
    "prometheus": '[[sources]]\nname = "prometheus"\nkind = "prometheus"\ncluster = "c"\npath = "metrics.json"\n',
    "opencost": '[[sources]]\nname = "opencost"\nkind = "opencost"\ncluster = "c"\npath = "answers"\ncapacity = false\n',
}
BILL = (
    "BilledCost,EffectiveCost,ContractedCost,ListCost,BillingCurrency,BillingAccountId,BillingPeriodStart,BillingPeriodEnd,"
    "ChargePeriodStart,ChargePeriodEnd,ChargeCategory,InvoiceIssuerName,ServiceCategory,ServiceName\n"
    "1000,1000,1000,1000,USD,1,2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,{start},{end},Usage,Cloud,Compute,Machines\n"
)
POLICY = """\
policy: p
effective: 2026-10-01
currency: USD
time_zone: UTC
decides: {gpu: DECIDES, cpu: DECIDES, memory: DECIDES, network: DECIDES}
owners: [{when: {k8s.namespace: "*"}, team: "{k8s.namespace}"}]
pools: {gpus: {costs: {ServiceName: Machines}, usage: {node: "node-*"}, meter: gpu, method: proportional}}
"""


def text(second: int) -> str:
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def allocations(made: World) -> dict[str, Any]:
    """What OpenCost makes of the first day: pods of one name are one, from the first start to the last end, and without their ids."""
    named: dict[str, list[Pod]] = defaultdict(list)
    for pod in made.pods:
        if pod.gpus and pod.node and pod.start < made.start + DAY and pod.run_s:
            named[f"c/{pod.node}/{pod.namespace}/{pod.name}/main"].append(pod)
    window = {"start": text(made.start), "end": text(made.start + DAY)}
    found = {}
    for name, pods in named.items():
        first, last = min(pod.start for pod in pods), min(max(pod.end for pod in pods), made.start + DAY)
        hours = sum((min(pod.end, made.start + DAY) - pod.start) * pod.gpus for pod in pods) / 3600
        found[name] = {
            "name": name,
            "properties": dict(zip(("cluster", "node", "namespace", "pod", "container"), name.split("/"), strict=True)),
            "window": window, "start": text(first), "end": text(last),
            "gpuHours": round(float(hours), 5), "cpuCoreHours": 1, "ramByteHours": 1,
        }  # fmt: skip
    return {"code": 200, "data": [found]}


def first_day(made: World) -> Iterator[tuple[str, dict[str, str], Any]]:
    """Both sources tell of the same day."""
    for name, labels, samples in series(made):
        if own := [(at, value) for at, value in samples if at < made.start + DAY]:
            yield name, labels, own


def project(folder: Path, made: World, sources: list[str], decides: str) -> Project:
    (folder / "answers").mkdir(parents=True)
    (folder / "metrics.json").write_text(json.dumps(answer(first_day(made))))
    (folder / "answers/allocation.json").write_text(json.dumps(allocations(made)))
    (folder / "bill.csv").write_text(BILL.format(start=text(made.start), end=text(made.start + DAY)))
    (folder / "policy.yaml").write_text(POLICY.replace("DECIDES", decides))
    bill = '[[sources]]\nname = "cloud"\nkind = "focus"\npath = "bill.csv"\n'
    (folder / "apportion.toml").write_text(bill + "".join(SOURCES[name] for name in sources))
    return open_project(folder)


def owed(found: Project) -> Counter[str]:
    ingest(found)
    sums: Counter[str] = Counter()
    for row in plan(found, parse_period("2026-10")).plan.postings.to_pylist():
        sums[row["team"]] += row["amount"]
    return sums


@pytest.mark.parametrize("name", list(SOURCES))
def test_what_decides_is_what_is_charged(name: str, tmp_path: Path) -> None:
    made = make_world(20261115)
    alone = owed(project(tmp_path / "alone", made, [name], name))
    both = owed(project(tmp_path / "both", made, list(SOURCES), name))
    assert len(alone) > 3
    assert both == alone
