"""One trap at a time, from a few series saved as a server would have answered them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import InputError, ProjectError
from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.model.times import Interval
from apportion.sources.prometheus import read
from apportion.sources.prometheus.clusters import find_clusters
from apportion.sources.prometheus.probe import probe

T0, STEP, HOUR = 1_790_812_800, 60, 3600
Line = tuple[str, dict[str, str], Any]  # a metric, its labels, and its value or a function of the time
POD = {"namespace": "ml", "pod": "train-0", "uid": "uid-0"}
DCGM = {"UUID": "GPU-00000000", "Hostname": "n0", "modelName": "H100"}


def ticks(start: int = T0, end: int = T0 + HOUR) -> range:
    return range(start, end, STEP)


def pod(labels: dict[str, str] = POD, node: str = "n0", **requests: float) -> list[Line]:
    lines: list[Line] = [
        ("kube_pod_status_phase", {**labels, "phase": "Running"}, 1),
        ("kube_pod_info", {**labels, "node": node}, 1),
    ]
    for resource, amount in requests.items():
        more = {"container": "main", "resource": resource, "node": node}
        lines.append(("kube_pod_container_resource_requests", {**labels, **more}, amount))
    return lines


def row(labels: dict[str, str] = POD, **more: str) -> dict[str, str]:
    return {**DCGM, "pod": labels["pod"], "namespace": labels["namespace"], **more}


def save(folder: Path, lines: Sequence[Line], at: Sequence[int] = ticks()) -> None:
    result: list[dict[str, Any]] = [
        {
            "metric": {"__name__": name, **labels},
            "values": [[time, str(value(time) if callable(value) else value)] for time in at],
        }
        for name, labels, value in lines
    ]
    body = {"status": "success", "data": {"resultType": "matrix", "result": result}}
    (folder / "answer.json").write_text(json.dumps(body, separators=(",", ":")), encoding="utf-8")


def deliver(folder: Path, lines: Sequence[Line], at: Sequence[int] = ticks(), **settings: Any) -> Delivery:
    save(folder, lines, at)
    stanza = {"name": "k8s", "kind": "prometheus", "path": "answer.json", "cluster": "c", **settings}
    (found,) = (one for one in read(stanza, folder, Interval(T0, T0 + 6 * HOUR)) if isinstance(one, Delivery))
    return found


def amounts(found: Delivery, meter: str, column: str = "allocated") -> dict[str, set[Any]]:
    mine: dict[str, set[Any]] = {}
    for one in found.tables["usage"].to_pylist():
        if one["meter"] == meter:
            mine.setdefault(one["workload"].rpartition("/")[2], set()).add(one[column])
    return mine


def joules(found: Delivery) -> dict[str, int]:
    mine: dict[str, int] = {}
    for one in found.tables["usage"].to_pylist():
        if one["meter"] == "energy":
            key = one["workload"].rpartition("/")[2]
            mine[key] = mine.get(key, 0) + one["allocated"]
    return mine


def kepler(time: int) -> int:
    return (time - T0) * 7


POWER: Line = ("DCGM_FI_DEV_POWER_USAGE", row(), 300)
COUNTER: Line = ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", row(), lambda at: 10**9 + (at - T0) * 250_000)
KEPLER: Line = (
    "kepler_pod_cpu_joules_total",
    {"pod_id": "uid-0", "pod_name": "train-0", "pod_namespace": "ml", "zone": "package"},
    kepler,
)


@pytest.mark.parametrize(
    ("lines", "settings", "expected"),
    [
        ([POWER, COUNTER, KEPLER], {}, 250 * (HOUR - STEP)),
        ([POWER, KEPLER], {}, 7 * (HOUR - STEP)),
        ([POWER], {}, 300 * HOUR),
        ([POWER, COUNTER, KEPLER], {"energy": ["kepler"]}, 7 * (HOUR - STEP)),
        ([POWER, COUNTER], {"energy": ["power"]}, 300 * HOUR),
    ],
    ids=["counter", "else Kepler", "else power", "Kepler by choice", "power by choice"],
)
def test_joules_come_from_one_place(tmp_path: Path, lines: list[Line], settings: dict[str, Any], expected: int) -> None:
    assert joules(deliver(tmp_path, [*pod(nvidia_com_gpu=1), *lines], **settings)) == {"uid-0": expected}


def test_use_is_taken_from_the_best_metric_that_speaks_of_the_pod(tmp_path: Path) -> None:
    other = {**POD, "pod": "old-board", "uid": "uid-1"}
    lines: list[Line] = [
        *pod(nvidia_com_gpu=1),
        *pod(other, nvidia_com_gpu=1),
        *pod({**POD, "pod": "unseen", "uid": "uid-2"}, nvidia_com_gpu=1),
        ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", row(), 0.5),
        ("DCGM_FI_DEV_GPU_UTIL", row(), 100),
        ("DCGM_FI_DEV_GPU_UTIL", row(other, UUID="GPU-00000001"), 75),
    ]
    used = amounts(deliver(tmp_path, lines), "gpu", "used")
    assert used == {"uid-0": {GPU // 2}, "uid-1": {GPU * 3 // 4}, "uid-2": {None}}


def test_replicas_whose_exporter_names_one_pod_are_shared_by_what_is_held(tmp_path: Path) -> None:
    labels = {
        "node": "n0",
        "label_nvidia_com_gpu_sharing_strategy": "time-slicing",
        "label_nvidia_com_gpu_replicas": "4",
    }
    other = {**POD, "pod": "nb-1", "uid": "uid-1"}
    lines: list[Line] = [
        *pod(nvidia_com_gpu=1),
        *pod(other, nvidia_com_gpu=1),
        ("kube_node_labels", labels, 1),
        ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", row(), 0.5),
        COUNTER,
    ]
    found = deliver(tmp_path, lines)
    assert amounts(found, "gpu") == {"uid-0": {GPU // 4}, "uid-1": {GPU // 4}}
    assert amounts(found, "gpu", "used") == {"uid-0": {GPU // 8}, "uid-1": {GPU // 8}}
    assert joules(found) == {"uid-0": 125 * (HOUR - STEP), "uid-1": 125 * (HOUR - STEP)}


def test_replicas_of_which_nobody_says_how_many_are_listed(tmp_path: Path) -> None:
    lines = pod(nvidia_com_gpu_shared=1)
    found = deliver(tmp_path, lines)
    assert [problem.code for problem in found.problems] == ["unknown-share"]
    assert amounts(found, "gpu") == {}
    assert amounts(deliver(tmp_path, lines, sharing={"replicas": 8}), "gpu") == {"uid-0": {GPU // 8}}
    boards: list[Line] = [
        *lines,
        ("kube_node_status_capacity", {"node": "n0", "resource": "nvidia_com_gpu_shared"}, 6),
        *(("DCGM_FI_PROF_GR_ENGINE_ACTIVE", {**DCGM, "UUID": f"GPU-0000000{n}"}, 0) for n in range(2)),
    ]
    assert amounts(deliver(tmp_path, boards), "gpu") == {"uid-0": {GPU // 3}}, "six replicas of two boards"


def test_slices_that_a_node_calls_gpus(tmp_path: Path) -> None:
    labels = {
        "node": "n0",
        "label_nvidia_com_gpu_product": "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb",
        "label_nvidia_com_mig_strategy": "single",
    }
    lines: list[Line] = [*pod(nvidia_com_gpu=2), ("kube_node_labels", labels, 1)]
    assert amounts(deliver(tmp_path, lines), "gpu") == {"uid-0": {GPU * 2 // 7}}


@pytest.mark.parametrize(
    ("resource", "meter", "metric", "full"),
    [
        ("amd_com_gpu", "gpu", "gpu_gfx_activity", 100),
        ("google_com_tpu", "tpu", "tensorcore_utilization", 100),
        ("aws_amazon_com_neuron", "neuron", "neuroncore_utilization_ratio", 1),
        ("habana_ai_gaudi", "gaudi", "habanalabs_utilization", 100),
    ],
)
def test_other_accelerators(tmp_path: Path, resource: str, meter: str, metric: str, full: int) -> None:
    names = {"gpu_uuid": "0000-0001", "accelerator_id": "1-0", "neuron_device": "0", "UUID": "01-0000-000"}
    labels = {"pod": "train-0", "namespace": "ml", "node": "n0", "hostname": "n0", **names}
    lines: list[Line] = [
        *pod(POD, "n0", **{resource: 4}),
        (metric, labels, full / 4),
        ("kube_node_status_capacity", {"node": "n0", "resource": resource}, 8),
        ("kube_node_status_allocatable", {"node": "n0", "resource": resource}, 7),
    ]
    found = deliver(tmp_path, lines)
    assert amounts(found, meter) == {"uid-0": {4 * GPU}}
    assert amounts(found, meter, "used") == {"uid-0": {GPU}}
    states = {(one["state"], one["amount"]) for one in found.tables["capacity"].to_pylist() if one["meter"] == meter}
    assert states == {("up", 7 * GPU), ("down", GPU)}, "a device that is not handed out is broken"


def test_a_claim_behind_a_request_is_counted_once(tmp_path: Path) -> None:
    claimed: Line = ("DCGM_FI_PROF_GR_ENGINE_ACTIVE", row(dra_claim_name="train-0-extended-resources-x"), 0.5)
    assert amounts(deliver(tmp_path, [*pod(nvidia_com_gpu=1), claimed]), "gpu") == {"uid-0": {GPU}}
    assert amounts(deliver(tmp_path, [*pod(cpu=1), claimed]), "gpu") == {"uid-0": {GPU}}


def test_the_traffic_of_a_host_is_nobodys(tmp_path: Path) -> None:
    counter: Line = (
        "container_network_transmit_bytes_total",
        {"namespace": "ml", "pod": "train-0", "interface": "eth0"},
        lambda at: at,
    )
    lines = [*pod(cpu=1), counter]
    assert amounts(deliver(tmp_path, lines), "network") == {"uid-0": {HOUR - STEP}}
    host = [
        (name, {**labels, "host_network": "true"} if name == "kube_pod_info" else labels, value)
        for name, labels, value in lines
    ]
    assert amounts(deliver(tmp_path, host), "network") == {}
    assert amounts(deliver(tmp_path, lines, network="none"), "network") == {}


def test_two_servers_that_saw_the_same_are_counted_once(tmp_path: Path) -> None:
    once = [*pod(nvidia_com_gpu=1, cpu=2), COUNTER]
    twice = [
        (name, {**labels, "prometheus_replica": replica}, value) for replica in "ab" for name, labels, value in once
    ]
    assert deliver(tmp_path, twice).tables["usage"].equals(deliver(tmp_path, once).tables["usage"])


def test_an_hour_in_which_nobody_looked_is_listed_and_not_counted(tmp_path: Path) -> None:
    at = [*ticks(), *ticks(T0 + 2 * HOUR, T0 + 3 * HOUR)]
    found = deliver(tmp_path, pod(nvidia_com_gpu=1), at)
    seconds = sum(one["end_s"] - one["start_s"] for one in found.tables["usage"].to_pylist() if one["meter"] == "gpu")
    assert seconds == 2 * HOUR
    assert [(problem.code, "ml/train-0" in problem.message) for problem in found.problems] == [("not-measured", True)]


def test_blank_values_are_no_values(tmp_path: Path) -> None:
    lines: list[Line] = [*pod(nvidia_com_gpu=1), ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", row(), 9223372036854775794)]
    assert joules(deliver(tmp_path, lines)) == {}
    assert joules(deliver(tmp_path, [*pod(nvidia_com_gpu=1), (COUNTER[0], COUNTER[1], "NaN")])) == {}


@pytest.mark.parametrize(
    ("labels", "run", "kind"),
    [
        (
            {
                "label_jobset_sigs_k8s_io_jobset_name": "a",
                "label_trainer_kubeflow_org_trainjob_ancestor_step": "trainer",
            },
            "a",
            "TrainJob",
        ),
        ({"label_training_kubeflow_org_job_name": "b"}, "b", "PyTorchJob"),
        ({"label_ray_io_cluster": "c", "label_ray_io_node_type": "worker"}, "c", "RayCluster"),
        ({"label_volcano_sh_job_name": "d", "label_volcano_sh_queue_name": "q"}, "d", "VolcanoJob"),
        ({"label_workflows_argoproj_io_workflow": "e"}, "e", "Workflow"),
        ({"label_batch_kubernetes_io_job_name": "f", "label_kueue_x_k8s_io_local_queue_name": "q"}, "f", "Job"),
        ({}, "g", "PyTorchJob"),
    ],
)
def test_what_a_pod_is_part_of(tmp_path: Path, labels: dict[str, str], run: str, kind: str) -> None:
    owner = {**POD, "owner_kind": "PyTorchJob", "owner_name": "g"}
    found = deliver(tmp_path, [*pod(cpu=1), ("kube_pod_owner", owner, 1), ("kube_pod_labels", {**POD, **labels}, 1)])
    (workload,) = found.tables["workloads"].to_pylist()
    assert workload["run"] == f"k8s/c/ml/{kind}/{run}"
    mine = dict(workload["labels"])
    assert (mine["ml.run"], mine["ml.kind"]) == (run, kind)
    assert mine.get("ml.queue") == ("q" if any("queue" in key for key in labels) else None)


def test_pods_without_a_uid_are_known_by_name(tmp_path: Path) -> None:
    found = deliver(tmp_path, pod({"namespace": "ml", "pod": "old"}, cpu=1))
    assert found.tables["workloads"]["workload"].to_pylist() == ["k8s/c/ml/old"]


@pytest.mark.parametrize(
    "text", ["", "nothing", '{"status":"success","data":{"resultType":"scalar","result":[0,"1"]}}']
)
def test_what_is_no_answer_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "answer.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        list(read({"name": "k8s", "kind": "prometheus", "path": "answer.json", "cluster": "c"}, tmp_path, None))
    assert refused.value.code == "not-an-answer"


def test_what_is_missing_is_told_with_its_flag(tmp_path: Path) -> None:
    save(tmp_path, pod(nvidia_com_gpu=1))
    signs = list(probe({"name": "k8s", "kind": "prometheus", "path": "answer.json", "cluster": "c"}, tmp_path))
    wrong = {sign.text: sign.fix for sign in signs if sign.status == "wrong"}
    assert any("kube_node_status_capacity" in text for text in wrong)
    assert any(
        fix.startswith("start kube-state-metrics with --metric-labels-allowlist=pods=[") for fix in wrong.values()
    )


def test_a_pod_on_no_known_node_is_listed(tmp_path: Path) -> None:
    found = deliver(tmp_path, [line for line in pod(node="", cpu=1) if line[0] != "kube_pod_info"])
    assert [(problem.where, problem.code) for problem in found.problems] == [("ml/train-0", "no-node")]
    assert found.tables["usage"].num_rows == 0


@pytest.mark.parametrize(
    "wrong",
    [{"bucket_minutes": 7}, {"match": "nonsense"}, {"energy": ["wind"]}, {"labels": {"pood": "a"}}, {"network": "up"}],
)
def test_wrong_settings_are_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises(ProjectError) as refused:
        deliver(tmp_path, pod(cpu=1), **wrong)
    assert refused.value.code == "invalid-setting"


def two_clusters(**gpus: float) -> list[Line]:
    """Each has a node n0 of 8 GPUs, and a pod ml/train-0 on it."""
    lines: list[Line] = []
    for cluster, held in gpus.items():
        own = {**POD, "cluster": cluster, "uid": f"uid-{cluster}"}
        node = {"cluster": cluster, "node": "n0"}
        lines += pod(own, nvidia_com_gpu=held)
        lines += [("kube_node_info", node, 1), ("kube_node_status_capacity", {**node, "resource": "nvidia_com_gpu"}, 8)]
    return lines


def test_two_clusters_of_one_server_are_read_apart(tmp_path: Path) -> None:
    found = deliver(tmp_path, two_clusters(east=4, west=8))
    held = {
        (one["cluster"], one["workload"], one["resource"], one["allocated"] // GPU)
        for one in found.tables["usage"].to_pylist()
        if one["meter"] == "gpu"
    }
    assert held == {("east", "k8s/east/uid-east", "n0", 4), ("west", "k8s/west/uid-west", "n0", 8)}
    offered = {
        (one["cluster"], dict(one["labels"])["k8s.cluster"], one["resource"], one["amount"] // GPU)
        for one in found.tables["capacity"].to_pylist()
        if one["meter"] == "gpu"
    }
    assert offered == {("east", "east", "n0", 8), ("west", "west", "n0", 8)}


def test_a_matcher_or_one_name_leaves_the_stanza_s_cluster(tmp_path: Path) -> None:
    one = [*two_clusters(east=4), *pod({**POD, "pod": "other", "uid": "u1"})]
    for lines, match in ((two_clusters(east=4, west=8), 'cluster="east"'), (one, "")):
        found = deliver(tmp_path, lines, match=match)
        ids = {one["workload"] for one in found.tables["workloads"].to_pylist()}
        assert "k8s/c/uid-east" in ids
        assert not [name for name in ids if not name.startswith("k8s/c/")]


def test_a_stanza_is_proposed_for_each_cluster(tmp_path: Path) -> None:
    save(tmp_path, two_clusters(east=4, west=8))
    settings = {"name": "k8s", "kind": "prometheus", "path": "answer.json"}
    span = Interval(T0, T0 + HOUR)
    assert find_clusters(settings, tmp_path, span) == [("east", 'cluster="east"'), ("west", 'cluster="west"')]
    narrow = {**settings, "match": 'job="ksm",cluster="east"'}
    assert find_clusters(narrow, tmp_path, span) == []
