"""Whose a pod is: the chain of owners up to the object that a person made, and the queue that admitted it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from apportion.sources.kubernetes.objects import (
    CLUSTER_QUEUE,
    LOCAL_QUEUE,
    OWNERS,
    WORKLOAD,
    Moment,
    Object,
    get,
    group_of,
    labels_of,
    meta,
    references,
    table,
)

MOST_OWNERS = 16
TIMERS = ("CronJob", "CronWorkflow", "ScheduledWorkflow", "ScheduledSparkApplication")  # each time is a run of its own
VOLCANO = "batch.volcano.sh"  # its jobs are called as Kubernetes' own are
PREFIX = "kueue.x-k8s.io/"
GROUP = f"{PREFIX}pod-group-name"
QUEUES = ("volcano.sh/queue-name", "scheduling.volcano.sh/queue-name", "kai.scheduler/queue", "runai/queue", "yunikorn.apache.org/queue")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Owner:
    """A reference names kind, name and uid even where the object itself cannot be read."""

    kind: str
    name: str
    uid: str
    found: Object | None


class Owners:
    """All owners of one moment, by uid."""

    def __init__(self, moment: Moment) -> None:
        self.moment = moment
        self.by_uid = {str(meta(each, "uid")): each for kind in OWNERS for each in moment.all(kind)}
        self.admitted = {
            str(owner.get("uid")): workload for workload in moment.all(WORKLOAD) for owner in references(workload)
        }

    def chain(self, pod: Object) -> list[Owner]:
        """From the nearest owner to the top-most. A node that a static pod belongs to is none."""
        chain: list[Owner] = []
        seen: Object | None = pod
        while seen is not None and len(chain) < MOST_OWNERS:
            told = next(references(seen), None)
            if told is None or told.get("kind") == "Node" or any(each.uid == told.get("uid") for each in chain):
                break
            uid = str(told.get("uid"))
            seen = self.by_uid.get(uid)
            kind = "VolcanoJob" if group_of(told) == VOLCANO else str(told.get("kind"))
            chain.append(Owner(kind, str(told.get("name")), uid, seen))
        return chain

    def queue_labels(self, pod: Object, chain: Iterable[Owner]) -> dict[str, str]:
        """Kueue's queues and priority: from the pod's labels, its owners' labels, or the Workload that Kueue made for one of them."""
        uids = [str(meta(pod, "uid")), *(each.uid for each in chain)]
        workload = next((self.admitted[uid] for uid in uids if uid in self.admitted), None)
        labels: dict[str, str] = {}
        for each in [*reversed([each.found for each in chain]), pod]:
            labels |= labels_of(each)
        local = (
            labels.get(f"{PREFIX}local-queue-name")
            or labels.get(f"{PREFIX}queue-name")
            or get(workload, "spec", "queueName")
        )
        queue = self.moment.named(LOCAL_QUEUE, str(local), str(meta(pod, "namespace"))) if local else None
        cluster = (
            labels.get(f"{PREFIX}cluster-queue-name")
            or get(workload, "status", "admission", "clusterQueue")
            or get(queue, "spec", "clusterQueue")
        )
        priority = (
            labels.get(f"{PREFIX}priority-class")
            or get(workload, "spec", "priorityClassRef", "name")
            or get(workload, "spec", "priorityClassName")
        )
        whole = self.moment.named(CLUSTER_QUEUE, str(cluster)) if cluster else None
        told = {
            "kueue.local-queue": local,
            "kueue.cluster-queue": cluster,
            "kueue.cohort": cohort_of(whole),
            "kueue.priority-class": priority,
            "k8s.queue": other_queue(labels, table(pod, "metadata", "annotations")),
        }
        return {name: str(value) for name, value in told.items() if value}


def run_of(pod: Object, chain: list[Owner]) -> tuple[str, str]:
    """Kind and name of what the pod is a task or an attempt of, as metrics call it, too; empty where it stands alone."""
    runs = [each for each in chain if each.kind not in TIMERS]
    if runs:
        return runs[-1].kind, runs[-1].name
    group = labels_of(pod).get(GROUP)
    return ("PodGroup", group) if group else ("", "")


def cohort_of(queue: Object | None) -> str:
    return str(get(queue, "spec", "cohortName") or get(queue, "spec", "cohort") or "")


def other_queue(labels: Mapping[str, str], annotations: Mapping[str, str]) -> str:
    return next((str(found[key]) for key in QUEUES for found in (labels, annotations) if found.get(key)), "")
