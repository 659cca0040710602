"""Pods as workloads: labels, owners up to the top, queues, ends and outcomes."""

from typing import Any

import pytest

from tests.kubernetes.objects import AT_S, HOUR_S, Object, made, namespace, node, pod
from tests.kubernetes.reading import codes, one, rows
from tests.kubernetes.server import serving


def workload(*objects: Object, **settings: Any) -> dict[str, Any]:
    """Of the only pod among the objects."""
    with serving([node(), namespace("vision", team="vision"), *objects]) as recorded:
        (found,) = rows(one(recorded, **settings), "workloads")
    return found


def test_labels_keep_their_spelling_and_annotations_come_by_list() -> None:
    found = workload(
        pod(
            "train-0",
            labels={"app.kubernetes.io/name": "bert", "Team-Name": "Vision"},
            annotations={"example.com/ticket": "T-1", "example.com/secret": "no", "kubectl.kubernetes.io/x": "no"},
        ),
        annotations=["example.com/t*"],
    )
    labels = found["labels"]
    assert labels["k8s.label.app.kubernetes.io/name"] == "bert"
    assert labels["k8s.label.Team-Name"] == "Vision"
    assert labels["k8s.namespace_label.team"] == "vision"
    assert {key for key in labels if key.startswith("k8s.annotation.")} == {"k8s.annotation.example.com/ticket"}
    assert found["workload"] == found["run"] == f"k8s/c/{labels['k8s.uid']}"


def test_labels_may_be_chosen() -> None:
    labels = workload(pod("a", labels={"team": "x", "pod-template-hash": "f00"}), labels=["team"])["labels"]
    assert labels["k8s.label.team"] == "x"
    assert "k8s.label.pod-template-hash" not in labels


def train_job() -> list[Object]:
    train = made(
        "trainer.kubeflow.org/v1alpha1",
        "TrainJob",
        "llm",
        "vision",
        labels={"team": "nlp", "kueue.x-k8s.io/queue-name": "lq"},
    )
    jobset = made("jobset.x-k8s.io/v1alpha2", "JobSet", "llm", "vision", owner=train)
    job = made("batch/v1", "Job", "llm-node-0", "vision", owner=jobset)
    return [train, jobset, job]


def test_the_run_is_the_top_most_owner_and_the_chain_is_told() -> None:
    train, jobset, job = train_job()
    found = workload(train, jobset, job, pod("llm-node-0-0-x", owner=job))
    assert found["run"] == "k8s/c/vision/TrainJob/llm"
    assert (found["labels"]["ml.kind"], found["labels"]["ml.run"]) == ("TrainJob", "llm")
    assert (found["labels"]["k8s.owner_kind"], found["labels"]["k8s.owner"]) == ("Job", "llm-node-0")
    assert found["labels"]["k8s.owners"] == "Job/llm-node-0 < JobSet/llm < TrainJob/llm"
    assert found["labels"]["k8s.owner_label.team"] == "nlp"


def test_an_owner_that_is_not_there_is_known_by_its_reference() -> None:
    _, jobset, job = train_job()
    found = workload(jobset, job, pod("a", owner=job))
    assert found["run"] == "k8s/c/vision/TrainJob/llm"
    assert "k8s.owner_label.team" not in found["labels"]


def test_ray_workers_lead_to_their_ray_job() -> None:
    ray = made("ray.io/v1", "RayJob", "tune", "vision")
    cluster = made("ray.io/v1", "RayCluster", "tune-raycluster", "vision", owner=ray)
    found = workload(ray, cluster, pod("tune-worker-0", owner=cluster))
    assert (found["labels"]["ml.kind"], found["labels"]["ml.run"]) == ("RayJob", "tune")


def test_each_time_of_a_cron_job_is_a_run() -> None:
    cron = made("batch/v1", "CronJob", "nightly", "vision")
    job = made("batch/v1", "Job", "nightly-1", "vision", owner=cron)
    found = workload(cron, job, pod("nightly-1-x", owner=job))
    assert found["run"] == "k8s/c/vision/Job/nightly-1"
    assert found["labels"]["k8s.owners"] == "Job/nightly-1 < CronJob/nightly"


def test_the_nearest_owners_labels_win() -> None:
    train, jobset, job = train_job()
    job["metadata"]["labels"] = {"team": "mine"}
    assert workload(train, jobset, job, pod("a", owner=job))["labels"]["k8s.owner_label.team"] == "mine"


def test_a_pod_group_is_a_run() -> None:
    assert workload(pod("a", labels={"kueue.x-k8s.io/pod-group-name": "g"}))["run"] == "k8s/c/vision/PodGroup/g"


def test_owners_in_a_ring_end() -> None:
    second = made("batch/v1", "Job", "b", "vision", owner=made("batch/v1", "Job", "a", "vision"))
    first = made("batch/v1", "Job", "a", "vision", owner=second)
    assert workload(first, second, pod("x", owner=first))["labels"]["k8s.owners"] == "Job/a < Job/b"


def test_volcanos_jobs_are_not_kubernetes_own() -> None:
    job = made("batch.volcano.sh/v1alpha1", "Job", "vj", "vision", labels={"team": "v"})
    found = workload(job, pod("vj-0", owner=job, labels={"volcano.sh/queue-name": "gold"}))
    assert found["labels"]["k8s.owner_label.team"] == "v"
    assert found["labels"]["k8s.queue"] == "gold"
    assert found["run"] == "k8s/c/vision/VolcanoJob/vj"


QUEUE = made("kueue.x-k8s.io/v1beta1", "ClusterQueue", "cq", spec={"cohort": "all", "resourceGroups": []})
LOCAL = made("kueue.x-k8s.io/v1beta1", "LocalQueue", "lq", "vision", spec={"clusterQueue": "cq"})


@pytest.mark.parametrize("told_by", ["pod", "owner", "workload"])
def test_queues_are_found_on_the_pod_its_owner_or_kueues_workload(told_by: str) -> None:
    job = made(
        "batch/v1", "Job", "j", "vision", labels={"kueue.x-k8s.io/queue-name": "lq"} if told_by == "owner" else None
    )
    on_pod = {"kueue.x-k8s.io/local-queue-name": "lq", "kueue.x-k8s.io/cluster-queue-name": "cq"}
    admission = made(
        "kueue.x-k8s.io/v1beta1", "Workload", "job-j", "vision", owner=job,
        spec={"queueName": "lq", "priorityClassName": "high"}, status={"admission": {"clusterQueue": "cq"}},
    )  # fmt: skip
    objects = [QUEUE, LOCAL, job, pod("a", owner=job, labels=on_pod if told_by == "pod" else None)]
    labels = workload(*objects, *([admission] if told_by == "workload" else []))["labels"]
    assert [labels[f"kueue.{key}"] for key in ("local-queue", "cluster-queue", "cohort")] == ["lq", "cq", "all"]
    assert labels.get("kueue.priority-class") == ("high" if told_by == "workload" else None)


def disrupted(reason: str) -> Object:
    return {
        "conditions": [
            {
                "type": "DisruptionTarget",
                "status": "True",
                "reason": reason,
                "lastTransitionTime": "2026-11-03T11:30:00Z",
            }
        ]
    }


ENDS: list[tuple[dict[str, Any], str]] = [
    ({"end": AT_S - 600}, "completed"),
    ({}, "running"),
    ({"end": AT_S - 600, "phase": "Failed"}, "failed"),
    ({"end": AT_S - 600, "phase": "Failed", "terminated": "OOMKilled"}, "out_of_memory"),
    ({"end": AT_S - 600, "phase": "Failed", "status": {"reason": "DeadlineExceeded"}}, "timeout"),
    ({"end": AT_S - 600, "phase": "Failed", "status": {"reason": "Evicted"}}, "preempted"),
    ({"end": AT_S - 600, "phase": "Failed", "status": disrupted("PreemptionByScheduler")}, "preempted"),
    ({"end": AT_S - 600, "phase": "Failed", "status": disrupted("DeletionByTaintManager")}, "node_fail"),
    (
        {"end": AT_S - 600, "phase": "Failed", "status": {"reason": "Terminated", **disrupted("TerminationByKubelet")}},
        "node_fail",
    ),
    ({"status": disrupted("PreemptionByScheduler"), "deletionTimestamp": "2026-11-03T12:00:30Z"}, "preempted"),
    ({"status": disrupted("PreemptionByScheduler")}, "running"),
]


@pytest.mark.parametrize(("how", "outcome"), ENDS)
def test_how_a_pod_ended(how: dict[str, Any], outcome: str) -> None:
    made_ = pod("a", **{key: value for key, value in how.items() if key != "deletionTimestamp"})
    if "deletionTimestamp" in how:
        made_["metadata"]["deletionTimestamp"] = how["deletionTimestamp"]
    found = workload(made_)
    assert found["outcome"] == outcome
    assert (found["start_s"], found["end_s"]) == (AT_S - HOUR_S, how.get("end", AT_S))


def test_an_evicted_pod_without_containers_ends_when_its_conditions_changed() -> None:
    found = workload(
        pod(
            "a",
            phase="Failed",
            status={"reason": "Evicted", "containerStatuses": None, **disrupted("TerminationByKubelet")},
        )
    )
    assert found["end_s"] == AT_S - 1800
    assert found["outcome"] == "preempted"


def test_the_last_container_ends_a_pod() -> None:
    states = [
        {"name": str(end), "state": {"terminated": {"finishedAt": f"2026-11-03T11:{end}:00Z", "startedAt": None}}}
        for end in (20, 40, 30)
    ]
    assert workload(pod("a", phase="Succeeded", status={"containerStatuses": states}))["end_s"] == AT_S - 1200


def test_what_waits_holds_nothing_and_what_has_no_end_is_listed() -> None:
    waiting = pod("waiting", phase="Pending", node=None, status={"startTime": None, "containerStatuses": []})
    lost = pod("lost", phase="Failed", status={"containerStatuses": []})
    wrong = pod("wrong", status={"startTime": "yesterday"})
    with serving([node(), waiting, lost, wrong]) as recorded:
        found = one(recorded)
    assert rows(found, "workloads") == []
    assert codes(found) == ["invalid-time", "missing-end"]
