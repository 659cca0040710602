"""Objects as the API server writes them, made for tests: only names, times and amounts are ours."""

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from apportion.model.times import instant_text, parse_instant

Object = dict[str, Any]
AT = "2026-11-03T12:00:00Z"
AT_S = parse_instant(AT)
HOUR_S = 3600
OLD = "2026-01-01T00:00:00Z"


def uid(*names: str) -> str:
    return str(uuid5(NAMESPACE_URL, "/".join(names)))


def head(kind: str, name: str, namespace: str = "", owner: Object | None = None, **more: Any) -> Object:
    """Metadata, with the managed fields that make real objects long."""
    found = {
        "name": name,
        "uid": uid(kind, namespace, name),
        "resourceVersion": "4711",
        "creationTimestamp": OLD,
        "managedFields": [{"manager": "kubelet", "operation": "Update", "time": OLD, "fieldsV1": {"f:status": {}}}],
    }
    if namespace:
        found["namespace"] = namespace
    if owner:
        found["ownerReferences"] = [reference(owner)]
    return {**found, **{key: value for key, value in more.items() if value is not None}}


def reference(owner: Object) -> Object:
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def made(version: str, kind: str, name: str, namespace: str = "", **more: Any) -> Object:
    """Any object: `owner`, `labels` and `creationTimestamp` go into its head, the rest beside it."""
    heads = {key: more.pop(key) for key in ("owner", "labels", "annotations", "creationTimestamp") if key in more}
    return {"apiVersion": version, "kind": kind, "metadata": head(kind, name, namespace, **heads), **more}


def container(name: str = "main", requests: Mapping[str, str] | None = None, **more: Any) -> Object:
    amounts = dict(requests or {})
    limits = {key: value for key, value in amounts.items() if "/" in key}
    return {"name": name, "image": "train:1", "resources": {"requests": amounts, "limits": limits}, **more}


def pod(name: str, namespace: str = "vision", **more: Any) -> Object:
    """A running pod on node-1 since 11:00 that asks for a GPU, unless said otherwise. `end` makes it over."""
    start, end = more.pop("start", AT_S - HOUR_S), more.pop("end", None)
    phase = more.pop("phase", "Succeeded" if end is not None else "Running")
    state: Object = {"running": {"startedAt": instant_text(start)}}
    if end is not None:
        state = {
            "terminated": {
                "exitCode": 0 if phase == "Succeeded" else 1,
                "reason": more.pop("terminated", "Completed" if phase == "Succeeded" else "Error"),
                "startedAt": instant_text(start),
                "finishedAt": instant_text(end),
            }
        }
    status = {
        "phase": phase,
        "startTime": instant_text(start),
        "containerStatuses": [{"name": "main", "state": state, "ready": end is None, "restartCount": 0}],
        **more.pop("status", {}),
    }
    spec = {
        "nodeName": more.pop("node", "node-1"),
        "containers": more.pop("containers", [container(requests=more.pop("requests", {"nvidia.com/gpu": "1"}))]),
        "restartPolicy": "Never",
        "serviceAccountName": "default",
        **more.pop("spec", {}),
    }
    return made("v1", "Pod", name, namespace, spec=spec, status=status, **more)


def node(name: str = "node-1", capacity: Mapping[str, str] | None = None, **more: Any) -> Object:
    """A node that has been ready for long."""
    amounts = {
        "cpu": "64",
        "memory": "512Gi",
        "pods": "110",
        **({"nvidia.com/gpu": "8"} if capacity is None else capacity),
    }
    status = {
        "capacity": amounts,
        "allocatable": {**amounts, **more.pop("allocatable", {})},
        "conditions": [
            {"type": "MemoryPressure", "status": "False", "lastHeartbeatTime": AT, "lastTransitionTime": OLD},
            {
                "type": "Ready",
                "status": "True",
                "lastHeartbeatTime": AT,
                "lastTransitionTime": OLD,
                **more.pop("ready", {}),
            },
        ],
    }
    spec = {"providerID": f"aws:///us-east-1a/i-{name}", **more.pop("spec", {})}
    return made("v1", "Node", name, spec=spec, status=status, **more)


def namespace(name: str, **labels: str) -> Object:
    return made(
        "v1", "Namespace", name, labels={"kubernetes.io/metadata.name": name, **labels}, status={"phase": "Active"}
    )


def claim(name: str, results: Iterable[Object], pods: Iterable[Object] = (), namespace: str = "vision") -> Object:
    """An allocated claim, reserved for some pods."""
    reserved = [{"resource": "pods", "name": each["metadata"]["name"], "uid": each["metadata"]["uid"]} for each in pods]
    status = {"allocation": {"devices": {"results": list(results)}}, "reservedFor": reserved}
    spec = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 1}}]}}
    return made("resource.k8s.io/v1", "ResourceClaim", name, namespace, spec=spec, status=status)


def result(device: str, node: str = "node-1", **more: Any) -> Object:
    return {"request": "gpu", "driver": "gpu.nvidia.com", "pool": node, "device": device, **more}


def devices(node: str = "node-1", generation: int = 1, *offered: Object) -> Object:
    spec = {
        "driver": "gpu.nvidia.com",
        "nodeName": node,
        "pool": {"name": node, "generation": generation, "resourceSliceCount": 1},
        "devices": list(offered),
    }
    return made("resource.k8s.io/v1", "ResourceSlice", f"{node}-gpu.nvidia.com-{generation}", spec=spec)


def gpu(number: int) -> Object:
    attributes = {
        "type": {"string": "gpu"},
        "uuid": {"string": f"GPU-{number}"},
        "productName": {"string": "NVIDIA H100"},
    }
    return {"name": f"gpu-{number}", "attributes": attributes, "capacity": {"memory": {"value": "80Gi"}}}


def mig(number: int, profile: str, place: int) -> Object:
    attributes = {
        "type": {"string": "mig"},
        "uuid": {"string": f"MIG-{number}-{place}"},
        "parentUUID": {"string": f"GPU-{number}"},
        "profile": {"string": profile},
    }
    return {"name": f"gpu-{number}-mig-{place}", "attributes": attributes, "capacity": {"memory": {"value": "10Gi"}}}
