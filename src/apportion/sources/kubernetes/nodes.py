"""Nodes as capacity: what each offers, since when, in which state."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from apportion.errors import InputError, Problem
from apportion.model.times import Interval
from apportion.sources.kubernetes.boards import MACHINE, PLAIN, first_of, held, model_of
from apportion.sources.kubernetes.claims import boards_by_node
from apportion.sources.kubernetes.lives import created, instant
from apportion.sources.kubernetes.objects import NODE, Moment, Object, get, labels_of, listed, meta, table
from apportion.sources.kubernetes.quantities import base_units
from apportion.sources.kubernetes.requests import Amounts, quantities
from apportion.sources.kubernetes.settings import HOUR_S, How, chosen

GROUPS = (
    "eks.amazonaws.com/nodegroup", "alpha.eksctl.io/nodegroup-name", "karpenter.sh/nodepool", "cloud.google.com/gke-nodepool",
    "kubernetes.azure.com/agentpool", "agentpool", "kops.k8s.io/instancegroup", "doks.digitalocean.com/node-pool", "k8s.scaleway.com/pool-name",
    "lke.linode.com/pool-id", "node.kubernetes.io/pool", "run.ai/node-pool",
)  # fmt: skip
ZONES = ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")
REGIONS = ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")
BUYING = (
    "karpenter.sh/capacity-type",
    "eks.amazonaws.com/capacityType",
    "cloud.google.com/gke-provisioning",
    "kubernetes.azure.com/scalesetpriority",
)
GOOGLE_NUMBER = "container.googleapis.com/instance_id"  # the provider id has the name
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
UNREADY = ("node.cloudprovider.kubernetes.io/uninitialized", "karpenter.sh/unregistered")


def capacity_rows(moment: Moment, window: Interval, how: How, problems: list[Problem]) -> Iterator[dict[str, Any]]:
    devices = boards_by_node(moment, how)
    for node in sorted(moment.all(NODE), key=lambda each: str(meta(each, "name"))):
        name = str(meta(node, "name"))
        try:
            whole, sound, wrong = offered(node, devices.get(name, {}), how)
            spells = list(states(node, Interval(max(created(node), window.start_s), moment.at_s)))
        except InputError as error:
            problems.append(Problem(f"node {name}", error.code, f"{error.message}; the node's capacity is not counted"))
            continue
        if wrong:
            problems.append(Problem(f"node {name}", wrong.code, f"{wrong.message}; the node's devices are not counted"))
        labels = sorted(node_labels(node, how).items())
        for spell, state in spells:
            for meter, amount, condition in parts(whole, sound, state):
                yield {
                    "source": how.source,
                    "resource": name,
                    "meter": meter,
                    "start_s": spell.start_s,
                    "end_s": spell.end_s,
                    "amount": amount,
                    "state": condition,
                    "labels": labels,
                }


def offered(node: Object, boards: dict[str, int], how: How) -> tuple[Amounts, Amounts, InputError | None]:
    """All that the node has, of its devices those in order, and what is wrong. Drivers of DRA speak where the kubelet names no device."""
    labels = labels_of(node)
    whole, wrong = held(quantities(table(node, "status", "capacity")), labels, how.board)
    sound, _ = held(quantities(table(node, "status", "allocatable")), labels, how.board)
    devices = {meter: Fraction(count) for meter, count in boards.items()}
    return {**devices, **whole}, {**devices, **sound}, wrong


def parts(whole: Amounts, sound: Amounts, state: str) -> Iterator[tuple[str, int, str]]:
    """Meter, base units and state. Cores and memory that the system keeps for itself are paid for all the same; a broken device is down."""
    yield "node", 1, state
    for meter, amount in sorted(whole.items()):
        units = base_units(meter, amount)
        broken = 0 if meter in PLAIN or state != "up" else max(0, units - base_units(meter, sound.get(meter, amount)))
        yield from ((meter, part, condition) for part, condition in ((units - broken, state), (broken, "down")) if part)


def states(node: Object, life: Interval) -> Iterator[tuple[Interval, str]]:
    """Only the last change is known: what came before a fault was up, and before a node's first hour was over it was starting."""
    since, before, now = change(node)
    at = life.start_s if before == now else min(max(since, life.start_s), life.end_s)
    yield from (
        (spell, state)
        for spell, state in ((Interval(life.start_s, at), before), (Interval(at, life.end_s), now))
        if spell.seconds > 0
    )


def change(node: Object) -> tuple[int, str, str]:
    """When the state last changed, what it was before and what it is now."""
    ready = next((each for each in listed(node, "status", "conditions") if each.get("type") == "Ready"), None)
    taints = {str(each.get("key")): each for each in listed(node, "spec", "taints")}
    if ready is None or any(key in taints for key in UNREADY):
        return 0, "starting", "starting"
    since = instant(ready.get("lastTransitionTime")) or 0
    young = since - created(node) <= HOUR_S
    if ready.get("status") != "True":
        return since, "starting" if young else "up", "starting" if young and ready.get("status") == "False" else "down"
    if get(node, "spec", "unschedulable"):
        added = instant(get(taints.get(UNSCHEDULABLE), "timeAdded"))
        return added or 0, "up", "drained"
    return since, "starting" if young else "up", "up"


def addresses(node: Object, *kinds: str) -> list[str]:
    found = [each for each in listed(node, "status", "addresses") if each.get("type") in kinds]
    return list(dict.fromkeys(str(each["address"]) for each in found if each.get("address")))


def node_labels(node: Object, how: How) -> dict[str, str]:
    labels = labels_of(node)
    provider = str(get(node, "spec", "providerID") or "")
    told = {
        "k8s.cluster": how.cluster,
        "k8s.instance_type": first_of(labels, MACHINE),
        "k8s.node_group": first_of(labels, GROUPS),
        "k8s.zone": first_of(labels, ZONES),
        "k8s.region": first_of(labels, REGIONS),
        "k8s.capacity_type": first_of(labels, BUYING),
        "k8s.provider_id": provider,
        "k8s.instance_id": provider.rpartition("/")[2],
        "k8s.instance_number": str(table(node, "metadata", "annotations").get(GOOGLE_NUMBER, "")),
        "k8s.ip": ",".join(addresses(node, "InternalIP", "ExternalIP")),
        "k8s.hostname": next((host for host in addresses(node, "Hostname") if host != meta(node, "name")), ""),
        "gpu.model": model_of(labels),
    }
    spelled = {f"k8s.node_label.{key}": str(value) for key, value in chosen(dict(labels), how.labels).items()}
    return spelled | {name: value for name, value in told.items() if value}
