"""Boards in replicas whose exporter does not name all sharers: what they did is shared by what pods hold of the node's boards."""

from dataclasses import dataclass, field

import numpy as np

from apportion.sources.prometheus.devices import Devices
from apportion.sources.prometheus.pods import Pods
from apportion.sources.prometheus.samples import Buckets
from apportion.sources.prometheus.steps import Steps

METER = "gpu"


@dataclass
class Loose:
    devices: Devices
    held: dict[str, dict[str, Steps]]
    pods: Pods
    shares: dict[str, np.ndarray] = field(default_factory=dict)  # unit-seconds by pod and bucket
    totals: dict[str, np.ndarray] = field(default_factory=dict)  # the same by node

    def __post_init__(self) -> None:
        for key, meters in self.held.items():
            node = self.pods.found[key].node
            if node in self.devices.loose_energy.found and METER in meters:
                self.shares[key] = unit_seconds(meters[METER], self.devices.buckets)
                self.totals[node] = self.totals.get(node, 0) + self.shares[key]

    def energy(self, key: str) -> np.ndarray | None:
        """Microjoules by bucket; Python's whole numbers, since unit-seconds times microjoules leave 64 bits."""
        if key not in self.shares:
            return None
        node = self.pods.found[key].node
        whole = self.devices.loose_energy.found[node].astype(object)
        total = np.maximum(self.totals[node], 1).astype(object)
        shared: np.ndarray = (whole * self.shares[key] // total).astype(np.int64)
        return shared

    def activity(self, node: str, bucket: int) -> tuple[int, int]:
        levels = self.devices.loose_activity
        covered = levels.covered.get(node)
        if covered is None:
            return 0, 0
        return int(levels.amount.found[node][bucket]), int(covered[bucket])


def unit_seconds(steps: Steps, buckets: Buckets) -> np.ndarray:
    start, end, amount = (np.array(column, np.int64) for column in zip(*steps, strict=True)) if steps else ([], [], [])
    found = np.zeros(buckets.count, np.int64)
    which, bucket, seconds = buckets.cut(np.asarray(start, np.int64), np.asarray(end, np.int64))
    np.add.at(found, bucket, np.asarray(amount, np.int64)[which] * seconds)
    return found
