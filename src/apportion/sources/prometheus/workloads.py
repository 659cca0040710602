"""Workload rows: pods and volume claims, with the labels that the policy matches."""

from dataclasses import dataclass, field

import pyarrow as pa

from apportion.model.rows import WORKLOADS
from apportion.model.times import Interval
from apportion.sources.prometheus.asking import How
from apportion.sources.prometheus.context import ml_labels, run_of
from apportion.sources.prometheus.pods import Pod
from apportion.sources.prometheus.reading import Reading
from apportion.sources.prometheus.selectors import select
from apportion.sources.prometheus.spelling import Keys
from apportion.sources.prometheus.steps import Steps
from apportion.sources.prometheus.storage import Place


@dataclass
class Register:
    how: How
    window: Interval
    namespaces: dict[str, dict[str, str]]
    rows: list[dict[str, object]] = field(default_factory=list)

    def pod(self, pod: Pod, model: str) -> str:
        """Its id. A pod whose uid nobody tells is known by its name."""
        workload = f"k8s/{self.how.cluster}/{pod.uid or pod.shown}"
        run = run_of(pod.labels, pod.owner)
        labels = {f"k8s.label.{key}": value for key, value in pod.labels.items()}
        labels |= {f"k8s.annotation.{key}": value for key, value in pod.annotations.items()}
        labels |= self.namespaces.get(pod.namespace, {}) | ml_labels(pod.labels, run)
        labels |= {
            "k8s.cluster": self.how.cluster, "k8s.namespace": pod.namespace, "k8s.pod": pod.name, "k8s.uid": pod.uid, "k8s.node": pod.node,
            "k8s.owner_kind": pod.owner.kind, "k8s.owner": pod.owner.name, "k8s.priority_class": pod.priority, "gpu.model": model,
        }  # fmt: skip
        start = pod.run[0][0] if pod.started_s is None else min(pod.started_s, pod.run[0][0])
        end = pod.run[-1][1] if pod.ended_s is None else max(start, pod.ended_s)
        part_of = f"k8s/{self.how.cluster}/{pod.namespace}/{run.kind}/{run.name}" if run.kind else workload
        self.add((workload, part_of, pod.name), Interval(start, end), labels, pod.outcome(self.window))
        return workload

    def claim(self, place: Place, steps: Steps, labels: dict[str, str]) -> str:
        namespace, name = place
        workload = f"k8s/{self.how.cluster}/{namespace}/PersistentVolumeClaim/{name}"
        known = {"k8s.cluster": self.how.cluster, "k8s.namespace": namespace, "k8s.persistentvolumeclaim": name}
        span = Interval(steps[0][0], steps[-1][1])
        outcome = "running" if span.end_s >= self.window.end_s else "completed"
        self.add((workload, workload, name), span, labels | self.namespaces.get(namespace, {}) | known, outcome)
        return workload

    def add(self, names: tuple[str, str, str], span: Interval, labels: dict[str, str], outcome: str) -> None:
        workload, run, name = names
        self.rows.append({
            "source": self.how.source, "workload": workload, "run": run, "name": name, "start_s": span.start_s, "end_s": span.end_s,
            "outcome": outcome, "labels": sorted((key, value) for key, value in labels.items() if value),
        })  # fmt: skip

    def table(self) -> pa.Table:
        return pa.Table.from_pylist(self.rows, schema=WORKLOADS)


def namespaces(reading: Reading, keys: Keys) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for labels, _ in reading.facts(select("kube_namespace_labels")):
        mine = found.setdefault(labels.get("namespace", ""), {})
        mine |= {f"k8s.namespace_label.{key}": value for key, value in keys.labels(labels).items()}
    return found
