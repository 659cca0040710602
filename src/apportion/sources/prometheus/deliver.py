"""A window from end to end: pods, nodes, requests, what was measured; then rows."""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypeVar

from apportion.errors import InputError, Problem
from apportion.model.accelerators import EXPORTERS, Exporter
from apportion.model.delivery import Delivery, FileDigest
from apportion.model.times import Interval, instant_text
from apportion.sources.live import Progress
from apportion.sources.prometheus.asking import How
from apportion.sources.prometheus.capacity import Offered
from apportion.sources.prometheus.devices import Devices, Watch
from apportion.sources.prometheus.gaps import LISTED, Gaps
from apportion.sources.prometheus.held import Holding, Requests, read_requests
from apportion.sources.prometheus.nodes import SCALES, Nodes, read_nodes
from apportion.sources.prometheus.pods import RUNNING, Pod, Pods, read_pods
from apportion.sources.prometheus.reading import Outside, Reading
from apportion.sources.prometheus.samples import NS, Buckets
from apportion.sources.prometheus.selectors import Matcher, Selector, select
from apportion.sources.prometheus.spelling import Keys
from apportion.sources.prometheus.steps import Steps
from apportion.sources.prometheus.storage import Claims, read_claims
from apportion.sources.prometheus.sums import Counter, read_counter, read_gauge
from apportion.sources.prometheus.usage import MICRO, Measured, Rows, Writer, rounded
from apportion.sources.prometheus.workloads import Register, namespaces

Found = TypeVar("Found", Pods, Nodes, Requests, Claims)
CONTAINERS = (Matcher("container", "!=", ""), Matcher("container", "!=", "POD"))
CPU = Counter(
    Selector("container_cpu_usage_seconds_total", CONTAINERS),
    ("namespace", "pod", "container", "id", "name", "cpu"),
    NS,
    lambda labels: labels.get("cpu", "total") in ("total", ""),
)
MEMORY = Selector("container_memory_working_set_bytes", CONTAINERS)
KEPLER = (
    Counter(select("kepler_pod_cpu_joules_total", zone="package"), ("uid", "namespace", "pod", "zone"), MICRO),
    Counter(select("kepler_pod_gpu_joules_total"), ("uid", "namespace", "pod", "zone"), MICRO),
)
METRICS = 16  # about so many are read; for the first estimate of how long it takes


def network(way: str, pods: Pods) -> Counter:
    """Traffic of pods. One on its host's network is told the whole host's."""

    def wanted(labels: dict[str, str]) -> bool:
        if labels.get("interface") == "lo":
            return False
        entries = pods.named.get((labels.get("namespace", ""), labels.get("pod", "")), [])
        return not any(pods.found[key].host_network for _, key in entries)

    selector = Selector(f"container_network_{way}_bytes_total", (Matcher("pod", "!=", ""),))
    return Counter(selector, ("namespace", "pod", "interface", "id"), 1, wanted)


@dataclass
class Window:
    """Everything that is known of a window, as it is read."""

    reading: Reading
    gaps: Gaps
    keys: Keys
    pods: Pods = field(init=False)
    nodes: Nodes = field(init=False)
    requests: Requests = field(init=False)
    claims: Claims = field(init=False)
    measured: Measured = field(init=False)

    def read(self) -> Iterator[Progress]:
        self.pods = yield from result(read_pods(self.reading, self.gaps, self.keys), Pods)
        self.nodes = yield from result(read_nodes(self.reading, self.keys), Nodes)
        self.requests = yield from result(read_requests(self.reading, self.pods), Requests)
        buckets = Buckets(self.reading.window, self.reading.how.bucket_s)
        self.measured = Measured(buckets, Devices(buckets))
        yield from self.containers()
        yield from self.devices()
        self.claims = yield from result(read_claims(self.reading, self.gaps, self.keys), Claims)

    def containers(self) -> Iterator[Progress]:
        reading, pods, measured = self.reading, self.pods, self.measured
        yield from read_counter(reading, pods, CPU, measured.cpu)
        yield from read_gauge(reading, pods, MEMORY, measured.memory, self.gaps)
        for way in reading.how.network:
            yield from read_counter(reading, pods, network(way, pods), measured.network)
        for counter in KEPLER if "kepler" in reading.how.energy else ():
            yield from read_counter(reading, pods, counter, measured.kepler)

    def devices(self) -> Iterator[Progress]:
        watch = Watch(self.reading, self.pods, self.nodes, self.measured.devices, self.gaps)
        for exporter in EXPORTERS:
            for metric in exporter.used:
                more = self.measured.devices.has_virtual or self.unmeasured(exporter)
                if metric in self.reading.names and more:
                    yield from watch.used(exporter, metric)
            yield from self.joules(watch, exporter)

    def joules(self, watch: Watch, exporter: Exporter) -> Iterator[Progress]:
        for word in self.reading.how.energy:
            by_power = word == "power" and self.without_counter(exporter)
            for metric in exporter.energy if word == "counter" else exporter.power if by_power else ():
                yield from watch.energy(exporter, metric, power=by_power)

    def unmeasured(self, exporter: Exporter) -> bool:
        """Whether any pod asks for such devices, or may hold one by a claim, of which no better metric spoke."""
        levels = self.measured.devices.activity.get(exporter.meter)
        return levels is None or any(
            key not in levels.covered.found and self.asks(key, exporter) for key in self.pods.found
        )

    def asks(self, key: str, exporter: Exporter) -> bool:
        pod = self.pods.found[key]
        meters = {found[0] for resource in self.requests.found.get(key, {}) if (found := self.share(pod, resource))}
        return bool(pod.run) and exporter.meter in meters

    def share(self, pod: Pod, resource: str) -> tuple[str, Fraction] | None:
        try:
            return self.nodes.node(pod.node).share(resource, self.reading.how)
        except InputError:  # is told when it is counted
            return None

    def without_counter(self, exporter: Exporter) -> bool:
        """Whether there may be boards whose joules nobody counted so far."""
        devices = self.measured.devices
        counted = any(metric in self.reading.names for metric in exporter.energy)
        return not counted or not devices.energies or bool(devices.boards - devices.energies)


def result(read: Iterator[Found | Progress], kind: type[Found]) -> Generator[Progress, None, Found]:
    """Passes progress on and returns what comes last."""
    for one in read:
        if isinstance(one, kind):
            return one
        if isinstance(one, Progress):
            yield one
    raise AssertionError(kind)


def deliver(
    outside: Outside, how: How, window: Interval, files: tuple[FileDigest, ...] = ()
) -> Iterator[Delivery | Progress]:
    """The delivery of a window, after the progress of reading it. It begins with a whole bucket: half of one that is in the books would be
    what the books make of it, an even share of what flowed.
    """
    window = Interval(window.start_s // how.bucket_s * how.bucket_s, window.end_s)
    reading = Reading(outside, how, window)
    reading.total = METRICS * len(reading.slices())
    found = Window(reading, Gaps(window), Keys.of(how.label_keys))
    yield from found.read()
    yield write(found, files)


def write(found: Window, files: tuple[FileDigest, ...]) -> Delivery:
    how, window = found.reading.how, found.reading.window
    holding = Holding(how, found.pods, found.nodes, found.measured.devices)
    ran = {key: pod for key, pod in sorted(found.pods.found.items()) if pod.run and pod.node}
    held = {key: holding.of(key, found.requests.of(key)) for key in ran}
    writer = Writer(Rows(how.source), found.measured, held, found.pods, how.energy)
    register = Register(how, window, namespaces(found.reading, found.keys))
    for key, pod in ran.items():
        writer.pod(key, register.pod(pod, model_of(key, pod, held[key], found)))
    for place, steps in sorted(found.claims.asked.items()):
        if steps:
            workload = register.claim(place, steps, found.claims.labels.get(place, {}))
            volumes(writer.rows, workload, place, found)
    offered = Offered(how)
    capacity = offered.table(found.nodes)
    problems = [
        *unread(found),
        *nowhere(found),
        *holding.problems.values(),
        *offered.problems.values(),
        *found.gaps.problems(),
    ]
    tables = {"usage": writer.rows.table(), "capacity": capacity, "workloads": register.table()}
    return Delivery(how.source, window, tables, tuple(problems), files)


def model_of(key: str, pod: Pod, held: Mapping[str, Steps], found: Window) -> str:
    """Of those that hold accelerators: as the node's labels call it, else as the exporter does."""
    if not set(held) - set(SCALES):
        return ""
    node = found.nodes.found.get(pod.node)
    return (node.model if node else "") or found.measured.devices.models.get(key, "")


def volumes(rows: Rows, workload: str, place: tuple[str, str], found: Window) -> None:
    """A volume lies nowhere but in itself: its resource is `storage/NAMESPACE/CLAIM`."""
    buckets, levels = found.measured.buckets, found.claims.used
    for start, end, asked in found.claims.asked[place]:
        for number in range(start // buckets.size - buckets.first, (end - 1) // buckets.size - buckets.first + 1):
            span = buckets.span(number)
            covered = levels.covered.get(place) if levels else None
            used = None
            if levels is not None and covered is not None and covered[number]:
                used = rounded(int(levels.amount.found[place][number]), int(covered[number]))
            first, last = max(start, span.start_s), min(end, span.end_s)
            rows.add(workload, "storage", f"storage/{'/'.join(place)}", first, last, int(asked), used)


def nowhere(found: Window) -> list[Problem]:
    """Pods that ran where nobody says."""
    lost = sorted(pod.shown for pod in found.pods.found.values() if pod.run and not pod.node)
    told = "it ran on a node that nobody names: kube_pod_info says nothing of it; it is not counted"
    rest = [Problem(RUNNING.name, "no-node", f"and {len(lost) - LISTED} more pods")] if len(lost) > LISTED else []
    return [*(Problem(name, "no-node", told) for name in lost[:LISTED]), *rest]


def unread(found: Window) -> list[Problem]:
    """A window of which nobody tells what ran is said to be empty, not silently so."""
    if any(pod.run for pod in found.pods.found.values()):
        return []
    window = found.reading.window
    span = f"from {instant_text(window.start_s)} to {instant_text(window.end_s)}"
    return [Problem(f"{RUNNING.name} {span}", "no-rows", "no pod was running, or nobody recorded that one was")]
