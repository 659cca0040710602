"""The nodes of a window: what they offered and in which state, and into how many parts their boards are cut."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

from apportion.model.accelerators import SPELLED, accelerator_of, resource_key
from apportion.model.gpus import Board, share_of
from apportion.sources.live import Progress
from apportion.sources.prometheus.asking import How
from apportion.sources.prometheus.reading import Reading
from apportion.sources.prometheus.samples import Series, hold, union
from apportion.sources.prometheus.selectors import Matcher, Selector, select
from apportion.sources.prometheus.spelling import Keys
from apportion.sources.prometheus.steps import Steps, clipped, merged, steps_of

RESOURCES = Matcher("resource", "=~", "|".join(["cpu", "memory", *sorted(SPELLED), "nvidia_com_mig_.*", "amd_com_.*"]))
CAPACITY = Selector("kube_node_status_capacity", (RESOURCES,))
ALLOCATABLE = Selector("kube_node_status_allocatable", (RESOURCES, Matcher("resource", "!~", "cpu|memory")))
READY = select("kube_node_status_condition", condition="Ready", status="true")
CORDONED = select("kube_node_spec_unschedulable")
INFO = select("kube_node_info")
MACHINE = {"provider_id": "k8s.provider_id", "internal_ip": "k8s.ip"}
PRODUCT, STRATEGY, REPLICAS = "nvidia.com/gpu.product", "nvidia.com/gpu.sharing-strategy", "nvidia.com/gpu.replicas"
MODELS = (PRODUCT, "cloud.google.com/gke-accelerator", "cloud.google.com/gke-tpu-accelerator")
WHOLE_GPU = "nvidia.com/gpu"
SCALES = {"cpu": 1000, "memory": 1}  # base units in one of what kube-state-metrics counts


@dataclass
class Node:
    labels: dict[str, str] = field(default_factory=dict)
    capacity: dict[str, Steps] = field(default_factory=dict)  # by resource, as it is counted
    allocatable: dict[str, Steps] = field(default_factory=dict)
    ready: Steps = field(default_factory=list)
    cordoned: Steps = field(default_factory=list)
    boards: set[str] = field(default_factory=set)  # that an exporter saw on it
    model: str = ""
    machine: dict[str, str] = field(default_factory=dict)  # by what a bill may know it: labels

    @property
    def is_shared(self) -> bool:
        """Whether its boards are handed out in replicas."""
        return self.labels.get(STRATEGY, "none") not in ("none", "")

    def board(self, how: How) -> Board:
        """What the labels of NVIDIA's GPU feature discovery say, else the settings, else what it offers over the boards it has."""
        known = how.board
        replicas = number(self.labels.get(REPLICAS)) if self.is_shared else 0
        offered = max((step[2] for step in self.capacity.get("nvidia_com_gpu_shared", ())), default=0)
        if not replicas and not known.replicas and self.boards and offered and not offered % len(self.boards):
            replicas = int(offered) // len(self.boards)
        memory = number(self.labels.get("nvidia.com/gpu.memory"))
        return Board(
            slices=known.slices,
            replicas=replicas or known.replicas,
            shards=known.shards,
            mps=known.mps,
            memory=memory or known.memory,
        )

    def share(self, resource: str, how: How) -> tuple[str, Fraction] | None:
        """Meter, and what one of a resource is of one device here; None where it is no accelerator."""
        board = self.board(how)
        found = accelerator_of(resource, board, self.labels.get("node.kubernetes.io/instance-type", ""))
        if found is None or resource_key(resource) != WHOLE_GPU:
            return found
        _, mig, profile = self.labels.get(PRODUCT, "").partition("-MIG-")
        if mig:  # one strategy for the node: its slices are called GPUs
            return "gpu", share_of(profile.removesuffix("-SHARED"), board)
        return "gpu", Fraction(1, board.replicas) if self.is_shared and board.replicas else Fraction(1)


def number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0


@dataclass
class Nodes:
    found: dict[str, Node] = field(default_factory=dict)

    def node(self, name: str) -> Node:
        return self.found.setdefault(name, Node())


def read_nodes(reading: Reading, keys: Keys) -> Iterator[Nodes | Progress]:
    nodes = Nodes()
    for labels, _ in reading.facts(select("kube_node_labels")):
        nodes.node(labels.get("node", "")).labels |= keys.labels(labels)
    for node in nodes.found.values():
        node.model = next((node.labels[key] for key in MODELS if key in node.labels), "")
    for labels, _ in reading.facts(INFO):
        note_machine(nodes.node(labels.get("node", "")).machine, labels)
    for selector in (CAPACITY, ALLOCATABLE, READY, CORDONED):
        levels: dict[tuple[str, str], Steps] = {}
        for part in reading.parts(selector, "node"):
            if isinstance(part, Progress):
                yield part
                continue
            together: dict[tuple[str, str], list[Series]] = {}
            for one in part.series:
                place = (one.labels.get("node", ""), one.labels.get("resource", ""))
                together.setdefault(place, []).append(one)
            for place, series in together.items():
                held = hold(*union(series, SCALES.get(place[1], 1)), part.step(series[0]), reading.how.pad_s)
                levels.setdefault(place, []).extend(clipped(steps_of(held), part.buckets.window))
        for (name, resource), steps in levels.items():
            put(nodes.node(name), selector, resource, merged(steps))
    yield nodes


def note_machine(machine: dict[str, str], labels: dict[str, str]) -> None:
    """A name that several machines had in one window has all their ids."""
    for key, ours in MACHINE.items():
        if value := labels.get(key):
            known = machine.get(ours, "").split(",")
            machine[ours] = ",".join(dict.fromkeys(filter(None, [*known, value])))


def put(node: Node, selector: Selector, resource: str, steps: Steps) -> None:
    if selector is CAPACITY:
        node.capacity[resource] = steps
    elif selector is ALLOCATABLE:
        node.allocatable[resource] = steps
    elif selector is READY:
        node.ready = steps
    else:
        node.cordoned = steps


def whole_boards(amount: Fraction, boards: int) -> Fraction:
    """Slices that no profile covers are paid for too."""
    return amount if amount.denominator == 1 else Fraction(max(ceil(amount), boards))
