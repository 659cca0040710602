"""What a pod is part of: its run, the kind of it, its queue and its role, by the labels that ML schedulers and operators put on pods."""

from collections.abc import Mapping
from dataclasses import dataclass

STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
RUNS = (  # the outermost first; kind, label with its name
    ("JobSet", "jobset.sigs.k8s.io/jobset-name"),
    ("", "training.kubeflow.org/job-name"),  # the owner's kind: PyTorchJob, TFJob, MPIJob, ...
    ("RayCluster", "ray.io/cluster"),
    ("VolcanoJob", "volcano.sh/job-name"),
    ("Workflow", "workflows.argoproj.io/workflow"),
    ("LeaderWorkerSet", "leaderworkerset.sigs.k8s.io/name"),
    ("PodGroup", "kueue.x-k8s.io/pod-group-name"),
    ("Job", "batch.kubernetes.io/job-name"),
    ("Job", "job-name"),
)
QUEUES = (
    "kueue.x-k8s.io/local-queue-name", "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/cluster-queue-name", "volcano.sh/queue-name",
    "kai.scheduler/queue", "yunikorn.apache.org/queue",
)  # fmt: skip
FIRST_OF = {
    "ml.queue": QUEUES,
    "kueue.local-queue": ("kueue.x-k8s.io/local-queue-name", "kueue.x-k8s.io/queue-name"),
    "kueue.cluster-queue": ("kueue.x-k8s.io/cluster-queue-name",),
    "kueue.priority-class": ("kueue.x-k8s.io/priority-class",),
    "ml.role": (
        STEP, "training.kubeflow.org/replica-type", "ray.io/node-type", "jobset.sigs.k8s.io/replicatedjob-name", "volcano.sh/task-spec",
    ),
    "ml.attempt": ("jobset.sigs.k8s.io/restart-attempt", "volcano.sh/job-retry-count"),
    "ml.creator": ("workflows.argoproj.io/creator-email", "workflows.argoproj.io/creator"),
}  # fmt: skip


PLACES = {  # of nodes: how clouds and node autoscalers call the same thing
    "k8s.instance_type": ("node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"),
    "k8s.node_group": (
        "eks.amazonaws.com/nodegroup", "alpha.eksctl.io/nodegroup-name", "karpenter.sh/nodepool", "cloud.google.com/gke-nodepool",
        "kubernetes.azure.com/agentpool", "agentpool",
    ),
    "k8s.zone": ("topology.kubernetes.io/zone",),
    "k8s.region": ("topology.kubernetes.io/region",),
    "k8s.capacity_type": (
        "karpenter.sh/capacity-type", "eks.amazonaws.com/capacityType", "cloud.google.com/gke-provisioning", "kubernetes.azure.com/scalesetpriority",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Owner:
    """The object that made a pod; its kind is empty where nobody did."""

    kind: str = ""
    name: str = ""


NOBODY = Owner()


def run_of(labels: Mapping[str, str], owner: Owner) -> Owner:
    """The job or cluster that a pod is part of; its owner where no label says more."""
    for kind, key in RUNS:
        if name := labels.get(key):
            trained = kind == "JobSet" and STEP in labels  # Kubeflow Trainer names the JobSet as its TrainJob
            return Owner("TrainJob" if trained else kind or owner.kind or "TrainingJob", name)
    return owner


def first_labels(labels: Mapping[str, str], wanted: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """For each of our names the first of the keys that is there."""
    return {ours: value for ours, keys in wanted.items() if (value := next(filter(None, map(labels.get, keys)), None))}


def ml_labels(labels: Mapping[str, str], run: Owner) -> dict[str, str]:
    found = first_labels(labels, FIRST_OF)
    if run.kind:
        found |= {"ml.run": run.name, "ml.kind": run.kind}
    return found
