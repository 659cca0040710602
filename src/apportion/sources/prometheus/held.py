"""What pods held while they ran: their requests, and the boards of their claims."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from apportion.errors import InputError, Problem
from apportion.model.accelerators import resource_key
from apportion.model.meters import METERS
from apportion.sources.live import Progress
from apportion.sources.prometheus.asking import How
from apportion.sources.prometheus.devices import Devices
from apportion.sources.prometheus.nodes import RESOURCES, SCALES, Node, Nodes
from apportion.sources.prometheus.pods import Pod, Pods
from apportion.sources.prometheus.reading import Part, Reading
from apportion.sources.prometheus.samples import Series, hold, union
from apportion.sources.prometheus.selectors import Matcher, Selector
from apportion.sources.prometheus.steps import Amount, Steps, clipped, combined, merged, overlap, steps_of, within

CONTAINERS = Selector("kube_pod_container_resource_requests", (RESOURCES,))
SCHEDULER = Selector(  # counts what a pod asks for as a whole, and names resources as Kubernetes does
    "kube_pod_resource_request", (Matcher("resource", "!~", "ephemeral-storage|hugepages.*|pods|attachable.*"),)
)
CLAIMED = "gpu"  # the meter of boards that claims name


@dataclass
class Requests:
    """By pod, resource and container; what the scheduler says has an empty container and goes first."""

    found: dict[str, dict[str, dict[str, Steps]]] = field(default_factory=dict)

    def add(self, key: str, resource: str, container: str, steps: Steps) -> None:
        self.found.setdefault(key, {}).setdefault(resource, {}).setdefault(container, []).extend(steps)

    def of(self, key: str) -> dict[str, Steps]:
        return {
            resource: merged(by[""]) if "" in by else combined(merged(steps) for steps in by.values())
            for resource, by in self.found.get(key, {}).items()
        }


def read_requests(reading: Reading, pods: Pods) -> Iterator[Requests | Progress]:
    requests = Requests()
    for selector in (CONTAINERS, SCHEDULER):
        for part in reading.parts(selector, "namespace"):
            if isinstance(part, Progress):
                yield part
            else:
                take(part, pods, reading.how, requests)
    yield requests


def take(part: Part, pods: Pods, how: How, into: Requests) -> None:
    together: dict[tuple[str, str, str], list[Series]] = {}
    for one in part.series:
        resource = resource_key(one.labels.get("resource", ""))
        for key, mine in pods.owner_of(one):
            together.setdefault((key, resource, one.labels.get("container", "")), []).append(mine)
    for (key, resource, container), series in together.items():
        held = hold(*union(series, SCALES.get(resource, 1)), part.step(series[0]), how.pad_s)
        if len(held.start):
            into.add(key, resource, container, clipped(steps_of(held), part.buckets.window))
            pod = pods.found[key]
            pod.node = pod.node or series[0].labels.get("node", "")


@dataclass
class Holding:
    """Turns requests into amounts of meters, in base units, over the time that pods ran."""

    how: How
    pods: Pods
    nodes: Nodes
    devices: Devices
    problems: dict[tuple[str, str], Problem] = field(default_factory=dict)
    holders: dict[tuple[str, str], list[str]] = field(default_factory=dict)  # of boards that claims name

    def __post_init__(self) -> None:
        for key, places in self.devices.claims.items():
            for place in places:
                self.holders.setdefault(place, []).append(key)

    def of(self, key: str, requests: dict[str, Steps]) -> dict[str, Steps]:
        pod = self.pods.found[key]
        node = self.nodes.found.get(pod.node, Node())
        found: dict[str, list[Steps]] = {}
        for resource, steps in requests.items():
            if resource in SCALES:
                found.setdefault(resource, []).append(steps)
                continue
            meter, part = self.share(node, pod, resource) or ("", Fraction(0))
            if meter:
                base = METERS[meter].base
                found.setdefault(meter, []).append([(a, b, base * part * amount) for a, b, amount in steps])
        held = {meter: whole(within(pod.run, combined(steps))) for meter, steps in found.items()}
        claimed = self.claimed(key)
        if claimed and not any(amount for _, _, amount in held.get(CLAIMED, ())):
            held[CLAIMED] = whole(claimed)  # an extended resource that a claim stands behind is counted once
        return held

    def share(self, node: Node, pod: Pod, resource: str) -> tuple[str, Fraction] | None:
        try:
            return node.share(resource, self.how)
        except InputError as error:
            hint = f"; {error.hint}" if error.hint else ""
            told = f"{resource} on {pod.node or 'no node'}: {error.message}{hint}; it is not counted"
            self.problems.setdefault((pod.node, resource), Problem(pod.shown, error.code, told))
            return None

    def claimed(self, key: str) -> Steps:
        """Boards that rows with a claim name this pod on. Those that several pods hold at once are shared evenly."""
        parts = []
        for place, share in self.devices.claims.get(key, {}).items():
            running = combined(self.pods.found[holder].run for holder in self.holders[place])
            shared: Steps = [(a, b, METERS[CLAIMED].base * share / count) for a, b, count in running]
            parts.append(overlap(self.pods.found[key].run, shared))
        return combined(parts)


def whole(steps: Steps) -> Steps:
    """To the nearest base unit: a board among eleven sharers is no whole number of them."""
    return merged((start, end, nearest(amount)) for start, end, amount in steps)


def nearest(amount: Amount) -> int:
    return int(amount) if isinstance(amount, int) else int((2 * amount + 1) // 2)
