"""What is promised: Kueue's nominal quotas by ClusterQueue and flavour, and ResourceQuotas by namespace. They overlap, so the settings choose."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from apportion.errors import InputError, Problem
from apportion.model.times import Interval
from apportion.sources.kubernetes.boards import metered
from apportion.sources.kubernetes.lives import created, has_labels
from apportion.sources.kubernetes.objects import (
    CLUSTER_QUEUE,
    COHORT,
    FLAVOUR,
    LOCAL_QUEUE,
    NAMESPACE,
    NODE,
    QUOTA,
    Moment,
    Object,
    get,
    labels_of,
    listed,
    meta,
    table,
)
from apportion.sources.kubernetes.owners import cohort_of
from apportion.sources.kubernetes.quantities import base_units, quantity
from apportion.sources.kubernetes.settings import How, chosen

Promise = tuple[str, int, dict[str, int], dict[str, str]]  # id, since, base units by meter, labels


def reservation_rows(moment: Moment, window: Interval, how: How, problems: list[Problem]) -> Iterator[dict[str, Any]]:
    promises = [*(kueue(moment, how, problems) if "kueue" in how.reservations else ())]
    promises += quotas(moment, how, problems) if "quota" in how.reservations else ()
    for name, since, amounts, labels in promises:
        start = max(since, window.start_s)
        for meter, units in sorted(amounts.items()):
            if units and start < moment.at_s:
                yield {
                    "source": how.source,
                    "reservation": name,
                    "meter": meter,
                    "start_s": start,
                    "end_s": moment.at_s,
                    "amount": units,
                    "labels": sorted(labels.items()),
                }


def kueue(moment: Moment, how: How, problems: list[Problem]) -> Iterator[Promise]:
    """Quotas of ClusterQueues, and those that a Cohort has for all of its queues."""
    for kind in (CLUSTER_QUEUE, COHORT):
        for queue in sorted(moment.all(kind), key=lambda each: str(meta(each, "name"))):
            name = str(meta(queue, "name"))
            labels = cohort_labels(name, how) if kind == COHORT else queue_labels(name, queue, moment, how)
            flavours = [each for group in listed(queue, "spec", "resourceGroups") for each in listed(group, "flavors")]
            for flavour in flavours:
                kept = str(flavour.get("name"))
                where = f"{kind.name} {name}, flavour {kept}"
                told = {str(each.get("name")): each.get("nominalQuota") for each in listed(flavour, "resources")}
                amounts = promised(told, nodes_of(kept, moment), how, where, problems)
                id_ = how.id("kueue", f"cohort:{name}" if kind == COHORT else name, kept)
                yield id_, created(queue), amounts, labels | {"kueue.flavour": kept} | place(kept, moment)


def cohort_labels(name: str, how: How) -> dict[str, str]:
    return {"k8s.cluster": how.cluster, "kueue.cohort": name}


def queue_labels(name: str, queue: Object, moment: Moment, how: How) -> dict[str, str]:
    """Whose it is: the namespace, where one alone may send to the queue."""
    senders = {
        str(meta(each, "namespace")) for each in moment.all(LOCAL_QUEUE) if get(each, "spec", "clusterQueue") == name
    }
    labels = {"k8s.cluster": how.cluster, "kueue.cluster-queue": name, "kueue.cohort": cohort_of(queue)}
    labels |= {f"k8s.label.{key}": str(value) for key, value in chosen(dict(labels_of(queue)), how.labels).items()}
    if len(senders) == 1:
        labels |= namespace_labels(senders.pop(), moment, how)
    return {key: value for key, value in labels.items() if value}


def place(flavour: str, moment: Moment) -> dict[str, str]:
    """Where it is: the labels of the nodes that the flavour stands for."""
    found = moment.named(FLAVOUR, flavour)
    return {f"k8s.node_label.{key}": str(value) for key, value in table(found, "spec", "nodeLabels").items()}


def nodes_of(flavour: str, moment: Moment) -> list[Object]:
    wanted = table(moment.named(FLAVOUR, flavour), "spec", "nodeLabels")
    return [node for node in moment.all(NODE) if has_labels(node, wanted)]


def promised(
    told: Mapping[str, object], nodes: list[Object], how: How, where: str, problems: list[Problem]
) -> dict[str, int]:
    """Base units by meter."""
    total: dict[str, int] = {}
    for name, value in sorted(told.items()):
        try:
            amount = value if isinstance(value, Fraction) else quantity(value)
            for meter, units in in_meters(name, amount, nodes, how).items():
                total[meter] = total.get(meter, 0) + base_units(meter, units)
        except InputError as error:
            problems.append(Problem(where, error.code, f"{error.message}; its {name} is not counted"))
    return total


def in_meters(name: str, amount: Fraction, nodes: list[Object], how: How) -> dict[str, Fraction]:
    """Where a GPU of one node is another part of a board than one of the next, nobody can say what was promised."""
    here = [labels_of(node) for node in nodes if name in table(node, "status", "capacity")] or [{}]
    first, *others = (metered({name: amount}, labels, how.board) for labels in here)
    if any(other != first for other in others):
        raise InputError("unknown-share", "the nodes that the quota speaks of cut their boards into different parts")
    return first


def quotas(moment: Moment, how: How, problems: list[Problem]) -> Iterator[Promise]:
    """The tightest of a namespace's quotas; those with a scope speak of a part of its pods and are passed over."""
    tightest: dict[str, dict[str, Fraction]] = {}
    since: dict[str, int] = {}
    for found in sorted(moment.all(QUOTA), key=lambda each: (str(meta(each, "namespace")), str(meta(each, "name")))):
        if get(found, "spec", "scopes") or get(found, "spec", "scopeSelector"):
            continue
        namespace = str(meta(found, "namespace"))
        try:
            hard = requested({name: quantity(value) for name, value in table(found, "spec", "hard").items()})
        except InputError as error:
            problems.append(
                Problem(
                    f"quota {namespace}/{meta(found, 'name')}", error.code, f"{error.message}; the quota is not counted"
                )
            )
            continue
        known = tightest.setdefault(namespace, {})
        known |= {name: min(amount, known.get(name, amount)) for name, amount in hard.items()}
        since[namespace] = min(created(found), since.get(namespace, created(found)))
    for namespace, hard in sorted(tightest.items()):
        amounts = promised(hard, moment.all(NODE), how, f"quotas of {namespace}", problems)
        labels = {"k8s.cluster": how.cluster} | namespace_labels(namespace, moment, how)
        yield how.id("quota", namespace), since[namespace], amounts, labels


def requested(hard: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """`requests.cpu` and `cpu` mean the same; limits and counts of objects are no promise of a meter."""
    plain = {name: amount for name, amount in hard.items() if name in ("cpu", "memory")}
    return plain | {
        name.removeprefix("requests."): amount for name, amount in hard.items() if name.startswith("requests.")
    }


def namespace_labels(namespace: str, moment: Moment, how: How) -> dict[str, str]:
    labels = chosen(dict(labels_of(moment.named(NAMESPACE, namespace))), how.labels)
    return {"k8s.namespace": namespace} | {f"k8s.namespace_label.{key}": str(value) for key, value in labels.items()}
