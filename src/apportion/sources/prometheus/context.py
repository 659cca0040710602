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
    "ml.cluster_queue": ("kueue.x-k8s.io/cluster-queue-name",),
    "ml.priority": ("kueue.x-k8s.io/priority-class", "ray.io/priority-class-name"),
    "ml.role": (
        STEP, "training.kubeflow.org/replica-type", "ray.io/node-type", "jobset.sigs.k8s.io/replicatedjob-name", "volcano.sh/task-spec",
    ),
    "ml.attempt": ("jobset.sigs.k8s.io/restart-attempt", "volcano.sh/job-retry-count"),
    "ml.creator": ("workflows.argoproj.io/creator-email", "workflows.argoproj.io/creator"),
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


def ml_labels(labels: Mapping[str, str], run: Owner) -> dict[str, str]:
    found = {
        ours: value for ours, keys in FIRST_OF.items() if (value := next(filter(None, map(labels.get, keys)), None))
    }
    if run.kind:
        found |= {"ml.run": run.name, "ml.kind": run.kind}
    return found
