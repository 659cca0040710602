"""Pods as workloads: who they are, whose they are, and every label a policy may ask for, spelled as Kubernetes spells it."""

from collections.abc import Iterable, Iterator
from typing import Any

from apportion.sources.cells.commands import command_text
from apportion.sources.kubernetes.boards import model_of
from apportion.sources.kubernetes.lives import Pod
from apportion.sources.kubernetes.objects import NAMESPACE, NODE, Moment, get, labels_of, listed, table
from apportion.sources.kubernetes.owners import Owner, Owners, run_of
from apportion.sources.kubernetes.settings import How, chosen


def workload_rows(pods: Iterable[Pod], moment: Moment, how: How) -> Iterator[dict[str, Any]]:
    owners = Owners(moment)
    for pod in pods:
        chain = owners.chain(pod.found)
        kind, run = run_of(pod.found, chain)
        labels = facts(pod, chain, moment, how) | owners.queue_labels(pod.found, chain)
        labels |= {"ml.kind": kind, "ml.run": run} if run else {}
        labels |= ran(pod) if how.commands else {}
        yield {
            "source": how.source,
            "workload": how.id(pod.uid),
            "run": how.id(pod.namespace, kind, run) if run else how.id(pod.uid),
            "name": pod.name,
            "start_s": pod.start_s,
            "end_s": pod.end_s,
            "outcome": pod.outcome,
            "labels": sorted(labels.items()),
        }


def ran(pod: Pod) -> dict[str, str]:
    """Images and commands of its containers; those of sidecars beside them, since nobody says which is which."""
    containers = [one for one in listed(pod.found, "spec", "containers") if isinstance(one, dict)]
    images = " ".join(str(one["image"]) for one in containers if one.get("image"))
    words = [str(word) for one in containers for part in ("command", "args") for word in listed(one, part)]
    return {key: text for key, text in (("k8s.image", images), ("k8s.command", command_text(words))) if text}


def facts(pod: Pod, chain: list[Owner], moment: Moment, how: How) -> dict[str, str]:
    nearest = chain[0] if chain else None
    owned: dict[str, str] = {}
    for owner in reversed(chain):
        owned |= labels_of(owner.found)
    told = {
        "k8s.cluster": how.cluster,
        "k8s.namespace": pod.namespace,
        "k8s.pod": pod.name,
        "k8s.uid": pod.uid,
        "k8s.node": pod.node,
        "k8s.priority_class": get(pod.found, "spec", "priorityClassName"),
        "k8s.service_account": get(pod.found, "spec", "serviceAccountName"),
        "k8s.owner_kind": nearest.kind if nearest else None,
        "k8s.owner": nearest.name if nearest else None,
        "k8s.owners": " < ".join(f"{each.kind}/{each.name}" for each in chain),
        "gpu.model": model_of(labels_of(moment.named(NODE, pod.node))),
    }
    found = {
        "label": chosen(dict(labels_of(pod.found)), how.labels),
        "annotation": chosen(dict(table(pod.found, "metadata", "annotations")), how.annotations),
        "namespace_label": chosen(dict(labels_of(moment.named(NAMESPACE, pod.namespace))), how.labels),
        "owner_label": chosen(owned, how.labels),
    }
    spelled = {f"k8s.{part}.{key}": str(value) for part, pairs in found.items() for key, value in pairs.items()}
    return spelled | {name: str(value) for name, value in told.items() if value}
