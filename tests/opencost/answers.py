"""Answers as OpenCost writes them, from a schedule that the tests know: five places, null for NaN, hours derived from amounts and times."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from apportion.model.delivery import Delivery
from apportion.model.times import DAY_S, Interval, instant_text, parse_instant
from apportion.sources.opencost import read

START = parse_instant("2026-10-05T00:00:00Z")
DAY = Interval(START, START + DAY_S)
GIB = 2**30
HOUR = 3600


@dataclass(frozen=True)
class Container:
    """One container of a pod, with what it held and what OpenCost would say that it cost."""

    pod: str = "train-0"
    name: str = "main"
    node: str = "node-1"
    namespace: str = "vision"
    cluster: str = "c1"
    start: int = 0  # seconds into the day
    end: int = DAY_S
    cores: Decimal = Decimal(8)
    ram: int = 64 * GIB
    gpus: Decimal = Decimal(1)
    day: Interval = DAY
    more: Mapping[str, Any] = field(default_factory=dict)
    properties: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{self.cluster}/{self.node}/{self.namespace}/{self.pod}/{self.name}"

    def row(self, prices: Mapping[str, Decimal]) -> dict[str, Any]:
        hours = Decimal(self.end - self.start) / HOUR
        cost = {
            "cpuCost": self.cores * hours * prices["cpu"],
            "ramCost": Decimal(self.ram) / GIB * hours * prices["ram"],
            "gpuCost": self.gpus * hours * prices["gpu"],
        }
        return {
            "name": self.key,
            "properties": {
                "cluster": self.cluster, "node": self.node, "container": self.name, "namespace": self.namespace, "pod": self.pod,
                "controller": "train", "controllerKind": "job", "labels": {"app_kubernetes_io_name": "train"}, **self.properties,
            },
            **times(self.day.start_s + self.start, self.day.start_s + self.end, self.day),
            "cpuCoreHours": five(self.cores * hours), "cpuCoreRequestAverage": five(self.cores), "cpuCoreUsageAverage": five(self.cores / 2),
            "ramByteHours": five(self.ram * hours), "ramByteRequestAverage": self.ram, "ramByteUsageAverage": self.ram // 2,
            "gpuHours": five(self.gpus * hours),
            "networkTransferBytes": 0, "networkReceiveBytes": 0,
            **{name: five(value) for name, value in cost.items()},
            "cpuCostAdjustment": 0, "ramCostAdjustment": 0, "gpuCostAdjustment": 0,
            "networkCost": 0, "loadBalancerCost": 0, "pvCost": 0, "sharedCost": 0, "externalCost": 0,
            "pvs": None, "lbAllocations": None,
            "gpuAllocation": {"gpuModel": "H100", "isGPUShared": None, "gpuUsageAverage": 0.5, "gpuRequestAverage": five(self.gpus)}
            if self.gpus else None,
            "totalCost": five(sum(cost.values(), Decimal(0))),
            "aFieldOfTomorrow": {"nested": [1, 2]},
            **self.more,
        }  # fmt: skip


PRICES = {"cpu": Decimal("0.04"), "ram": Decimal("0.005"), "gpu": Decimal("2.5")}


def five(value: Decimal) -> Any:
    """Rounded as theirs are, and a plain JSON number."""
    return float(round(value, 5))


def times(start: int, end: int, day: Interval) -> dict[str, Any]:
    return {
        "window": {"start": instant_text(day.start_s), "end": instant_text(day.end_s)},
        "start": instant_text(start),
        "end": instant_text(end),
        "minutes": (end - start) / 60,
    }


def allocations(containers: Iterable[Container], *others: Mapping[str, Any]) -> dict[str, Any]:
    rows = {one.key: one.row(PRICES) for one in containers}
    return {"code": 200, "data": [{**rows, **{str(other["name"]): other for other in others}}]}


def idle(cpu: Decimal, ram: Decimal, gpu: Decimal, cluster: str = "c1", day: Interval = DAY) -> dict[str, Any]:
    return {
        "name": f"{cluster}/__idle__", "properties": {"cluster": cluster}, **times(day.start_s, day.end_s, day),
        "cpuCost": five(cpu), "ramCost": five(ram), "gpuCost": five(gpu), "totalCost": five(cpu + ram + gpu),
    }  # fmt: skip


def idle_of(node: Mapping[str, Any], containers: Iterable[Container]) -> dict[str, Any]:
    """As they compute it: what the node cost less what its rows cost, never below 0."""
    rows = [one.row(PRICES) for one in containers]
    cpu, ram, gpu = (
        max(Decimal(0), Decimal(str(node[key])) - sum((Decimal(str(row[key])) for row in rows), Decimal(0)))
        for key in ("cpuCost", "ramCost", "gpuCost")
    )
    return idle(cpu, ram, gpu)


def node(name: str = "node-1", cluster: str = "c1", day: Interval = DAY, **more: Any) -> dict[str, Any]:
    """96 cores, 1 TiB and 8 GPUs for a day."""
    found = {
        "type": "Node",
        "properties": {"category": "Compute", "provider": "AWS", "account": "111122223333", "service": "Kubernetes",
                       "cluster": cluster, "name": name, "providerID": f"i-{name}"},
        "labels": {"label_pool": "h100"}, **times(day.start_s, day.end_s, day),
        "nodeType": "p5.48xlarge", "cpuCores": 96.0, "ramBytes": 1024.0 * GIB, "gpuCount": 8.0,
        "cpuCoreHours": 2304.0, "ramByteHours": 24.0 * 1024 * GIB, "GPUHours": 192.0,
        "preemptible": 0.0, "discount": 0.0, "cpuCost": 92.16, "ramCost": 122.88, "gpuCost": 480.0, "adjustment": 0.0, **more,
    }  # fmt: skip
    taken = (found["cpuCost"] + found["ramCost"]) * (1 - found["discount"]) + found["gpuCost"] + found["adjustment"]
    return {"totalCost": round(taken, 5), **found}


def disk(name: str = "pv-1", cost: float = 24.0, size: int = 100 * GIB, **more: Any) -> dict[str, Any]:
    return {
        "type": "Disk", "properties": {"category": "Storage", "cluster": "c1", "name": name, "providerID": f"vol-{name}"},
        **times(DAY.start_s, DAY.end_s, DAY), "bytes": float(size), "byteHours": 24.0 * size, "local": 0.0, "volumeName": name,
        "claimName": "data", "claimNamespace": "vision", "storageClass": "gp3", "adjustment": 0.0, "totalCost": cost, **more,
    }  # fmt: skip


def balancer(name: str = "vision/serve", cost: float = 10.0) -> dict[str, Any]:
    return {
        "type": "LoadBalancer", "properties": {"category": "Network", "cluster": "c1", "name": name},
        **times(DAY.start_s, DAY.end_s, DAY), "adjustment": 0.0, "totalCost": cost,
    }  # fmt: skip


def management(cost: float = 2.4) -> dict[str, Any]:
    return {
        "type": "ClusterManagement", "properties": {"provider": "AWS", "service": "Kubernetes", "cluster": "c1"},
        **times(DAY.start_s, DAY.end_s, DAY), "totalCost": cost,
    }  # fmt: skip


def assets(*found: Mapping[str, Any]) -> dict[str, Any]:
    keyed = {f"{one['type']}/{one['properties'].get('name', '__undefined__')}": one for one in found}
    return {"code": 200, "data": keyed}


def volume(name: str, cost: Decimal, byte_hours: int) -> dict[str, Any]:
    """What a row says of a volume that it mounts."""
    return {
        "pvs": {f"cluster=c1:name={name}": {"byteHours": byte_hours, "cost": five(cost), "providerID": ""}},
        "pvCost": five(cost),
        "pvByteHours": byte_hours,
    }


def saved(base: Path, *bodies: Mapping[str, Any] | str, **settings: Any) -> list[Delivery]:
    """What the source makes of answers that were saved as files."""
    folder = base / "answers"
    folder.mkdir(parents=True, exist_ok=True)
    for number, body in enumerate(bodies):
        text = body if isinstance(body, str) else json.dumps(body)
        (folder / f"{number}.json").write_text(text, encoding="utf-8")
    found = read({"name": "oc", "kind": "opencost", "path": "answers", **settings}, base, None)
    return [one for one in found if isinstance(one, Delivery)]


def unit_seconds(delivery: Delivery, meter: str) -> int:
    return sum(
        row["allocated"] * (row["end_s"] - row["start_s"])
        for row in delivery.tables["usage"].to_pylist()
        if row["meter"] == meter
    )


def codes(delivery: Delivery) -> dict[str, str]:
    """Code to money, for tests in which each occurs once."""
    return {problem.code: problem.money for problem in delivery.problems}
