"""Rows of answers as values: an allocation, an asset, a cloud cost. Unknown fields are passed over, null numbers are None."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Any

from apportion.errors import InputError, Problem
from apportion.model.money import plain, total_of
from apportion.model.numbers import parse_decimal
from apportion.model.times import Interval, parse_instant

KINDS = {  # what a row of theirs costs, by the field that says it
    "cpu": "cpuCost",
    "ram": "ramCost",
    "gpu": "gpuCost",
    "volume": "pvCost",
    "network": "networkCost",
    "load balancer": "loadBalancerCost",
    "shared": "sharedCost",
    "external": "externalCost",
}
HOURS = (  # the other numbers of a row are derived from these, or wrong
    "cpuCoreHours", "cpuCoreRequestAverage", "cpuCoreUsageAverage", "ramByteHours", "ramByteRequestAverage", "ramByteUsageAverage",
    "gpuHours", "networkTransferBytes", "networkReceiveBytes",
)  # fmt: skip
IDLE, UNMOUNTED, NOBODY = "__idle__", "__unmounted__", "__undefined__"
OWNERS = {
    kind.lower(): kind for kind in ("Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "Job", "CronJob")
}  # as Kubernetes writes them
VOLUME = re.compile(r"cluster=(.*?):name=(.+)")
UID = re.compile(r"(\S+) ([0-9a-f]{8}-[0-9a-f-]{27})")  # `pod uid`, where the server has INGEST_POD_UID
ZERO = Decimal(0)
LARGEST = 27  # digits before or after the point


@dataclass(frozen=True, slots=True)
class Allocation:
    """A container's day on a node, idle of a cluster, or a volume that nobody mounted."""

    name: str
    window: Interval
    run: Interval
    cluster: str
    node: str
    namespace: str
    pod: str
    uid: str
    controller: tuple[str, str]  # kind and name
    labels: Mapping[str, str]
    numbers: Mapping[str, Decimal | None]
    costs: Mapping[str, Decimal]
    volumes: tuple[str, ...]
    gpu: Mapping[str, Any]

    @property
    def is_idle(self) -> bool:
        return IDLE in self.name

    @property
    def is_pod(self) -> bool:
        return bool(self.pod) and not self.is_idle and UNMOUNTED not in (self.pod, self.name.rpartition("/")[2])

    @property
    def workload(self) -> str:
        return f"k8s/{self.cluster}/{self.uid or f'{self.namespace}/{self.pod}'}"

    def number(self, key: str) -> Decimal:
        return self.numbers.get(key) or ZERO

    def cost(self, *kinds: str) -> Decimal:
        return total_of(self.costs[kind] for kind in kinds)


@dataclass(frozen=True, slots=True)
class Asset:
    """What is paid for: a node, a disk, a load balancer, the control plane."""

    key: str
    type: str
    window: Interval
    run: Interval
    cluster: str
    name: str
    words: Mapping[str, str]  # provider, account, nodeType, claimName and the like
    labels: Mapping[str, str]
    numbers: Mapping[str, Decimal | None]

    def number(self, key: str) -> Decimal:
        return self.numbers.get(key) or ZERO

    @property
    def discounted(self) -> Decimal:
        """What the discount takes off: it is never given on GPUs."""
        return (self.number("cpuCost") + self.number("ramCost")) * self.number("discount")

    @property
    def total(self) -> Decimal:
        stated = self.numbers.get("totalCost")
        if stated is not None:
            return stated
        parts = total_of(self.number(key) for key in ("cpuCost", "ramCost", "gpuCost", "adjustment"))
        return parts - self.discounted


@dataclass(frozen=True, slots=True)
class CloudCost:
    key: str
    window: Interval
    words: Mapping[str, str]
    labels: Mapping[str, str]
    costs: Mapping[str, Decimal | None]
    kubernetes: Decimal | None


@dataclass(slots=True)
class Found:
    """Rows of one answer that could be read, and those that could not."""

    rows: list[Any] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def read_rows(kind: type, pairs: Iterator[tuple[str, Any]], where: str, window: Interval | None) -> Found:
    """A row that cannot be read is listed with the money that it carried."""
    make = {Allocation: allocation, Asset: asset, CloudCost: cloud_cost}[kind]
    found = Found()
    for name, row in pairs:
        try:
            found.rows.append(make(str(name), as_object(row), window))
        except InputError as error:
            found.problems.append(Problem(f"{where}: {name}", "malformed-row", error.message, str(name), carried(row)))
    return found


def as_object(row: object) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        raise InputError("malformed-row", "the row is no JSON object")
    return row


def carried(row: object) -> str:
    try:
        return plain(amount(row, "totalCost")) if isinstance(row, Mapping) else "0"
    except InputError:
        return "0"


def allocation(name: str, row: Mapping[str, Any], window: Interval | None) -> Allocation:
    about = mapping(row, "properties")
    span = window_of(row, window)
    pod, uid = word(about, "pod"), ""
    if both := UID.fullmatch(pod):
        pod, uid = both.groups()
    volumes = mapping(row, "pvs")
    kind = word(about, "controllerKind")
    return Allocation(
        name=name,
        window=span,
        run=run_of(row, span),
        cluster=word(about, "cluster"),
        node=word(about, "node"),
        namespace=word(about, "namespace"),
        pod=pod,
        uid=uid,
        controller=(OWNERS.get(kind.lower(), kind), word(about, "controller")),
        labels=labels_of(about),
        numbers={key: number(row[key]) for key in HOURS if key in row and is_number(row[key])},
        costs={kind: amount(row, key) + amount(row, f"{key}Adjustment") for kind, key in KINDS.items()},
        volumes=tuple(sorted(volume_named(key) for key in volumes)),
        gpu=mapping(row, "gpuAllocation"),
    )


def asset(name: str, row: Mapping[str, Any], window: Interval | None) -> Asset:
    about = mapping(row, "properties")
    span = window_of(row, window)
    own = {key: value for key, value in row.items() if isinstance(value, str)}
    words = {**own, **{key: word(about, key) for key in about}}
    return Asset(
        key=name,
        type=word(row, "type"),
        window=span,
        run=run_of(row, span),
        cluster=word(about, "cluster"),
        name=word(about, "name") or word(row, "volumeName") or f"{word(row, 'type')} of {word(about, 'cluster')}",
        words=words,
        labels={key.removeprefix("label_"): str(value) for key, value in mapping(row, "labels").items()},
        numbers={key: number(value) for key, value in row.items() if is_number(value)},
    )


def cloud_cost(name: str, row: Mapping[str, Any], window: Interval | None) -> CloudCost:
    about = mapping(row, "properties")
    metrics = {key: value for key, value in row.items() if isinstance(value, Mapping) and "cost" in value}
    shares = [number(value.get("kubernetesPercent")) for value in metrics.values()]
    return CloudCost(
        key=name,
        window=window_of(row, window),
        words={key: word(about, key) for key in about},
        labels={str(key): str(value) for key, value in mapping(about, "labels").items()},
        costs={key: number(value["cost"]) for key, value in metrics.items()},
        kubernetes=shares[0] if shares else None,
    )


def labels_of(about: Mapping[str, Any]) -> dict[str, str]:
    """As they write them: `-`, `.` and `/` of Kubernetes have become `_`."""
    found = {}
    for field_name, prefix in (
        ("labels", "k8s.label."),
        ("annotations", "k8s.annotation."),
        ("namespaceLabels", "k8s.namespace_label."),
    ):
        for key, value in mapping(about, field_name).items():
            found[f"{prefix}{key}"] = str(value)
    return found


def volume_named(key: str) -> str:
    both = VOLUME.fullmatch(key)
    return both[2] if both else key


def window_of(row: Mapping[str, Any], window: Interval | None) -> Interval:
    stated = mapping(row, "window")
    if "start" in stated and "end" in stated:
        return Interval(second(str(stated["start"])), second(str(stated["end"])))
    if window is None:
        raise InputError("invalid-time", "the row names no window")
    return window


def run_of(row: Mapping[str, Any], span: Interval) -> Interval:
    if not row.get("start") or not row.get("end"):
        return span
    found = Interval(second(str(row["start"])), second(str(row["end"])))
    if found.end_s < found.start_s:
        raise InputError("reversed-period", "the row ends before it starts")
    return found


@lru_cache(maxsize=4096)
def second(text: str) -> int:
    return parse_instant(text)


def mapping(row: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = row.get(key)
    return value if isinstance(value, Mapping) else {}


def word(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    return value if isinstance(value, str) and value != NOBODY else ""


def is_number(value: object) -> bool:
    return value is None or (isinstance(value, int | Decimal) and not isinstance(value, bool))


def number(value: object) -> Decimal | None:
    """JSON's own numbers are plain ones; only those of unusual size are looked at more closely."""
    if isinstance(value, Decimal) and value.is_finite() and -LARGEST <= value.adjusted() <= LARGEST:
        return value
    if isinstance(value, int) and abs(value) < 10**LARGEST:
        return Decimal(value)
    return None if value is None else parse_decimal(value)


def amount(row: Mapping[str, Any], key: str) -> Decimal:
    """Money; null and absent are 0."""
    value = row.get(key)
    return (number(value) or ZERO) if is_number(value) else ZERO
