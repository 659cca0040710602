"""Nodes as capacity, and quotas as reservations."""

from typing import Any

from apportion.model.meters import GPU
from tests.kubernetes.objects import AT_S, HOUR_S, OLD, Object, devices, gpu, made, mig, namespace, node, pod
from tests.kubernetes.reading import LAST_HOUR, codes, one, rows
from tests.kubernetes.server import serving


def capacity(*objects: Object, meter: str = "gpu") -> list[tuple[str, int, int, int, str]]:
    """Node, from and to in seconds of the window, amount and state."""
    with serving(objects) as recorded:
        found = rows(one(recorded), "capacity")
    begin = LAST_HOUR.start_s
    return [
        (row["resource"], row["start_s"] - begin, row["end_s"] - begin, row["amount"], row["state"])
        for row in found
        if row["meter"] == meter
    ]


def test_a_node_offers_all_that_it_has() -> None:
    kept = node(allocatable={"cpu": "63", "memory": "500Gi"})
    assert capacity(kept) == [("node-1", 0, 3600, 8 * GPU, "up")]
    assert capacity(kept, meter="cpu") == [("node-1", 0, 3600, 64_000, "up")]
    assert capacity(kept, meter="node") == [("node-1", 0, 3600, 1, "up")]


def test_a_node_says_what_it_is() -> None:
    labels = {
        "node.kubernetes.io/instance-type": "p5.48xlarge",
        "eks.amazonaws.com/nodegroup": "h100",
        "topology.kubernetes.io/zone": "us-east-1a",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
    }
    with serving([node(labels=labels), pod("a")]) as recorded:
        found = one(recorded)
    told = rows(found, "capacity")[0]["labels"]
    assert {key: told[f"k8s.{key}"] for key in ("cluster", "instance_type", "node_group", "zone", "instance_id")} == {
        "cluster": "c",
        "instance_type": "p5.48xlarge",
        "node_group": "h100",
        "zone": "us-east-1a",
        "instance_id": "i-node-1",
    }
    assert told["k8s.node_label.node.kubernetes.io/instance-type"] == "p5.48xlarge"
    assert told["gpu.model"] == "NVIDIA-H100-80GB-HBM3"
    assert rows(found, "workloads")[0]["labels"]["gpu.model"] == "NVIDIA-H100-80GB-HBM3"


def test_time_sliced_boards_are_as_many_as_there_are() -> None:
    labels = {"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "time-slicing"}
    assert capacity(node(capacity={"nvidia.com/gpu": "32"}, labels=labels))[0][3] == 8 * GPU


def test_a_broken_gpu_is_down() -> None:
    assert capacity(node(allocatable={"nvidia.com/gpu": "7"})) == [
        ("node-1", 0, 3600, 7 * GPU, "up"),
        ("node-1", 0, 3600, GPU, "down"),
    ]


def test_states_of_nodes() -> None:
    late, soon = "2026-11-03T11:15:00Z", "2026-11-03T11:10:00Z"
    taint = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": late}
    nodes = [
        node("a", ready={"status": "Unknown", "lastTransitionTime": late}),
        node("b", spec={"unschedulable": True, "taints": [taint]}),
        node("c", spec={"unschedulable": True}),
        node("d", creationTimestamp=soon, ready={"lastTransitionTime": late}),
        node("e", creationTimestamp=soon, ready={"status": "False", "lastTransitionTime": soon}),
        node("f", spec={"taints": [{"key": "karpenter.sh/unregistered", "effect": "NoExecute"}]}),
        node("g", ready={"lastTransitionTime": late}),
    ]
    assert [(*row[:3], row[4]) for row in capacity(*nodes)] == [
        ("a", 0, 900, "up"),
        ("a", 900, 3600, "down"),
        ("b", 0, 900, "up"),
        ("b", 900, 3600, "drained"),
        ("c", 0, 3600, "drained"),
        ("d", 600, 900, "starting"),
        ("d", 900, 3600, "up"),
        ("e", 600, 3600, "starting"),
        ("f", 0, 3600, "starting"),
        ("g", 0, 3600, "up"),
    ]


def test_drivers_speak_for_nodes_without_device_plugin() -> None:
    offered = devices("node-1", 1, gpu(0), gpu(1), mig(1, "1g.10gb", 0), mig(2, "3g.40gb", 0), mig(2, "3g.40gb", 1))
    assert capacity(node(capacity={}), offered) == [("node-1", 0, 3600, 3 * GPU, "up")]
    assert capacity(node(), offered)[0][3] == 8 * GPU


def test_a_node_of_unknown_parts_is_listed() -> None:
    with serving([node(capacity={"nvidia.com/gpu.shared": "4"})]) as recorded:
        found = one(recorded)
        assert codes(found) == ["unknown-share"]
        assert {row["meter"] for row in rows(found, "capacity")} == {"node", "cpu", "memory"}
        told = {row["meter"]: row["amount"] for row in rows(one(recorded, sharing={"replicas": 4}), "capacity")}
        assert told["gpu"] == GPU


def queue(name: str, version: str = "v1beta1", **flavours: dict[str, str]) -> Object:
    groups = [
        {
            "coveredResources": sorted(amounts),
            "flavors": [
                {"name": flavour, "resources": [{"name": key, "nominalQuota": value} for key, value in amounts.items()]}
            ],
        }
        for flavour, amounts in flavours.items()
    ]
    cohort = "cohort" if version == "v1beta1" else "cohortName"
    return made(f"kueue.x-k8s.io/{version}", "ClusterQueue", name, spec={cohort: "all", "resourceGroups": groups})


def promises(*objects: Object, **settings: Any) -> tuple[dict[tuple[str, str], int], list[dict[str, str]], list[str]]:
    with serving([node(), *objects]) as recorded:
        found = one(recorded, **settings)
    kept = rows(found, "reservations")
    assert {(row["start_s"], row["end_s"]) for row in kept} <= {(LAST_HOUR.start_s, AT_S)}
    return (
        {(row["reservation"], row["meter"]): row["amount"] for row in kept},
        [row["labels"] for row in kept],
        codes(found),
    )


def test_nominal_quotas_are_promises_by_queue_and_flavour() -> None:
    flavour = made("kueue.x-k8s.io/v1beta1", "ResourceFlavor", "h100", spec={"nodeLabels": {"pool": "h100"}})
    local = made("kueue.x-k8s.io/v1beta1", "LocalQueue", "lq", "vision", spec={"clusterQueue": "q"})
    objects = [
        queue("q", h100={"nvidia.com/gpu": "16", "cpu": "100"}, a100={"nvidia.com/gpu": "4", "pods": "9"}),
        flavour,
        local,
        namespace("vision", team="v"),
    ]
    amounts, labels, problems = promises(*objects)
    assert amounts == {
        ("k8s/c/kueue/q/h100", "gpu"): 16 * GPU,
        ("k8s/c/kueue/q/h100", "cpu"): 100_000,
        ("k8s/c/kueue/q/a100", "gpu"): 4 * GPU,
    }
    assert labels[0] == {
        "k8s.cluster": "c",
        "k8s.namespace": "vision",
        "k8s.namespace_label.kubernetes.io/metadata.name": "vision",
        "k8s.namespace_label.team": "v",
        "k8s.node_label.pool": "h100",
        "kueue.cluster-queue": "q",
        "kueue.cohort": "all",
        "kueue.flavour": "h100",
    }
    assert problems == []


def test_newer_kueue_and_quotas_of_cohorts() -> None:
    cohort = queue("all", "v1beta2", spot={"nvidia.com/gpu": "8"}) | {"kind": "Cohort"}
    newer = queue("q", "v1beta2", h100={"nvidia.com/gpu": "2"})
    amounts, labels, _ = promises(newer, cohort)
    assert amounts == {("k8s/c/kueue/q/h100", "gpu"): 2 * GPU, ("k8s/c/kueue/cohort:all/spot", "gpu"): 8 * GPU}
    assert [each["kueue.cohort"] for each in labels] == ["all", "all"]


def test_a_quota_over_boards_of_different_parts_is_listed() -> None:
    shared = node("node-2", labels={"nvidia.com/gpu.replicas": "4"})
    amounts, _, problems = promises(shared, queue("q", any={"nvidia.com/gpu": "4", "cpu": "1"}))
    assert amounts == {("k8s/c/kueue/q/any", "cpu"): 1000}
    assert problems == ["unknown-share"]


def quota(name: str, hard: dict[str, str], **spec: Any) -> Object:
    return made("v1", "ResourceQuota", name, "vision", spec={"hard": hard, **spec})


def test_the_tightest_quota_of_a_namespace_counts_where_quotas_are_chosen() -> None:
    objects = [
        namespace("vision", team="v"),
        quota(
            "a",
            {
                "requests.nvidia.com/gpu": "16",
                "requests.cpu": "100",
                "limits.cpu": "1",
                "pods": "5",
                "requests.storage": "1Ti",
            },
        ),
        quota("b", {"requests.nvidia.com/gpu": "8", "cpu": "120"}),
        quota("c", {"requests.nvidia.com/gpu": "1"}, scopeSelector={"matchExpressions": []}),
        queue("q", h100={"nvidia.com/gpu": "16"}),
    ]
    amounts, labels, _ = promises(*objects, reservations=["quota"])
    assert amounts == {("k8s/c/quota/vision", "gpu"): 8 * GPU, ("k8s/c/quota/vision", "cpu"): 100_000}
    assert labels[0]["k8s.namespace_label.team"] == "v"
    assert promises(*objects)[0] == {("k8s/c/kueue/q/h100", "gpu"): 16 * GPU}


def test_a_promise_begins_with_its_object() -> None:
    young = queue("q", h100={"nvidia.com/gpu": "1"})
    young["metadata"]["creationTimestamp"] = "2026-11-03T11:30:00Z"
    assert young["metadata"]["creationTimestamp"] > OLD
    with serving([node(), young]) as recorded:
        (row,) = rows(one(recorded), "reservations")
    assert (row["start_s"], row["end_s"]) == (AT_S - HOUR_S // 2, AT_S)
