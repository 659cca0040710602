"""The machines: four groups of nodes in two clusters, part rented from a cloud, part standing in the own data centre."""

from dataclasses import dataclass
from fractions import Fraction

SLURM, KUBERNETES = "atlas", "orbit"
CLOUD, ON_PREMISES = "cloud", "on-premises"
MIG_LAYOUT = (3, 2, 1, 1)  # sevenths of each board: profiles 3g, 2g, 1g, 1g


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    nodes: int
    least: int  # nodes however small the scale
    gpus: int
    cores: int
    memory_gib: int
    site: str


@dataclass(frozen=True, slots=True)
class Node:
    name: str
    group: Group
    cluster: str
    sharing: str  # "", mig or time-slicing
    instance: str  # what the bill calls it

    @property
    def labels(self) -> dict[str, str]:
        found = {"cluster": self.cluster, "node-group": self.group.name, "site": self.group.site}
        if self.group.gpus:
            found["gpu.model"] = self.group.name.upper()
        if self.sharing:
            found["gpu.sharing"] = self.sharing
        return found


GROUPS = (
    Group("h100", 24, 8, 8, 192, 2048, CLOUD),
    Group("a100", 20, 4, 8, 128, 1024, ON_PREMISES),
    Group("l40s", 24, 3, 4, 96, 768, CLOUD),
    Group("cpu", 12, 2, 0, 64, 256, ON_PREMISES),
)
MIG_NODES, TIME_SLICED_NODES = 3, 8


def sized(full: int, least: int, scale: Fraction) -> int:
    return max(least, round(full * scale))


def build_fleet(scale: Fraction) -> list[Node]:
    nodes = []
    for group in GROUPS:
        count = sized(group.nodes, group.least, scale)
        shared = {"a100": sized(MIG_NODES, 1, scale), "l40s": sized(TIME_SLICED_NODES, 1, scale)}.get(group.name, 0)
        for number in range(1, count + 1):
            sharing = ("mig" if group.name == "a100" else "time-slicing") if number > count - shared else ""
            cluster = KUBERNETES if group.name == "l40s" or sharing else SLURM
            nodes.append(Node(f"{group.name}-{number:02d}", group, cluster, sharing, instance_id(group, number)))
    return nodes


def instance_id(group: Group, number: int) -> str:
    """Opaque as a cloud's, an inventory number on premises; the bill's ResourceName is the node's name."""
    if group.site == ON_PREMISES:
        return f"inv-{group.name}-{20230 + number}"
    digits = (number * 0x9E3779B97F4A7C15 ^ (group.gpus << 40)) % 16**12
    return f"i-0{digits:012x}"
