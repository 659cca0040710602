"""When a pod held its node, and how it ended."""

from collections.abc import Iterator
from dataclasses import dataclass

from apportion.errors import InputError, Problem
from apportion.model.times import parse_instant
from apportion.sources.kubernetes.objects import POD, Moment, Object, get, labels_of, listed, meta

STATUSES = ("containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses")
OVER = ("Succeeded", "Failed")
REASONS = {  # of the pod's status
    "Evicted": "preempted", "Preempting": "preempted", "Preempted": "preempted", "DeadlineExceeded": "timeout", "NodeLost": "node_fail",
    "NodeShutdown": "node_fail", "Shutdown": "node_fail", "Terminated": "node_fail", "OOMKilled": "out_of_memory",
}  # fmt: skip
DISRUPTIONS = {  # of the condition DisruptionTarget
    "PreemptionByScheduler": "preempted", "PreemptionByKubeScheduler": "preempted", "EvictionByEvictionAPI": "preempted",
    "TerminationByKubelet": "preempted", "DeletionByTaintManager": "node_fail", "DeletionByPodGC": "node_fail",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Pod:
    """`[start_s, end_s)` is when it held its node; what still runs is known up to the moment that was looked at."""

    found: Object
    uid: str
    namespace: str
    name: str
    node: str
    start_s: int
    end_s: int
    outcome: str

    @property
    def place(self) -> str:
        return f"pod {self.namespace}/{self.name}"


def pods_of(moment: Moment, problems: list[Problem]) -> Iterator[Pod]:
    """Pods that a node has taken. One that waits holds nothing."""
    for found in sorted(moment.all(POD), key=lambda each: str(meta(each, "uid"))):
        where = f"pod {meta(found, 'namespace')}/{meta(found, 'name')}"
        try:
            pod = pod_of(found, moment.at_s)
        except InputError as error:
            problems.append(Problem(where, error.code, error.message))
            continue
        if pod is None:
            continue
        if pod.end_s < pod.start_s:
            problems.append(Problem(where, "reversed-period", "the pod ends before it starts"))
            continue
        yield pod


def pod_of(found: Object, at_s: int) -> Pod | None:
    node = get(found, "spec", "nodeName")
    starts = instants(found, "running", "startedAt") + instants(found, "terminated", "startedAt")
    told = instant(get(found, "status", "startTime"))
    start = told if told is not None else min(starts, default=None)
    if not node or start is None:
        return None
    is_over = get(found, "status", "phase") in OVER
    end = ended(found) if is_over else max(at_s, start)
    if end is None:
        raise InputError(
            "missing-end", f"the pod is over ({get(found, 'status', 'phase')}) and nothing says since when"
        )
    return Pod(
        found, str(meta(found, "uid")), str(meta(found, "namespace")), str(meta(found, "name")), str(node), start, end, outcome(found)
    )  # fmt: skip


def ended(found: Object) -> int | None:
    """The last container's end; without containers, when the pod's conditions last changed or when it was to go."""
    ends = instants(found, "terminated", "finishedAt")
    if ends:
        return max(ends)
    changes = [instant(each.get("lastTransitionTime")) for each in listed(found, "status", "conditions")]
    known = [change for change in changes if change is not None]
    return max(known) if known else instant(meta(found, "deletionTimestamp"))


def outcome(found: Object) -> str:
    phase = get(found, "status", "phase")
    disruption = next(
        (
            str(each.get("reason"))
            for each in listed(found, "status", "conditions")
            if each.get("type") == "DisruptionTarget" and each.get("status") == "True"
        ),
        "",
    )
    if phase == "Succeeded":
        return "completed"
    if phase != "Failed":  # a pod that is being pushed out is gone before it could be seen to have failed
        return (
            DISRUPTIONS.get(disruption, "preempted") if disruption and meta(found, "deletionTimestamp") else "running"
        )
    reason = REASONS.get(str(get(found, "status", "reason")))
    if reason == "node_fail" or not disruption:
        return reason or ("out_of_memory" if "OOMKilled" in terminations(found) else "failed")
    return DISRUPTIONS.get(disruption, "preempted")


def terminations(found: Object) -> list[str]:
    return [
        str(get(each, "state", "terminated", "reason")) for name in STATUSES for each in listed(found, "status", name)
    ]


def instants(found: Object, state: str, name: str) -> list[int]:
    told = [instant(get(each, "state", state, name)) for key in STATUSES for each in listed(found, "status", key)]
    return [moment for moment in told if moment is not None]


def instant(text: object) -> int | None:
    return parse_instant(str(text)) if text else None


def created(found: Object) -> int:
    return instant(meta(found, "creationTimestamp")) or 0


def has_labels(found: Object, wanted: Object) -> bool:
    labels = labels_of(found)
    return all(labels.get(key) == value for key, value in wanted.items())
