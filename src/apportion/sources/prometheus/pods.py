"""The pods of a window: who they are, when they ran, how they ended."""

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from apportion.model.times import Interval
from apportion.sources.live import Progress
from apportion.sources.prometheus.context import NOBODY, Owner
from apportion.sources.prometheus.gaps import Gaps
from apportion.sources.prometheus.reading import Part, Reading
from apportion.sources.prometheus.samples import Series, hold, union
from apportion.sources.prometheus.selectors import Matcher, Selector, select
from apportion.sources.prometheus.spelling import Keys
from apportion.sources.prometheus.steps import Steps, clipped, holes, merged, positive, steps_of

RUNNING = select("kube_pod_status_phase", phase="Running")
OVER = Selector("kube_pod_status_phase", (Matcher("phase", "=~", "Succeeded|Failed"),))
REASONS = {
    "Evicted": "preempted", "Preempting": "preempted", "Preempted": "preempted", "PreemptionByScheduler": "preempted",
    "EvictionByEvictionAPI": "preempted", "PreemptionByKubeScheduler": "preempted",
    "NodeLost": "node_fail", "NodeShutdown": "node_fail", "Shutdown": "node_fail",
    "Terminated": "node_fail", "NodeAffinity": "failed", "UnexpectedAdmissionError": "failed", "DeletionByTaintManager": "node_fail",
    "TerminationByKubelet": "node_fail", "DeadlineExceeded": "timeout", "OOMKilled": "out_of_memory",
}  # fmt: skip


@dataclass(slots=True)
class Pod:
    """`run` are the steps in which it was Running, in the window."""

    namespace: str
    name: str
    uid: str
    node: str = ""
    owner: Owner = NOBODY
    labels: dict[str, str] = field(default_factory=dict)  # as Kubernetes spells them
    annotations: dict[str, str] = field(default_factory=dict)
    host_network: bool = False
    priority: str = ""
    started_s: int | None = None
    ended_s: int | None = None
    phase: str = ""
    reason: str = ""
    run: Steps = field(default_factory=list)

    @property
    def shown(self) -> str:
        return f"{self.namespace}/{self.name}"

    def outcome(self, window: Interval) -> str:
        """One that was deleted while it ran counts as completed: nobody is credited by mistake."""
        if not self.phase and self.run and self.run[-1][1] >= window.end_s:
            return "running"
        if self.reason in REASONS and self.phase != "Succeeded":
            return REASONS[self.reason]
        return "failed" if self.phase == "Failed" else "completed"


@dataclass
class Pods:
    """By uid, or by namespace and name where there is none."""

    window: Interval
    found: dict[str, Pod] = field(default_factory=dict)
    named: dict[tuple[str, str], list[tuple[int, str]]] = field(default_factory=dict)

    def pod(self, labels: dict[str, str]) -> Pod:
        namespace, name, uid = labels.get("namespace", ""), labels.get("pod", ""), labels.get("uid", "")
        return self.found.setdefault(uid or f"{namespace}/{name}", Pod(namespace, name, uid))

    def ready(self, step: int) -> None:
        """Names are known from here on. A pod whose start nobody tells began up to one step before it was first seen."""
        for key, pod in self.found.items():
            seen = pod.run[0][0] - step if pod.run else 0
            begin = seen if pod.started_s is None else min(pod.started_s, seen + step) if pod.run else pod.started_s
            self.named.setdefault((pod.namespace, pod.name), []).append((begin, key))
        for entries in self.named.values():
            entries.sort()

    def who(self, namespace: str, name: str, times: np.ndarray) -> list[tuple[str, np.ndarray]]:
        """Whose each sample of a name is: of pods that had it one after the other, the last that had begun by then."""
        entries = self.named.get((namespace, name), [])
        if len(entries) < 2:
            return [(key, np.ones(len(times), bool)) for _, key in entries]
        begins = np.array([begin for begin, _ in entries])
        which = np.maximum(np.searchsorted(begins, times, side="right") - 1, 0)
        return [(key, which == number) for number, (_, key) in enumerate(entries) if (which == number).any()]

    def owner_of(self, one: Series) -> list[tuple[str, Series]]:
        """The samples of a series by pod. A uid decides, as does a cgroup that carries one."""
        labels = one.labels
        if labels.get("uid") in self.found:
            return [(labels["uid"], one)]
        namespace, name = labels.get("namespace", ""), labels.get("pod", "")
        entries = self.named.get((namespace, name), [])
        group = labels.get("id", "")
        for _, key in entries if group else ():
            if key in group or key.replace("-", "_") in group:
                return [(key, one)]
        return [
            (key, one if mine.all() else Series(labels, one.times[mine], one.values[mine]))
            for key, mine in self.who(namespace, name, one.times)
        ]


def read_pods(reading: Reading, gaps: Gaps, keys: Keys) -> Iterator[Pods | Progress]:
    """Progress, and at the end the pods."""
    pods = Pods(reading.window)
    tell_facts(reading, pods, keys)
    running: dict[str, Steps] = {}
    step = 0
    for part in reading.parts(RUNNING, "namespace"):
        if isinstance(part, Progress):
            yield part
            continue
        step = max(step, *part.steps.values())
        for key, steps in phases(part, pods, reading, gaps):
            running.setdefault(key, []).extend(steps)
    for key, steps in running.items():
        pod = pods.found[key]
        whole = merged(steps)
        pod.run = positive(whole)
        for hole in holes(whole):
            gaps.miss(RUNNING.name, hole, pod.shown)
    pods.ready(step or 60)
    yield pods


def phases(part: Part, pods: Pods, reading: Reading, gaps: Gaps) -> Iterator[tuple[str, Steps]]:
    together: dict[str, list[Series]] = {}
    for one in part.series:
        pod = pods.pod(dict(one.labels))
        together.setdefault(pod.uid or pod.shown, []).append(one)
    for key, series in together.items():
        held = hold(*union(series), part.step(series[0]), reading.how.pad_s)
        gaps.note(RUNNING.name, held, pods.found[key].shown)
        yield key, clipped(steps_of(held), part.buckets.window)


def tell_facts(reading: Reading, pods: Pods, keys: Keys) -> None:
    tell_owners(reading, pods)
    for labels, _ in reading.facts(select("kube_pod_labels")):
        pods.pod(labels).labels |= keys.labels(labels)
    for labels, _ in reading.facts(select("kube_pod_annotations")):
        pods.pod(labels).annotations |= keys.labels(labels, "annotation_")
    for labels, value in reading.facts(select("kube_pod_start_time")):
        pods.pod(labels).started_s = int(value)
    for labels, value in reading.facts(select("kube_pod_completion_time")):
        pods.pod(labels).ended_s = int(value)
    tell_ends(reading, pods)


def tell_owners(reading: Reading, pods: Pods) -> None:
    for labels, _ in reading.facts(select("kube_pod_info")):
        pod = pods.pod(labels)
        pod.node = labels.get("node") or pod.node
        pod.host_network = labels.get("host_network") == "true"
        pod.priority = labels.get("priority_class", "")
        if labels.get("created_by_kind", "<none>") != "<none>":
            pod.owner = Owner(labels["created_by_kind"], labels.get("created_by_name", ""))
    for labels, _ in reading.facts(select("kube_pod_owner")):
        if labels.get("owner_kind", "<none>") not in ("<none>", ""):
            pods.pod(labels).owner = Owner(labels["owner_kind"], labels.get("owner_name", ""))


def tell_ends(reading: Reading, pods: Pods) -> None:
    for labels, value in reading.facts(OVER):
        if value == 1:
            pods.pod(labels).phase = labels["phase"]
    for name in (
        "kube_pod_container_status_terminated_reason",
        "kube_pod_status_reason",
        "kube_pod_status_disruption_reason",
    ):
        for labels, value in reading.facts(select(name)):
            if value == 1 and labels.get("reason") in REASONS:
                pods.pod(labels).reason = labels["reason"]
