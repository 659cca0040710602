"""A world's schedule as the series that exporters would have written of it: for promtool, or as the answer of a server."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, TextIO

from tests.prometheus.world import Node, Place, Pod, World

Samples = Sequence[tuple[int, float]]
Series = tuple[str, dict[str, str], Samples]
Row = tuple[str, str, dict[str, str], Samples]  # with its target
KSM, DCGM, CADVISOR, KUBELET, SCHEDULER = "ksm", "dcgm", "cadvisor", "kubelet", "scheduler"
OWN_POD = {KSM: "kube-state-metrics-0", DCGM: "nvidia-dcgm-exporter-x7"}


def series(world: World, style: str = "plain") -> Iterator[Series]:
    """`style`: plain, exported (labels are not honoured while scraping) or old (names of years ago)."""
    for target, name, labels, samples in every(world):
        if not samples:
            continue
        mine = {"cluster": world.cluster, "job": target, **labels}
        for instance, part in addresses(world, target, labels, samples):
            yield name, respelled({**mine, "instance": instance}, target, style), part


def addresses(world: World, target: str, labels: dict[str, str], samples: Samples) -> Iterator[tuple[str, Samples]]:
    """kube-state-metrics moves once, and all its series with it."""
    if target != KSM:
        yield labels.get("Hostname") or labels.get("node", "") or target, samples
        return
    for instance, here in (("10.0.0.1:8080", True), ("10.0.0.2:8080", False)):
        part = [sample for sample in samples if (sample[0] < world.moved) == here]
        if part:
            yield instance, part


def respelled(labels: dict[str, str], target: str, style: str) -> dict[str, str]:
    if style == "exported" and target in OWN_POD:
        honoured = {"pod", "namespace", "container"} & set(labels)
        moved = {f"exported_{name}" if name in honoured else name: value for name, value in labels.items()}
        return {**moved, "pod": OWN_POD[target], "namespace": "monitoring", "container": "exporter"}
    if style == "old" and target == DCGM:
        names = {
            "pod": "pod_name",
            "namespace": "pod_namespace",
            "container": "container_name",
            "Hostname": "hostname",
            "UUID": "uuid",
        }
        return {names.get(name, name): value for name, value in labels.items()}
    return labels


def every(world: World) -> Iterator[Row]:
    for pod in world.pods:
        yield from pod_state(world, pod)
        yield from pod_use(world, pod)
    for node in world.nodes:
        yield from node_state(world, node)
        for board in node.boards:
            yield from board_rows(world, node, board)
    for namespace, claim, size, start, end in world.volumes:
        labels = {"namespace": namespace, "persistentvolumeclaim": claim}
        ticks = world.ticks(KSM, start, end)
        yield KSM, "kube_persistentvolumeclaim_resource_requests_storage_bytes", labels, [(at, size) for at in ticks]
        waiting = {**labels, "phase": "Bound"}
        yield KSM, "kube_persistentvolumeclaim_status_phase", waiting, [(at, 1) for at in ticks]
        stored = [(at, size // 4) for at in world.ticks(KUBELET, start, end)]
        yield KUBELET, "kubelet_volume_stats_used_bytes", {**labels, "node": "node-0"}, stored
    for number in range(3):
        labels = {"namespace": f"team-{number}", "label_department": f"d-{number}"}
        yield KSM, "kube_namespace_labels", labels, [(at, 1) for at in world.ticks(KSM, world.start, world.end)]


def pod_state(world: World, pod: Pod) -> Iterator[Row]:
    labels = {"namespace": pod.namespace, "pod": pod.name, "uid": pod.uid}
    born, gone = pod.start, pod.end + pod.lingers + (pod.waits if pod.start == pod.end else 0)
    ticks = world.ticks(KSM, born, gone)

    def phase(at: int) -> str:
        if pod.start <= at < pod.end:
            return "Running"
        return pod.phase_after if at >= pod.end and not pod.waits else "Pending"

    for word in ("Pending", "Running", "Succeeded", "Failed"):
        yield KSM, "kube_pod_status_phase", {**labels, "phase": word}, [(at, int(phase(at) == word)) for at in ticks]
    owner = {"created_by_kind": "Job", "created_by_name": pod.name.rsplit("-", 1)[0], "host_network": "false"}
    yield KSM, "kube_pod_info", {**labels, **owner, "node": pod.node}, [(at, 1) for at in ticks]
    told = {f"label_{key}": value for key, value in pod.labels}
    yield KSM, "kube_pod_labels", {**labels, **told}, [(at, 1) for at in ticks]
    asked = [("cpu", pod.cores), ("memory", pod.memory)] + ([(pod.resource, pod.count)] if pod.resource else [])
    for resource, amount in asked:
        more = {"container": "main", "node": pod.node, "resource": resource}
        yield KSM, "kube_pod_container_resource_requests", {**labels, **more}, [(at, amount) for at in ticks]
    if pod.pod_cores:
        more = {"namespace": pod.namespace, "pod": pod.name, "node": pod.node, "resource": "cpu", "unit": "cores"}
        yield (
            SCHEDULER,
            "kube_pod_resource_request",
            more,
            [(at, pod.pod_cores) for at in world.ticks(SCHEDULER, pod.start, pod.end)],
        )


def pod_use(world: World, pod: Pod) -> Iterator[Row]:
    if not pod.node:
        return
    labels = {"namespace": pod.namespace, "pod": pod.name, "node": pod.node}
    group = f"/kubepods.slice/kubepods-pod{pod.uid.replace('-', '_')}.slice"
    ticks = world.ticks(CADVISOR, pod.start, pod.end)
    for container, start, end in ((1, pod.start, pod.restart or pod.end), (2, pod.restart or pod.end, pod.end)):
        mine = {**labels, "container": "main", "id": f"{group}/c{container}", "name": f"c{container}"}
        here = [at for at in ticks if start <= at < end]
        used = [(at, pod.millicores_used * (at - start) / 1000) for at in here]
        yield CADVISOR, "container_cpu_usage_seconds_total", {**mine, "cpu": "total"}, used
        yield CADVISOR, "container_memory_working_set_bytes", mine, [(at, pod.memory_used) for at in here]
    moved = [(at, pod.bytes_per_s * (at - pod.start)) for at in ticks]
    yield CADVISOR, "container_network_transmit_bytes_total", {**labels, "id": group, "interface": "eth0"}, moved


def node_state(world: World, node: Node) -> Iterator[Row]:
    ticks = world.ticks(KSM, world.start, world.end)
    labels = {"node": node.name}
    told = {f"label_{key}": value for key, value in node.labels}
    yield KSM, "kube_node_labels", {**labels, **told}, [(at, 1) for at in ticks]
    for resource, amount in (("cpu", 128), ("memory", 2**40), *node.offers):
        for metric in ("capacity", "allocatable"):
            yield KSM, f"kube_node_status_{metric}", {**labels, "resource": resource}, [(at, amount) for at in ticks]
    ready = [(at, int(not node.down[0] <= at < node.down[1])) for at in ticks]
    yield KSM, "kube_node_status_condition", {**labels, "condition": "Ready", "status": "true"}, ready
    cordoned = [(at, int(node.cordoned[0] <= at < node.cordoned[1])) for at in ticks]
    yield KSM, "kube_node_spec_unschedulable", labels, cordoned


def board_rows(world: World, node: Node, board: str) -> Iterator[Row]:
    """Each row of a board by who is on it; boards' own values stand on all of them."""
    rows: dict[tuple[tuple[str, str], ...], list[tuple[int, int, int]]] = {}
    energy, before = 7_000_000_000, None
    device = {"UUID": board, "Hostname": node.name, "gpu": board[-1], "modelName": "NVIDIA H100 80GB HBM3"}
    for at in world.ticks(DCGM, world.start, world.end):
        if before is not None:
            reset = before < node.reboot <= at
            energy = world.joules(board, node.reboot if reset else before, at) + (0 if reset else energy)
        before = at
        there = world.sharers(board, at)
        for row in [row_labels(pod, place) for pod, place in there] or idle_rows(world, board):
            key = tuple(sorted({**device, **row}.items()))
            rows.setdefault(key, []).append((at, energy, world.watts(board, at) if there else 75))
    for key, found in rows.items():
        labels = dict(key)
        busy = "pod" in labels
        yield DCGM, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", labels, [(at, joules) for at, joules, _ in found]
        yield DCGM, "DCGM_FI_DEV_POWER_USAGE", labels, [(at, watts) for at, _, watts in found]
        yield DCGM, "DCGM_FI_PROF_GR_ENGINE_ACTIVE", labels, [(at, 0.25 if busy else 0) for at, _, _ in found]
        yield DCGM, "DCGM_FI_DEV_GPU_UTIL", labels, [(at, 99 if busy else 0) for at, _, _ in found]


def row_labels(pod: Pod, place: Place) -> dict[str, str]:
    found = {"pod": pod.name, "namespace": pod.namespace, "container": "main"}
    found |= {"GPU_I_ID": place.instance, "GPU_I_PROFILE": place.profile} if place.instance else {}
    found |= {"vgpu": place.virtual} if place.virtual else {}
    return found | ({"dra_claim_name": place.claim} if place.claim else {})


def idle_rows(world: World, board: str) -> list[dict[str, str]]:
    """A board that is cut into instances has no row of its own."""
    parts = {
        (place.instance, place.profile)
        for pod in world.pods
        for place in pod.places
        if place.board == board and place.instance
    }
    return [{"GPU_I_ID": instance, "GPU_I_PROFILE": profile} for instance, profile in sorted(parts)] or [{}]


def write_text(out: TextIO, found: Iterator[Series]) -> int:
    """OpenMetrics for promtool; returns how many samples there are."""
    count = 0
    for name, labels, samples in found:
        inside = ",".join(f"{key}={json.dumps(value)}" for key, value in sorted(labels.items()) if value)
        out.writelines(f"{name}{{{inside}}} {value} {at}\n" for at, value in samples)
        count += len(samples)
    return count


def answer(found: Iterator[Series]) -> dict[str, Any]:
    """The body of `/api/v1/query` of a range vector."""
    result = [
        {
            "metric": {"__name__": name, **{key: value for key, value in labels.items() if value}},
            "values": [[at, str(value)] for at, value in samples],
        }
        for name, labels, samples in found
    ]
    return {"status": "success", "data": {"resultType": "matrix", "result": result}}
