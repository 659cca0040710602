"""Names that others changed: labels that Prometheus renamed while scraping, and keys that kube-state-metrics flattened."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

OTHER_NAMES = {  # our word -> what exporters call it; `exported_*` is what Prometheus makes of it where it does not honour labels
    "pod": ("exported_pod", "pod", "pod_name"),
    "namespace": ("exported_namespace", "namespace", "pod_namespace"),
    "container": ("exported_container", "container", "container_name"),
    "node": ("exported_node", "node", "node_name"),
    "uid": ("exported_uid", "uid", "pod_uid", "pod_id"),
}
EXPORTER = re.compile(r".*(dcgm|gpu|device|tpu|neuron|gaudi|habana|kepler)-?.*(exporter|monitor|plugin).*|kepler-.*")
KEYS = (
    "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/cluster-queue-name", "kueue.x-k8s.io/local-queue-name", "kueue.x-k8s.io/podset",
    "kueue.x-k8s.io/priority-class", "kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/managed", "kueue.x-k8s.io/prebuilt-workload-name",
    "jobset.sigs.k8s.io/jobset-name", "jobset.sigs.k8s.io/jobset-uid", "jobset.sigs.k8s.io/replicatedjob-name", "jobset.sigs.k8s.io/job-index",
    "jobset.sigs.k8s.io/job-global-index", "jobset.sigs.k8s.io/job-key", "jobset.sigs.k8s.io/global-replicas", "jobset.sigs.k8s.io/group-name",
    "jobset.sigs.k8s.io/restart-attempt", "jobset.sigs.k8s.io/job-restart-attempt",
    "trainer.kubeflow.org/trainjob-ancestor-step", "trainer.kubeflow.org/framework",
    "training.kubeflow.org/job-name", "training.kubeflow.org/replica-type", "training.kubeflow.org/replica-index",
    "training.kubeflow.org/job-role", "training.kubeflow.org/operator-name",
    "ray.io/cluster", "ray.io/node-type", "ray.io/group", "ray.io/is-ray-node", "ray.io/identifier", "ray.io/originated-from-cr-name",
    "ray.io/originated-from-crd", "ray.io/priority-class-name", "ray.io/cronjob-name",
    "volcano.sh/job-name", "volcano.sh/job-namespace", "volcano.sh/queue-name", "volcano.sh/task-spec", "volcano.sh/task-index",
    "volcano.sh/job-retry-count",
    "workflows.argoproj.io/workflow", "workflows.argoproj.io/cron-workflow", "workflows.argoproj.io/workflow-template",
    "workflows.argoproj.io/creator", "workflows.argoproj.io/creator-email", "workflows.argoproj.io/phase",
    "batch.kubernetes.io/job-name", "batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-completion-index", "job-name",
    "kai.scheduler/queue", "yunikorn.apache.org/queue", "yunikorn.apache.org/app-id", "leaderworkerset.sigs.k8s.io/name",
    "app.kubernetes.io/name", "app.kubernetes.io/instance", "app.kubernetes.io/component", "app.kubernetes.io/part-of",
    "app.kubernetes.io/managed-by", "app.kubernetes.io/version", "kubernetes.io/metadata.name", "cost-center", "cost-centre",
    "kubernetes.io/hostname", "kubernetes.io/arch", "kubernetes.io/os", "node.kubernetes.io/instance-type", "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone", "karpenter.sh/nodepool", "karpenter.sh/capacity-type", "eks.amazonaws.com/nodegroup",
    "eks.amazonaws.com/capacityType", "cloud.google.com/gke-nodepool", "cloud.google.com/gke-spot", "cloud.google.com/gke-accelerator",
    "cloud.google.com/gke-tpu-accelerator", "kubernetes.azure.com/agentpool", "agentpool",
    "alpha.eksctl.io/nodegroup-name", "beta.kubernetes.io/instance-type", "cloud.google.com/gke-provisioning", "kubernetes.azure.com/scalesetpriority",
    "nvidia.com/gpu.product", "nvidia.com/gpu.count", "nvidia.com/gpu.replicas", "nvidia.com/gpu.sharing-strategy", "nvidia.com/gpu.memory",
    "nvidia.com/mig.strategy", "nvidia.com/gpu.family", "nvidia.com/gpu.present",
)  # fmt: skip


def flattened(key: str) -> str:
    """As kube-state-metrics writes a key: other characters become `_`, camelCase becomes snake_case."""
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", re.sub(r"[^a-zA-Z0-9_]", "_", key)).lower()


@dataclass(frozen=True, slots=True)
class Keys:
    """True spellings of flattened keys; one that nobody knows stays as it is."""

    known: Mapping[str, str]

    @classmethod
    def of(cls, more: Iterable[str] = ()) -> "Keys":
        return cls({flattened(key): key for key in (*KEYS, *more)})

    def labels(self, found: Mapping[str, str], prefix: str = "label_") -> dict[str, str]:
        """The labels of an object, out of those of its `kube_*_labels` series."""
        return {
            self.known.get(name.removeprefix(prefix), name.removeprefix(prefix)): value
            for name, value in sorted(found.items())
            if name.startswith(prefix) and value
        }


@dataclass(frozen=True, slots=True)
class Spelling:
    """Which of a metric's labels says what."""

    names: Mapping[str, str]

    @classmethod
    def of(cls, found: Iterable[Mapping[str, str]], renamed: Mapping[str, str]) -> "Spelling":
        """The setting decides, else the first name that any series carries."""
        there = {name for labels in found for name, value in labels.items() if value}
        names = {}
        for word, others in OTHER_NAMES.items():
            own = renamed.get(word)
            names[word] = own if own in there else next((name for name in others if name in there), word)
        return cls(names)

    def respelled(self, labels: Mapping[str, str]) -> dict[str, str]:
        """Our words instead of theirs; what the scrape added under the same word is left out."""
        kept = {name: value for name, value in labels.items() if name not in self.names}
        kept |= {word: labels[name] for word, name in self.names.items() if labels.get(name)}
        return kept


def workload_of(labels: Mapping[str, str]) -> tuple[str, str] | None:
    """Namespace and pod that a device's row speaks of; None for a row of the device alone, which carries its exporter's own pod at most."""
    pod = labels.get("pod", "")
    if not pod or EXPORTER.fullmatch(pod):
        return None
    return labels.get("namespace", ""), pod
