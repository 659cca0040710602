"""What there was: nodes with their cores, bytes and GPUs, and volumes with their bytes, from the assets."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from apportion.model.meters import METERS
from apportion.model.rows import CAPACITY
from apportion.sources.opencost.day import Day, stated
from apportion.sources.opencost.rows import Asset

NODE = (("cpu", "cpuCores", METERS["cpu"].base), ("memory", "ramBytes", 1), ("gpu", "gpuCount", METERS["gpu"].base))


def capacity(day: Day, source: str) -> pa.Table:
    rows = [row for asset in day.assets for row in offered(asset)]
    return pa.Table.from_pylist([{"source": source, **row} for row in rows], CAPACITY)


def offered(asset: Asset) -> Iterator[dict[str, Any]]:
    """Capacity, not what is allocatable: what the system keeps for itself shows as idle, since it is paid for."""
    shared = {
        "start_s": asset.run.start_s,
        "end_s": asset.run.end_s,
        "state": "up",
        "labels": sorted(labels(asset).items()),
        "cluster": stated(asset.cluster),
    }
    if asset.type == "Node":
        for meter, key, base in NODE:
            if (amount := round(asset.number(key) * base)) > 0:
                yield {"resource": asset.name, "meter": meter, "amount": amount, **shared}
    elif is_volume(asset) and asset.number("bytes") > 0:
        yield {
            "resource": f"storage/{volume_of(asset)}",
            "meter": "storage",
            "amount": round(asset.number("bytes")),
            **shared,
        }


def is_volume(asset: Asset) -> bool:
    """A disk that pods mount; a node's own disk belongs to the node."""
    return asset.type == "Disk" and not asset.number("local")


def volume_of(asset: Asset) -> str:
    return asset.words.get("volumeName") or asset.name


def sizes(day: Day) -> dict[str, int]:
    return {volume_of(asset): round(asset.number("bytes")) for asset in day.assets if is_volume(asset)}


def labels(asset: Asset) -> dict[str, str]:
    found = {f"k8s.label.{key}": value for key, value in asset.labels.items()}
    found |= {
        "k8s.cluster": asset.cluster,
        "k8s.node": asset.name if asset.type == "Node" else "",
        "k8s.provider_id": asset.words.get("providerID", "") if asset.type == "Node" else "",
        "k8s.node_type": asset.words.get("nodeType", ""),
        "k8s.namespace": asset.words.get("claimNamespace", ""),
        "k8s.claim": asset.words.get("claimName", ""),
        "k8s.storage_class": asset.words.get("storageClass", ""),
    }
    return {key: value for key, value in found.items() if value}
